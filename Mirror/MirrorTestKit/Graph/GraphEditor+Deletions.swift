internal import MirrorEngine
internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// Objects that are deleted, alone or with what hangs on them.
extension GraphEditor {
    mutating func delete(on device: SimulatedDevice) throws -> String? {
        // What is outside of a selection goes from this device alone.
        guard let row = try anyRow(on: device, where: { device.sendsAll(of: $0.entity) }),
            sendsAll(of: row, device)
        else { return nil }
        let rows = try fallingTree(on: device) ?? [row]
        var deleted: [DeletionMemory.Deletion] = []
        _ = try edit(rows[0].id, on: device) { store in
            deleted = try rows.map { row in
                try DeletionMemory.Deletion(
                    row: row, name: device.recordName(of: row.id, in: store), device: device,
                    referrers: store.referrers(of: row.id))
            }
            return try LinkEdit(layout: layout, store: store).delete(rows)
        }
        for deletion in deleted { try note(deletion, on: device) }
        if rows.count > 1 { counts.cascades += 1 }
        return "deletes " + deleted.map { String($0.name.suffix(6)) }.joined(separator: ", ")
    }

    private mutating func note(
        _ deletion: DeletionMemory.Deletion, on device: SimulatedDevice
    ) throws {
        if let former = deletions.note(deletion) { memory.undone(former) }
        guard let entity = layout.entity(deletion.row.id.entity) else { return }
        memory.deleted(
            deletion.name,
            AuthorMemory.Deletion(
                device: device.name, seen: try seen(deletion.row, entity, on: device)))
        for key in keys(of: deletion.row, entity) { memory.keys.spoil(key) }
    }

    /// An object on which others hang, with them, where the dice have a deletion cascade.
    private func fallingTree(on device: SimulatedDevice) throws -> [Row]? {
        let dice = deletions.cascadeDice
        let percent = weights.deletions.cascadePercent
        guard percent > 0, dice.chance(percent: percent) else { return nil }
        let trees = try layout.entities
            .filter { !$0.entity.isAbstract && device.sendsAll(of: $0.entity) }
            .flatMap { try device.store.ids(matching: RowQuery(entity: $0.number)) }.sorted()
            .compactMap { try device.store.row($0) }
            .map { try tree(of: $0, on: device) }
            .filter { $0.count > 1 }
        return dice.pick(trees)
    }

    /// A row and what points at it or answers its one-to-one links, and so on: as rules of deletion
    /// cascade.
    private func tree(of root: Row, on device: SimulatedDevice) throws -> [Row] {
        var rows = [root]
        var known: Set<RowID> = [root.id]
        var next = 0
        while next < rows.count, rows.count < Self.treeMax {
            let row = rows[next]
            next += 1
            let partners = row.toOnes.indices.filter { !isOneOfMany($0, of: row.id) }
                .compactMap { row.toOnes[$0]?.target }
            let children = try device.store.read { try $0.referrers(of: row.id).map(\.row) }
            for id in children + partners where known.insert(id).inserted {
                guard let other = try device.store.row(id), sendsAll(of: other, device) else {
                    continue
                }
                rows.append(other)
            }
        }
        return rows
    }

    private func sendsAll(of row: Row, _ device: SimulatedDevice) -> Bool {
        layout.entity(row.id.entity).map { device.sendsAll(of: $0.entity) } == true
    }

    private static let treeMax = 12

    /// What whoever deletes a row has seen of it. What is sealed may show nothing without all keys,
    /// and until a round has opened what they open; what only the later model has, until a look has
    /// brought it into the rows.
    private func seen(
        _ row: Row, _ entity: EntityLayout, on device: SimulatedDevice
    ) throws -> [AttributeValue?] {
        var values = versions.lastValues(of: row, entity)
        if try device.waitsForModel() {
            for slot in versions.slotsOfLastOnly(entity) { values[slot] = nil }
        }
        guard try hidesSealed || device.waitsForUnlocking() else { return values }
        return zip(values, versions.last(entity).attributes).map { value, slot in
            slot.attribute.allowsCloudEncryption ? nil : value
        }
    }
}
