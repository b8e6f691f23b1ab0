internal import Foundation
internal import Stores

/// A derived attribute that is computed where its row is written, since SQL has no means for it
/// that every program has which opens the file.
struct WrittenDerivation: Sendable {
    let slot: Int
    /// The slot of the attribute it is computed from; nil for the moment of the save.
    let source: Int?
    private let function: Derivation.TextFunction?

    /// Nil where triggers compute the attribute.
    init?(slot: Int, of entity: EntityLayout, _ derivation: Derivation) {
        self.slot = slot
        switch derivation {
        case .now: (source, function) = (nil, nil)
        case .text(let function, let attribute):
            guard let found = entity.attributeSlot(attribute) else { return nil }
            (source, self.function) = (found, function)
        case .path, .aggregate: return nil
        }
    }

    /// Whether it says when its row was saved last.
    var isMoment: Bool { function == nil }

    /// The value for a row whose source attribute is `source`.
    func value(of source: AttributeValue, now: @autoclosure () -> Date) -> AttributeValue {
        guard let function else { return .date(now().timeIntervalSinceReferenceDate) }
        guard case .text(let text) = source else { return .null }
        return .text(function.applied(to: text))
    }
}
