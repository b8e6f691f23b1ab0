package import RecordWire
internal import SQLiteStore
package import Stores

/// What the store gives back of a record's values.
///
/// A column holds less than the wire carries: a float's own digits, a decimal's as a real has them,
/// booleans as 0 and 1, and no double that is no number. A row is compared with what would be in
/// it, so that what was rounded is no edit of this device.
extension RecordMapping {
    /// The record's values as the store has them once they are written. Throws as `state(of:)`.
    package func storedState(of record: Record, entity: EntityLayout) throws -> ObjectState {
        settled(try state(of: record, entity: entity))
    }

    func settled(_ state: ObjectState) -> ObjectState {
        guard let slots = settledSlots[state.entity], !slots.isEmpty else { return state }
        var state = state
        for slot in slots {
            let value = state.attributes[slot.slot]
            let settled = ValueCoding.settled(value, as: slot.kind)
            if settled != value { state.attributes[slot.slot] = settled }
        }
        return state
    }
}

/// An attribute whose column may give back something else than what is written to it.
struct SettledSlot: Sendable {
    let slot: Int
    let kind: ColumnKind

    static func all(of entity: EntityLayout) -> [SettledSlot] {
        entity.attributes.enumerated().compactMap { slot, attribute in
            guard let kind = try? ColumnKind(of: attribute.attribute), ValueCoding.settles(kind)
            else { return nil }
            return SettledSlot(slot: slot, kind: kind)
        }
    }
}
