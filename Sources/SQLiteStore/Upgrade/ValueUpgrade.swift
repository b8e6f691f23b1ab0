internal import Foundation
internal import ObjectModel
internal import SQLiteDriver
internal import Stores

/// Checks the values that are there, makes indexes and triggers, and computes what is derived.
struct ValueUpgrade {
    let plan: UpgradePlan
    let connection: Connection

    /// Returns the indexes that are left for later.
    func run() throws -> [DeferredWork.Piece] {
        for move in plan.moves { try checkMandatory(move) }
        let left = try makeIndexes()
        for move in plan.moves { try computeWritten(move) }
        for computation in plan.new.content.computations { try connection.run(computation) }
        for trigger in plan.new.triggers { try connection.script(trigger) }
        for table in plan.new.content.placeTables.sorted() {
            try connection.run("UPDATE \(table) SET Z_OPT = Z_OPT")
        }
        return left
    }

    // MARK: Rules

    /// Only what the old model did not demand can be missing.
    private func checkMandatory(_ move: EntityMove) throws {
        for (slot, attribute) in move.new.attributes.enumerated() {
            let former = plan.formerSlot(of: attribute.name, in: move)
            let was = former.map { move.old.attributes[$0].attribute }
            guard !attribute.attribute.isOptional, was?.isOptional ?? true,
                !(attribute.attribute is NSDerivedAttributeDescription)
            else { continue }
            let column = move.newColumns.attributes[slot].name
            let missing = try connection.value(
                "SELECT 1 FROM \(move.newColumns.table) WHERE Z_ENT = \(move.new.number) "
                    + "AND \(column) IS NULL LIMIT 1")
            guard missing == nil else {
                throw UpgradeRefusal(
                    reason: .missingValue, entity: move.new.name, subject: attribute.name)
            }
        }
    }

    // MARK: Indexes

    private func makeIndexes() throws -> [DeferredWork.Piece] {
        let wanted = Set(plan.new.indexes)
        let tables = Set(plan.new.tables.map(\.name))
        let present = try connection.rows(
            "SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL")
        var kept: Set<String> = []
        for row in present {
            guard let name = row[0].string, tables.contains(row[1].string ?? ""),
                let text = row[2].string
            else { continue }
            if wanted.contains(text) {
                kept.insert(text)
            } else {
                try connection.script("DROP INDEX \"\(name.replacing("\"", with: "\"\""))\"")
            }
        }
        var left: [DeferredWork.Piece] = []
        for statement in plan.new.indexes where !kept.contains(statement) {
            if plan.defers, let name = DeferredWork.indexName(in: statement) {
                left.append(.index(name))
                continue
            }
            do {
                try connection.script(statement)
            } catch let fault as SQLiteFault where fault.isConstraint {
                throw duplicate(statement)
            }
        }
        return left
    }

    private func duplicate(_ statement: String) -> UpgradeRefusal {
        let broken = plan.new.constraints.first {
            statement.contains(" \(sqlName($0.indexName)) ")
        }
        return UpgradeRefusal(
            reason: .duplicate,
            entity: broken.flatMap { plan.new.layout.entity($0.entity)?.name },
            subject: broken?.properties.joined(separator: ", ") ?? statement)
    }

    // MARK: Derived values

    /// Computes what is derived where a row is written, where it is new or from something else.
    private func computeWritten(_ move: EntityMove) throws {
        for (slot, attribute) in move.new.attributes.enumerated() {
            guard let derived = attribute.attribute as? NSDerivedAttributeDescription,
                !isUnchanged(derived, in: move),
                let derivation = try? Derivation(of: derived, in: move.new)
            else { continue }
            let value: String
            switch derivation {
            case .now: value = "\(UpgradeFunctions.now)()"
            case .text(let function, let source):
                guard let from = move.new.attributeSlot(source) else { continue }
                let column = move.newColumns.attributes[from].name
                value = "\(UpgradeFunctions.text)('\(function.rawValue)', \(column))"
            case .path, .aggregate: continue
            }
            let column = move.newColumns.attributes[slot].name
            let only = derivation == .now ? " AND \(column) IS NULL" : ""
            try connection.run(
                "UPDATE \(move.newColumns.table) SET \(column) = \(value) "
                    + "WHERE Z_ENT = \(move.new.number)\(only)")
        }
    }

    private func isUnchanged(
        _ derived: NSDerivedAttributeDescription, in move: EntityMove
    ) -> Bool {
        let former = move.match.attributes.first { $0.destination === derived }?.source
        return former?.versionHash == derived.versionHash
    }
}
