internal import Foundation
internal import SQLiteDriver
internal import Stores

// What an upgrade makes of large values that have files of their own.
extension UpgradePlan {
    /// Whether rows no longer name all files that they named: values that come into their rows,
    /// attributes that are gone or moved to others, entities that are gone.
    var losesExternalValues: Bool {
        old.layout.entities.contains { entity in
            externalSlots(of: entity.number).contains { slot in
                guard let move = move(from: entity.number) else { return true }
                return !columns(from: slot, in: move).contains { $0.kind == Self.external }
            }
        }
    }

    /// Throws `UpgradeRefusal` where a value comes into its row and its file is not there: the row
    /// would forget the file's name, and the value be lost for good. To be called before tables are
    /// set aside. Cost: nothing where no value does, else O(rows) of their entities.
    func refuseMissingFiles(_ files: ExternalFiles?, _ connection: Connection) throws {
        for move in moves {
            for slot in externalSlots(of: move.old.number)
            where columns(from: slot, in: move).contains(where: { $0.kind != Self.external }) {
                guard let name = try missingFile(of: slot, in: move, files, connection) else {
                    continue
                }
                throw UpgradeRefusal(
                    reason: .missingFile(name.uuidString), entity: move.old.name,
                    subject: move.old.attributes[slot].name)
            }
        }
    }

    private func missingFile(
        of slot: Int, in move: EntityMove, _ files: ExternalFiles?, _ connection: Connection
    ) throws -> UUID? {
        let column = move.oldColumns.attributes[slot].name
        let condition = move.oldColumns.condition.map { " AND \($0)" } ?? ""
        var missing: UUID?
        try connection.forEachRow(
            "SELECT \(column) FROM \(move.oldColumns.table) "
                + "WHERE length(\(column)) = 38\(condition)"
        ) { statement in
            guard missing == nil, let name = statement.blob(at: 0).flatMap(ExternalFiles.name),
                files?.size(of: name) == nil
            else { return }
            missing = name
        }
        return missing
    }

    private static var external: ColumnKind { .binary(external: true) }

    /// The slots of an old entity whose values may have files.
    private func externalSlots(of entity: Int32) -> [Int] {
        let columns = old.columns(of: entity)?.attributes ?? []
        return columns.indices.filter { columns[$0].kind == Self.external }
    }

    /// The columns of the new table that an old slot's values come into.
    private func columns(from slot: Int, in move: EntityMove) -> [AttributeColumn] {
        zip(move.new.attributes, move.newColumns.attributes)
            .filter { formerSlot(of: $0.0.name, in: move) == slot }.map(\.1)
    }
}
