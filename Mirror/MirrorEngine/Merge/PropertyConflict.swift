package import RecordWire
package import Stores

/// One property's value of either kind.
package enum PropertyValue: Hashable, Sendable {
    case attribute(AttributeValue)
    case link(NamedLink?)

    /// The value as a field; nil where there is none.
    package var wire: FieldValue? {
        switch self {
        case .attribute(let value): AttributeCoding.fields(for: value).plain
        case .link(let link): link.map { .string($0.recordName) }
        }
    }
}

/// A property that both sides changed, and what became of it. Each one is a row of the conflict
/// log.
package struct PropertyConflict: Hashable, Sendable {
    /// Whose value the object has afterwards.
    package enum Winner: String, Sendable {
        case local, remote, merged
        /// Nobody's yet: the object keeps its local value and waits for a decision.
        case waiting
    }

    package var slot: PropertySlot
    package var property: String
    /// The name of the rule that settled it.
    package var rule: String
    package var base: PropertyValue
    package var local: PropertyValue
    package var remote: PropertyValue
    package var result: PropertyValue
    package var winner: Winner
    /// Of a remote value that is logged as it is sealed, since its key is not here: the record that
    /// it was sealed for.
    var sealedFor: String?

    package init(
        slot: PropertySlot, property: String, rule: String, base: PropertyValue,
        local: PropertyValue, remote: PropertyValue
    ) {
        self.slot = slot
        self.property = property
        self.rule = rule
        self.base = base
        self.local = local
        self.remote = remote
        result = local
        winner = .local
    }

    /// Gives the property the value of one side.
    package mutating func take(_ side: Winner) {
        winner = side
        switch side {
        case .local, .waiting: result = local
        case .remote: result = remote
        case .merged: break
        }
    }
}

extension ObjectState {
    package func value(_ slot: PropertySlot) -> PropertyValue {
        switch slot {
        case .attribute(let index): .attribute(attributes[index])
        case .toOne(let index): .link(toOnes[index])
        }
    }

    package mutating func set(_ slot: PropertySlot, to value: PropertyValue) {
        switch (slot, value) {
        case (.attribute(let index), .attribute(let value)): attributes[index] = value
        case (.toOne(let index), .link(let link)): toOnes[index] = link
        case (.attribute, .link), (.toOne, .attribute): break
        }
    }

    package mutating func copy(_ slot: PropertySlot, from other: ObjectState) {
        set(slot, to: other.value(slot))
    }
}
