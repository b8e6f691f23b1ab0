internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import Persistence
internal import RecordWire
internal import Stores

/// Nothing is discarded silently: a saved value that is not there at the end was replaced by
/// somebody who had seen it, or is in somebody's conflict log.
struct LogLaws {
    let world: SimulatedWorld
    let image: DeviceImage
    let log: ConflictLog

    private struct Line: Hashable {
        let property: EditMemory.Property
        let value: FieldValue?
    }

    private var memory: EditMemory { world.editor.memory }

    func check() -> [String] {
        var logged: Set<Line> = []
        // What never was sent goes with its share as one: its values are logged, and it is kept.
        var expelled: Set<String> = []
        for (_, entry) in log.entries {
            if entry.rule == ShareLaws.endRule { expelled.insert(entry.recordName) }
            let property = EditMemory.Property(recordName: entry.recordName, name: entry.property)
            for value in [entry.local, entry.remote] {
                logged.insert(Line(property: property, value: value))
            }
        }
        var broken: [String] = []
        for (property, _) in memory.writes {
            guard let entity = memory.entities[property.recordName], !world.mayMerge(entity),
                !log.waiting.contains(property.recordName),
                let layout = world.editor.layout.entity(entity),
                let slot = layout.attributeSlot(property.name),
                !memory.decided.contains(property)
            else { continue }
            for value in memory.heads(of: property)
            where !(expelled.contains(property.recordName) && isNobodys(value, slot, layout))
                && !isKept(value, slot, property)
                && !logged.contains(Line(property: property, value: value.plain))
            {
                broken.append(
                    "\(value.summary) was saved as \(property.name) of "
                        + "\(property.recordName.suffix(6)), is not there, and is in no log.")
            }
        }
        return broken.sorted()
    }

    /// Whether the value says nothing, or is what the later version of the model begins with: an
    /// object that went before its device was updated never had that.
    private func isNobodys(_ value: AttributeValue, _ slot: Int, _ layout: EntityLayout) -> Bool {
        value == .null
            || value == layout.attributes[slot].attribute.storedDefault
                && world.editor.versions.slotsOfLastOnly(layout).contains(slot)
    }

    /// Whether the value is there, or went with an object whose deleter had seen it.
    private func isKept(
        _ value: AttributeValue, _ slot: Int, _ property: EditMemory.Property
    ) -> Bool {
        if let state = image.objects[property.recordName], state.attributes[slot] == value {
            return true
        }
        let deletions = memory.authors.deletions[property.recordName] ?? []
        return deletions.contains { $0.seen[slot] == nil || $0.seen[slot] == value }
    }
}

extension AttributeValue {
    /// The value as a conflict log shows it.
    var plain: FieldValue? { AttributeCoding.fields(for: self).plain }
}
