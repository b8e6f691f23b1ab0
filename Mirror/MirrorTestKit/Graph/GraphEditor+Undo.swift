internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import Platform
internal import SQLiteStore
internal import Stores

/// What devices deleted last, for their undo managers.
struct DeletionMemory {
    /// One deletion, in the file and the version of the model that the device had then.
    struct Deletion {
        let row: Row
        let name: String
        let device: String
        let file: URL
        let isLater: Bool
        /// Who pointed at it.
        let referrers: [(row: RowID, toOneSlot: Int)]

        init(
            row: Row, name: String, device: SimulatedDevice,
            referrers: [(row: RowID, toOneSlot: Int)]
        ) {
            self.row = row
            self.name = name
            self.device = device.name
            file = device.file
            isLater = device.isLater
            self.referrers = referrers.filter { $0.row != row.id }
        }
    }

    /// A stream of its own, so that a seed is the same world without undoing.
    let dice: SeededRandomness
    /// Says which deletions take what hangs on an object, likewise.
    let cascadeDice: SeededRandomness
    private var deletions: [Deletion] = []
    private(set) var undone: [Deletion] = []
    private static let countMax = 8

    init(dice: SeededRandomness, cascadeDice: SeededRandomness) {
        self.dice = dice
        self.cascadeDice = cascadeDice
    }

    /// Returns the name of the object where it had come back from a deletion before.
    mutating func note(_ deletion: Deletion) -> String? {
        let former = undone.firstIndex {
            $0.row.id == deletion.row.id && $0.device == deletion.device
                && $0.file == deletion.file
        }
        deletions.append(deletion)
        if deletions.count > Self.countMax { deletions.removeFirst() }
        return former.map { undone.remove(at: $0).name }
    }

    /// Takes one of the deletions that the device can still undo.
    mutating func take(for device: SimulatedDevice) -> Deletion? {
        let places = deletions.indices.filter { place in
            let deletion = deletions[place]
            return deletion.device == device.name && deletion.file == device.file
                && deletion.isLater == device.isLater
        }
        return dice.pick(places).map { deletions.remove(at: $0) }
    }

    mutating func noteUndone(_ deletion: Deletion) { undone.append(deletion) }
}

/// Deletions that are undone after they were saved, as an undo manager brings an object back under
/// its ID: with its values and the links that lead to what is still there.
extension GraphEditor {
    mutating func undoDeletion(on device: SimulatedDevice) throws -> String? {
        guard let deletion = deletions.take(for: device),
            try device.store.row(deletion.row.id) == nil,
            let entity = layout.entity(deletion.row.id.entity)
        else { return nil }
        var changes = ChangeSet()
        try device.edit(takesBack: randomness.chance(percent: rollbackPercent)) { store in
            changes.inserts = [try revived(deletion.row, entity, in: store)]
            let links = LinkEdit(layout: layout, store: store)
            for (source, slot) in deletion.referrers {
                guard let row = try store.row(source), row.toOnes[slot] == nil,
                    isOneOfMany(slot, of: source)
                else { continue }
                changes.updates += try links.link(row, slot: slot, to: deletion.row).updates
            }
            return changes
        }
        try noteLinks(changes, on: device)
        memory.undone(deletion.name)
        deletions.noteUndone(deletion)
        return "undoes the deletion of \(deletion.name.suffix(6))"
    }

    private func revived(
        _ row: Row, _ entity: EntityLayout, in store: StoreTransaction
    ) throws -> Row {
        var revived = Row(id: row.id, layout: entity)
        revived.attributes = row.attributes
        for (slot, link) in row.toOnes.enumerated() where isOneOfMany(slot, of: row.id) {
            guard let link, try store.row(link.target) != nil else { continue }
            revived.toOnes[slot] = link
        }
        return revived
    }

    /// The other ends of one-to-ones may have new partners by now.
    func isOneOfMany(_ slot: Int, of row: RowID) -> Bool {
        layout.entity(row.entity)?.toOnes[slot].inverseRelationship?.isToMany == true
    }
}

extension SimulatedWorld {
    /// Objects whose deletion was undone go on under their names or, where the service had heard of
    /// it, under others: what is remembered of either is not what must be there.
    func forgetUndone() throws {
        for (deletion, name) in try undoneObjects() {
            // It may have been edited under its old name before the device renamed it.
            editor.memory.undone(deletion.name)
            if let name { editor.memory.undone(name) }
        }
        editor.memory.forgetTakenBack()
    }

    /// The deletions that were undone on files which are as they were, and the names of their
    /// objects now; nil for those that are gone.
    func undoneObjects() throws -> [(deletion: DeletionMemory.Deletion, name: String?)] {
        try editor.deletions.undone.compactMap { deletion in
            guard
                let device = devices.first(where: {
                    $0.name == deletion.device && $0.file == deletion.file
                        && $0.isLater == deletion.isLater
                })
            else { return nil }
            let isThere = try device.store.row(deletion.row.id) != nil
            return (deletion, isThere ? try device.recordName(of: deletion.row.id) : nil)
        }
    }
}
