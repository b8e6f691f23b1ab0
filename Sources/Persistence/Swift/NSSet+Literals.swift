public import Foundation

/// Lets Foundation's sets be written as array literals, as on Apple's platforms. Queue: any.
public protocol SetLiteral: ExpressibleByArrayLiteral {}

extension NSSet: @retroactive ExpressibleByArrayLiteral {}
extension NSSet: SetLiteral {}

extension SetLiteral where Self: NSSet {
    /// A set of the elements; `person.addToTags([first, second])`.
    ///
    /// It is an `NSMutableSet`, so that it fits where one is asked for.
    public init(arrayLiteral elements: Any...) {
        guard let set = NSMutableSet(array: elements) as? Self else {
            ProgrammingMistake.unfitLiteral(Self.self)
        }
        self = set
    }
}
