internal import Foundation
internal import Predicates
internal import Stores

/// A derived attribute that is computed where its row is written, since SQL has no means for it
/// that every program has which opens the file.
struct WrittenDerivation: Sendable {
    enum Function: String, Sendable {
        case now = "now"
        case canonical = "canonical:"
        case uppercase = "uppercase:"
        case lowercase = "lowercase:"
    }

    let slot: Int
    /// The slot of the attribute it is computed from; nil for the moment of the save.
    let source: Int?
    let function: Function

    /// The function and its argument, as in `canonical:(title)`; nil for other expressions.
    static func parse(_ text: String) -> (function: Function, argument: String)? {
        let plain = text.filter { !$0.isWhitespace }
        guard plain.hasSuffix(")"), let open = plain.firstIndex(of: "("),
            let function = Function(rawValue: String(plain[..<open]))
        else { return nil }
        return (function, String(plain[plain.index(after: open)...].dropLast()))
    }

    /// Nil where the attribute is of another form, or its source no stored text of the entity.
    init?(slot: Int, of entity: EntityLayout, columns: [AttributeColumn], text: String) {
        guard let (function, argument) = Self.parse(text) else { return nil }
        self.slot = slot
        self.function = function
        if function == .now {
            guard argument.isEmpty, columns[slot].kind == .date else { return nil }
            source = nil
            return
        }
        guard let found = entity.attributeSlot(argument), columns[slot].kind == .text,
            columns[found].kind == .text, !columns[found].isDerived
        else { return nil }
        source = found
    }

    /// The value for a row whose source attribute is `source`.
    func value(of source: AttributeValue, now: @autoclosure () -> Date) -> AttributeValue {
        guard function != .now else { return .date(now().timeIntervalSinceReferenceDate) }
        guard case .text(let text) = source else { return .null }
        return switch function {
        case .canonical: .text(TextRules.folded(text, [.caseInsensitive, .diacriticInsensitive]))
        case .uppercase: .text(text.uppercased())
        case .lowercase: .text(text.lowercased())
        case .now: .null
        }
    }
}
