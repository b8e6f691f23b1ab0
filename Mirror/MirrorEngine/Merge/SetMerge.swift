internal import Foundation
internal import RecordWire
internal import Stores

/// Merges sets of strings: what either side added and what either side removed.
///
/// A set is a text with an element in each line, or an archive of an array or a set of strings, as
/// transformable attributes hold it.
enum SetMerge {
    /// nil where a value is none of these.
    static func merge(
        base: AttributeValue, local: AttributeValue, remote: AttributeValue
    ) -> AttributeValue? {
        guard let own = elements(of: local), let others = elements(of: remote),
            let former = elements(of: base)
        else { return nil }
        let merged = others.union(own.subtracting(former)).subtracting(former.subtracting(own))
        // What says it already is taken as it is; nothing is sent then but to one side.
        let said = [(local, own), (remote, others)].filter { !$0.0.isNull && $0.1 == merged }
        if let value = said.map(\.0).min(by: precedes) { return value }
        let ends = [base, local, remote].map(ending)
        return value(
            of: merged, like: local.isNull ? remote : local,
            .merged(base: ends[0], local: ends[1], remote: ends[2]))
    }

    private static func elements(of value: AttributeValue) -> Set<ExactName>? {
        switch value {
        case .null: []
        case .text(let text):
            Set(
                text.split(whereSeparator: { $0 == "\n" || $0 == "\r\n" })
                    .map { ExactName(String($0)) })
        case .data(let data): archived(in: data)
        default: nil
        }
    }

    private static func ending(of value: AttributeValue) -> LineEnding? {
        guard case .text(let text) = value else { return nil }
        return EvenText(text)?.ending
    }

    private static let classes: [AnyClass] = [NSArray.self, NSSet.self, NSString.self]

    private static func archived(in data: Data) -> Set<ExactName>? {
        let object = try? NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)
        let elements: [Any]? =
            switch object {
            case let set as NSSet: set.allObjects
            case let array as NSArray: array.map { $0 }
            default: nil
            }
        guard let texts = elements?.compactMap({ $0 as? String }), texts.count == elements?.count
        else { return nil }
        return Set(texts.map { ExactName($0) })
    }

    /// The elements in the order of their bytes, in the form of `other`.
    private static func value(
        of elements: Set<ExactName>, like other: AttributeValue, _ ending: LineEnding
    ) -> AttributeValue? {
        let texts = elements.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        switch other {
        case .text: return .text(texts.joined(separator: ending.rawValue))
        case .data(let data):
            let object = try? NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)
            let root: NSObject = object is NSSet ? NSSet(array: texts) : NSArray(array: texts)
            let archive = try? NSKeyedArchiver.archivedData(
                withRootObject: root, requiringSecureCoding: true)
            return archive.map { .data($0) }
        default: return nil
        }
    }

    private static func precedes(_ one: AttributeValue, _ other: AttributeValue) -> Bool {
        switch (one, other) {
        case (.text(let one), .text(let other)):
            one.utf8.lexicographicallyPrecedes(other.utf8)
        case (.data(let one), .data(let other)): one.lexicographicallyPrecedes(other)
        default: false
        }
    }
}
