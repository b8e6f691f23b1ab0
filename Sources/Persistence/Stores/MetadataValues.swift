internal import Foundation
internal import Predicates
internal import Stores

/// The application's metadata on their way to a store's property list, and back.
///
/// With Apple each number in them is an `NSNumber`, whatever type it was set as, so that a program
/// that counts by `as? Int64` goes on counting.
enum MetadataValues {
    /// The metadata as a program reads them.
    static func shown(_ metadata: [String: Any]) -> [String: Any] {
        metadata.mapValues(shown)
    }

    private static func shown(_ value: Any) -> Any {
        switch value {
        case let values as [String: Any]: return shown(values)
        case let values as [Any]: return values.map(shown)
        case is String, is Date, is Data: return value
        default: break
        }
        switch number(value) {
        case let flag as Bool: return NSNumber(value: flag)
        case let whole as Int: return NSNumber(value: whole)
        case let real as Double: return NSNumber(value: real)
        default: return value
        }
    }

    /// Sets all that the store can keep. What it cannot is named on standard error.
    static func set(_ metadata: [String: Any], in store: any RowStore) {
        var values = plain(metadata)
        // A store in memory writes none.
        if !(store is MemoryRowStore) { values = values.compactMapValues(kept) }
        let lost = metadata.keys.filter { values[$0] == nil }.sorted()
        if !lost.isEmpty {
            MissingValueNotice.write(
                "The store keeps no metadata for \(lost.joined(separator: ", ")): only texts, "
                    + "numbers, dates, data, and lists and dictionaries of them.")
        }
        do {
            try store.setMetadata(values)
        } catch {
            MissingValueNotice.write("The store's metadata were not set. \(error)")
        }
    }

    /// What a property list can hold; as it is, what it cannot: that is refused by the store.
    static func plain(_ metadata: [String: Any]) -> [String: Any] {
        metadata.mapValues { kept($0) ?? $0 }
    }

    /// A value as a property list holds it; nil for what none can.
    private static func kept(_ value: Any) -> Any? {
        switch value {
        case is String, is Date, is Data: return value
        case let values as [String: Any]:
            let found = values.compactMapValues(kept)
            return found.count == values.count ? found : nil
        case let values as [Any]:
            let found = values.compactMap(kept)
            return found.count == values.count ? found : nil
        default: return number(value)
        }
    }

    /// A number as `Bool`, `Int` or `Double`: a property list has no others.
    private static func number(_ value: Any) -> Any? {
        if type(of: value) == CGFloat.self { return (value as? CGFloat).map { Double($0) } }
        switch plainConstant(value) {
        case let value as Bool: return value
        case let value as Int: return value
        case let value as Double: return value
        case let value as Decimal: return value.nearestReal
        default: return nil
        }
    }
}
