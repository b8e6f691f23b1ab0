internal import Foundation

/// How the strings within a value are spelled, in scalars: "é" is one or two, and Foundation's
/// collections take both for equal off Apple.
struct Spelling: Equatable {
    private var words: [[UInt8]] = []

    init(_ value: NSObject) {
        add(value)
        // Sets and dictionaries have no order.
        words.sort { $0.lexicographicallyPrecedes($1) }
    }

    private mutating func add(_ value: Any) {
        switch (value as AnyObject) as? NSObject {
        case let text as NSString: words.append(Array(text.description.utf8))
        case let list as NSArray: for element in list { add(element) }
        case let set as NSSet: for element in set { add(element) }
        case let set as NSOrderedSet: for element in set { add(element) }
        case let table as NSDictionary:
            for (key, element) in table {
                add(key)
                add(element)
            }
        default: break
        }
    }
}
