internal import ObjectModel
internal import Stores

/// Finds an attribute's slot by its name without hashing its characters.
///
/// A text of at most 15 bytes is its own two words, so a name that a program wrote as a literal is
/// found by comparing words. Two texts of the same words are equal whatever these mean, as long as
/// both live, and `names` sees to that; where words differ, the characters decide.
///
/// A class, and asked through `ObjectLayout`, so that a look costs no retain.
final class AttributeIndex: Sendable {
    private struct Entry: Sendable {
        var words: (UInt64, UInt64) = (0, 0)
        /// -1 marks a free place.
        var slot = -1
    }

    private let entries: [Entry]
    private let slots: [String: Int]
    private let names: [String]
    let kinds: [PlainKind]

    init(_ attributes: [EntityLayout.AttributeSlot]) {
        let names = attributes.map(\.name)
        self.names = names
        kinds = attributes.map { PlainKind($0.attribute) }
        slots = Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
        var capacity = 8
        while names.count * 4 > capacity { capacity *= 2 }
        var entries = Array(repeating: Entry(), count: capacity)
        for (slot, name) in names.enumerated() {
            let words = Self.words(of: name)
            var place = Self.home(of: words, in: capacity)
            while entries[place].slot >= 0 { place = (place + 1) & (capacity - 1) }
            entries[place] = Entry(words: words, slot: slot)
        }
        self.entries = entries
    }

    /// The slot of an attribute, or nil.
    func slot(_ name: String) -> Int? {
        let words = Self.words(of: name)
        var place = Self.home(of: words, in: entries.count)
        while entries[place].slot >= 0 {
            if entries[place].words == words { return entries[place].slot }
            place = (place &+ 1) & (entries.count &- 1)
        }
        return slots[name]
    }

    private static func words(of name: String) -> (UInt64, UInt64) {
        unsafeBitCast(name, to: (UInt64, UInt64).self)
    }

    private static func home(of words: (UInt64, UInt64), in capacity: Int) -> Int {
        let mixed = (words.0 ^ (words.1 &<< 7)) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed >> 48) & (capacity &- 1)
    }
}

/// How a typed accessor may keep and read an attribute's value without asking its description.
enum PlainKind {
    case integer, boolean, double, text, date, uuid
    /// By the long way only.
    case other

    init(_ attribute: NSAttributeDescription) {
        self =
            switch attribute.attributeType {
            case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: .integer
            case .booleanAttributeType: .boolean
            case .doubleAttributeType: .double
            case .stringAttributeType: .text
            case .dateAttributeType: .date
            case .UUIDAttributeType: .uuid
            default: .other
            }
    }
}
