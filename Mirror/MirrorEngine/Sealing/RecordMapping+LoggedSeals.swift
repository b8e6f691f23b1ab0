internal import Foundation
internal import ObjectModel
internal import RecordWire
internal import Stores

/// Values that a conflict log keeps as they are sealed, since their key was not here.
extension RecordMapping {
    /// A line of the log with its sealed values open, as far as their keys are here by now.
    func opening(_ entry: ConflictEntry) -> ConflictEntry {
        guard sealer != nil,
            let entity = layout.entities.first(where: { $0.name == entry.entity }),
            let slot = entity.attributeSlot(entry.property),
            sealedSlots[entity.number]?.contains(slot) == true
        else { return entry }
        var opened = entry
        opened.base = shown(entry.base, of: entry.recordName, slot, entity)
        opened.local = shown(entry.local, of: entry.recordName, slot, entity)
        opened.remote = shown(entry.remote, of: entry.sealedFor ?? entry.recordName, slot, entity)
        return opened
    }

    private func shown(
        _ value: FieldValue?, of record: String, _ slot: Int, _ entity: EntityLayout
    ) -> FieldValue? {
        guard case .bytes(let data)? = value,
            let fields = fields(sealedIn: data, of: record, slot, entity)
        else { return value }
        return fields["v"] ?? nil
    }

    /// A value of a line about `record` as it is put back: open. Throws `MirrorError`:
    /// `.keyMissing` where its key is not here, and `.sealBroken` where it was sealed for another.
    func opened(
        _ value: LoggedValue, of record: String, _ slot: Int, _ entity: EntityLayout
    ) throws -> LoggedValue {
        let isSealed = sealedSlots[entity.number]?.contains(slot) ?? false
        guard isSealed || value.sealedFor != nil, case .bytes(let data)? = value.plain else {
            return value
        }
        let sealedFor = value.sealedFor ?? record
        if let fields = fields(sealedIn: data, of: sealedFor, slot, entity) {
            return LoggedValue(plain: fields["v"] ?? nil, exact: fields["e"] ?? nil)
        }
        // Lines of earlier versions do not say it; bytes that are no value of the attribute do.
        let type = entity.attributes[slot].attribute.attributeType
        let mayBeOpen = [.binaryDataAttributeType, .transformableAttributeType].contains(type)
        guard value.sealedFor != nil || !mayBeOpen else { return value }
        guard isLocked(data) else {
            throw MirrorError(
                .sealBroken,
                "The value was not sealed for the object, or was changed since; take another side.",
                fields: ["record": sealedFor, "property": entity.attributes[slot].name])
        }
        throw MirrorError(
            .keyMissing,
            "The value is sealed and its key is not here. Give the store's key file, or take "
                + "another side.",
            fields: ["record": sealedFor, "property": entity.attributes[slot].name])
    }

    /// What was sealed for a field of the attribute; nil for what was sealed for none of them, or
    /// under a key that is not here.
    private func fields(
        sealedIn data: Data, of record: String, _ slot: Int, _ entity: EntityLayout
    ) -> RecordFields? {
        guard Sealer.keyID(of: data) != nil else { return nil }
        let names = names.attribute(slot, of: entity)
        for field in [names.plain, names.fallback].compactMap({ $0 }) {
            guard
                case .opened(let message)? = try? sealer?.open(data, record: record, field: field),
                let found = try? RecordArchive.decodeFields(message)
            else { continue }
            return found
        }
        return nil
    }
}
