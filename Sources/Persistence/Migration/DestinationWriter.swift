internal import Foundation
internal import ObjectModel
internal import Stores

/// Writes new objects while a migration goes on, so that they do not all stand in memory.
///
/// Only a file that nobody knows yet is written so; any other is given all objects in one save at
/// the end, when the rules of the model hold. Of what is written before, objects that may break a
/// rule until their links are made are looked at in the end.
final class DestinationWriter {
    private let side: MigrationSide
    private let batchSize: Int
    /// Whether all that is not written yet waits for the end.
    private var isHeldBack: Bool
    /// The rows whose objects are to be looked at in the end.
    private var unchecked = RowList()
    /// Objects that know what their rows do not.
    private var kept: [ObjectIdentifier: NSManagedObject] = [:]
    /// The rows that were written and deleted again, since they were asked for.
    private var deleted: [RowID] = []
    private var countRules: [ObjectIdentifier: [String]] = [:]

    init(_ side: MigrationSide, batchSize: Int, writesBatches: Bool) {
        self.side = side
        self.batchSize = batchSize
        isHeldBack = !writesBatches
    }

    private var context: NSManagedObjectContext { side.context }

    /// Writes what was made once it is a batch. Returns whether anything was written.
    func writeIfFull() throws -> Bool {
        guard !isHeldBack, context.pending.objects.count >= batchSize else { return false }
        return try write()
    }

    /// The rows that are no more since the last call.
    func takeDeleted() -> [RowID] {
        defer { deleted = [] }
        return deleted
    }

    /// Writes the rest, and looks at what was not looked at yet. Throws what a save does.
    func finish() throws {
        _ = try write()
        try check()
        if context.hasChanges { try context.save() }
        for object in kept.values where !object.isDeleted { try object.validateForUpdate() }
    }

    // MARK: Writing

    private func write() throws -> Bool {
        guard !isHeldBack else { return false }
        context.processPendingChanges()
        var waiting: [NSManagedObject] = []
        var gone: [RowID] = []
        for object in context.pending.objects where object.isPending {
            if object.isDeleted {
                // What denies it may go, too, before the end.
                if !isValid(object) { return holdBack() }
                if let row = side.row(of: object) { gone.append(row) }
            } else if !isFree(object) || !isValid(object) {
                waiting.append(object)
            }
        }
        do {
            try context.save(validating: false)
        } catch let error as NSError where error.code == NSManagedObjectConstraintMergeError {
            // Equal values may differ in the end.
            return holdBack()
        }
        deleted += gone
        for object in waiting {
            if let row = side.row(of: object) { unchecked.append(row) }
        }
        letGo()
        return true
    }

    private func holdBack() -> Bool {
        isHeldBack = true
        return false
    }

    private func letGo() {
        for object in side.letGo() { kept[ObjectIdentifier(object)] = object }
    }

    private func isValid(_ object: NSManagedObject) -> Bool {
        do {
            if object.isDeleted {
                try object.validateForDelete()
            } else if object.isInserted {
                try object.validateForInsert()
            } else {
                try object.validateForUpdate()
            }
            return true
        } catch {
            return false
        }
    }

    /// Whether no rule of the object's depends on its links.
    private func isFree(_ object: NSManagedObject) -> Bool {
        type(of: object) == NSManagedObject.self && rules(of: object.entity).isEmpty
    }

    /// The relationships of an entity that must lead to something, or not to too much.
    private func rules(of entity: NSEntityDescription) -> [String] {
        if let known = countRules[ObjectIdentifier(entity)] { return known }
        let found = entity.relationshipsByName.values.filter {
            $0.isToMany ? $0.minCount > 0 || $0.maxCount > 0 : !$0.isOptional
        }.map(\.name)
        countRules[ObjectIdentifier(entity)] = found
        return found
    }

    // MARK: The model's rules

    private func check() throws {
        var begin = 0
        while begin < unchecked.count {
            let end = min(begin + batchSize, unchecked.count)
            try check(unchecked.rows(begin..<end))
            begin = end
        }
        unchecked = RowList()
    }

    private func check(_ rows: [RowID]) throws {
        var errors: [NSError] = []
        let groups = Dictionary(grouping: rows, by: \.entity)
        for (_, rows) in groups.sorted(by: { $0.key < $1.key }) {
            for object in try objects(of: rows) where !object.isDeleted {
                do {
                    try object.validateForInsert()
                } catch {
                    let error = PersistenceErrors.bridged(error) as NSError
                    let several = error.userInfo[NSDetailedErrorsKey] as? [NSError]
                    errors += several ?? [error]
                }
            }
        }
        if errors.count == 1, let only = errors.first { throw only }
        guard errors.isEmpty else {
            throw PersistenceErrors.make(
                NSValidationMultipleErrorsError,
                "The new objects break \(errors.count) rules of the model.",
                [NSDetailedErrorsKey: errors])
        }
        letGo()
    }

    /// The objects of rows of one entity that are still there.
    private func objects(of rows: [RowID]) throws -> [NSManagedObject] {
        guard let first = rows.first else { return [] }
        let paths = rules(of: side.store.id(for: first).entity)
        return try side.read(rows, prefetching: paths).filter { !$0.isFault || $0.hasRow }
    }
}
