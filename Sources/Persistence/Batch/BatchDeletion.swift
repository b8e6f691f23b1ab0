internal import Foundation
internal import ObjectModel
internal import Stores

/// Works out what a batch deletion does to other rows, by the delete rules.
struct BatchDeletion {
    private let rowStore: any RowStore
    private var gone: Set<RowID> = []
    private var order: [RowID] = []
    private var updates: [RowID: RowUpdate] = [:]

    private static let sliceCount = 500

    init(in rowStore: any RowStore) { self.rowStore = rowStore }

    /// Throws 1600 and 134050 where a rule forbids the deletion.
    mutating func changes(deleting rows: [RowID]) throws -> ChangeSet {
        try cascade(from: rows)
        let slices = stride(from: 0, to: order.count, by: Self.sliceCount).map {
            Array(order[$0..<min($0 + Self.sliceCount, order.count)])
        }
        for slice in slices {
            try Self.eachRelationship(
                in: rowStore, of: slice, by: { $0.deleteRule != .cascadeDeleteRule }
            ) {
                owner, relationship, targets in
                let left = targets.filter { !gone.contains($0) }
                if !left.isEmpty { try release(left, from: relationship, of: owner) }
            }
        }
        var changes = ChangeSet()
        changes.deletes = order.map { RowDelete(id: $0) }
        changes.updates = updates.values.sorted { $0.id < $1.id }
        return changes
    }

    /// Takes in rows and all that cascades lead to from there.
    private mutating func cascade(from rows: [RowID]) throws {
        var next = rows
        while !next.isEmpty {
            let fresh = next.filter { gone.insert($0).inserted }
            order += fresh
            next = []
            for start in stride(from: 0, to: fresh.count, by: Self.sliceCount) {
                let slice = Array(fresh[start..<min(start + Self.sliceCount, fresh.count)])
                try Self.eachRelationship(
                    in: rowStore, of: slice, by: { $0.deleteRule == .cascadeDeleteRule }
                ) {
                    next += $2
                }
            }
        }
    }

    /// Applies a rule to what is left at the other end of a deleted row's relationship.
    private mutating func release(
        _ targets: [RowID], from relationship: NSRelationshipDescription, of owner: RowID
    ) throws {
        switch relationship.deleteRule {
        case .denyDeleteRule:
            throw refusal(
                NSValidationRelationshipDeniedDeleteError, "the deny rule", owner, relationship)
        case .nullifyDeleteRule:
            guard let inverse = relationship.inverseRelationship else { return }
            guard inverse.isOptional else {
                let ends =
                    relationship.isToMany ? (inverse.isToMany ? "MTM" : "OTM") : "OTO"
                throw refusal(
                    NSPersistentStoreSaveConflictsError, "mandatory \(ends) nullify inverse", owner,
                    relationship)
            }
            // Pairs go with the row; the store sees to them.
            guard !inverse.isToMany else { return }
            for target in targets {
                let slot = rowStore.layout.entity(target.entity)?.toOneSlot(inverse.name)
                guard let slot else { continue }
                var update = updates[target] ?? RowUpdate(id: target)
                if !update.toOnes.contains(where: { $0.slot == slot }) {
                    update.toOnes.append((slot, nil))
                }
                updates[target] = update
            }
        case .cascadeDeleteRule, .noActionDeleteRule: return
        }
    }

    private func refusal(
        _ code: Int, _ why: String, _ owner: RowID, _ relationship: NSRelationshipDescription
    ) -> NSError {
        let entity = rowStore.layout.entity(owner.entity)?.name ?? ""
        return PersistenceErrors.make(
            code,
            "Constraint trigger violation: Batch delete failed due to \(why) on "
                + "\(entity)/\(relationship.name)")
    }

    // MARK: Reading

    /// Calls `body` with what each of the wanted relationships of rows leads to.
    private static func eachRelationship(
        in rowStore: any RowStore, of rows: [RowID],
        by isWanted: (NSRelationshipDescription) -> Bool,
        _ body: (RowID, NSRelationshipDescription, [RowID]) throws -> Void
    ) throws {
        for (number, rows) in Dictionary(grouping: rows, by: \.entity).sorted(by: {
            $0.key < $1.key
        }) {
            guard let layout = rowStore.layout.entity(number) else { continue }
            let toOnes = layout.toOnes.enumerated().filter { isWanted($0.element) }
            if !toOnes.isEmpty {
                for row in try rowStore.rows(rows) {
                    for (slot, relationship) in toOnes {
                        guard let target = row.toOnes[slot]?.target else { continue }
                        try body(row.id, relationship, [target])
                    }
                }
            }
            for (slot, relationship) in layout.toManys.enumerated() where isWanted(relationship) {
                let members = try rowStore.members(ofEach: rows, toMany: slot)
                for row in rows {
                    guard let links = members[row], !links.isEmpty else { continue }
                    try body(row, relationship, links.map(\.target))
                }
            }
        }
    }
}
