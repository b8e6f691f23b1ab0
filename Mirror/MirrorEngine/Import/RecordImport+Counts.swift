internal import ObjectModel
internal import RecordWire
internal import Stores

/// Counts that are told apart, so that none counts twice.
extension RecordImport {
    /// What is known of a version that the service lost, when a record meets it.
    struct LostBase {
        /// What to merge upon; nil where nothing is common to both.
        var base: Record?
        /// What this device stands on.
        var version: Record
    }

    /// The merge base in which each counter stands as if this device had counted only what the
    /// record does not contain: all else is the base's.
    func counted(
        _ base: ObjectState?, _ arrival: Arrival, local: ObjectState, lost: LostBase?
    ) throws -> ObjectState? {
        let slots = mirror.settings.countedSlots[arrival.layout.number] ?? []
        let told = CountOperations(arrival.record)
        guard !slots.isEmpty, !told.operations.isEmpty else { return base }
        let own = try mirror.ledger.counts(of: arrival.entry.recordName)
        // What was sent without an answer and is known to be taken is agreed on, counts and all.
        let taken = try lost == nil ? taken(of: arrival) : nil
        let agreed = taken.map { CountOperations($0) } ?? CountOperations()
        var result = base
        for slot in slots {
            let name = arrival.layout.attributes[slot].name
            let key = mirror.mapping.keys.property(name, of: arrival.layout.name)
            let value =
                if let lost, lost.base == nil {
                    Self.parted(
                        local.attributes[slot], told.of(key),
                        own.of(key).upon(CountOperations(lost.version).of(key)))
                } else {
                    advanced(
                        lost?.base ?? taken ?? arrival.entry.base, slot, arrival.layout,
                        own.of(key).without(agreed), told.of(key))
                }
            guard let value else { continue }
            var changed =
                result ?? mirror.mapping.untouched(by: arrival.record, entity: arrival.layout)
            changed.attributes[slot] = .integer(value)
            result = changed
        }
        return result
    }

    /// The agreed value with those of the own counts that the record has; nil where it has none.
    private func advanced(
        _ agreed: Record?, _ slot: Int, _ layout: EntityLayout, _ own: CountOperations,
        _ told: CountOperations
    ) -> Int64? {
        let contained = own.within(told)
        guard !contained.operations.isEmpty, let sum = contained.sum else { return nil }
        let state = agreed.flatMap { $0.deleted ? nil : $0 }
            .map { mirror.mapping.agreedState(of: $0, entity: layout) }
        let (value, overflow) = (state?.attributes[slot].count ?? 0)
            .addingReportingOverflow(sum)
        return overflow ? nil : value
    }

    /// The value at which both sides parted, by the last count that both have; nil where there is
    /// none.
    private static func parted(
        _ local: AttributeValue, _ told: CountOperations, _ own: CountOperations
    ) -> Int64? {
        guard let sum = own.since(told)?.sum else { return nil }
        let (value, overflow) = local.count.subtractingReportingOverflow(sum)
        return overflow ? nil : value
    }
}

extension AttributeValue {
    /// A counter's value: none is zero.
    fileprivate var count: Int64 { if case .integer(let value) = self { value } else { 0 } }
}
