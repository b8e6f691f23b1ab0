internal import Foundation
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
        let names = names.attribute(slot, of: entity)
        let fields = [names.plain, names.fallback].compactMap { $0 }
        var opened = entry
        opened.base = opening(entry.base, of: entry.recordName, in: fields)
        opened.local = opening(entry.local, of: entry.recordName, in: fields)
        opened.remote = opening(entry.remote, of: entry.recordName, in: fields)
        return opened
    }

    /// The value that was sealed for one of these fields; itself where it was for none.
    private func opening(
        _ value: FieldValue?, of record: String, in fields: [String]
    ) -> FieldValue? {
        guard case .bytes(let data)? = value, Sealer.keyID(of: data) != nil else { return value }
        for field in fields {
            guard
                case .opened(let message)? = try? sealer?.open(data, record: record, field: field),
                let found = try? RecordArchive.decodeFields(message)
            else { continue }
            return found["v"] ?? nil
        }
        return value
    }
}
