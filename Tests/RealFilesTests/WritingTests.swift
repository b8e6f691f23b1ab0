import Foundation
import ObjectModel
import Persistence
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Copies of real stores, changed through contexts; the rows then have the form Apple's rows have.
@Suite(.enabled(if: Corpus.isPresent, "set DIPTYCH_CORPUS to the corpus"))
struct WritingTests {
    @Test func everyKnownStoreCanBeChangedAndStaysApples() throws {
        var lines: [String] = []
        var failures: [String] = []
        var totals = StoreEdit.Counts()
        for store in Corpus.stores {
            let scratch = try Scratch()
            let url = try store.copy(to: scratch)
            guard let (_, model) = try store.knownModels(copy: url).last else { continue }
            let edit = try StoreEdit(
                OpenedStore(url, model, options: [NSPersistentHistoryTrackingKey: true]))
            do {
                try edit.run()
                var check = try EditCheck(edit, reopening: url, model)
                try check.run()
                failures += check.failures.prefix(8).map { "\(store): \($0)" }
            } catch {
                failures.append("\(store): \(error) \((error as NSError).userInfo)")
            }
            lines.append("\(store) · \(edit.counts)")
            totals.add(edit.counts)
        }
        print("store · changes\n\(lines.joined(separator: "\n"))")
        print("\(lines.count) stores · \(totals)")
        #expect(failures == [])
        #expect(totals.inserted > 100 && totals.updated > 50 && totals.deleted > 50)
    }
}

/// Changes every entity of a store: updates, inserts, links and deletes, each saved.
final class StoreEdit {
    struct Counts: CustomStringConvertible {
        var inserted = 0
        var updated = 0
        var linked = 0
        var deleted = 0
        var saves = 0
        /// Saves that the model's own rules forbid, such as a pattern a made-up value breaks.
        var refused = 0

        mutating func add(_ other: Counts) {
            inserted += other.inserted
            updated += other.updated
            linked += other.linked
            deleted += other.deleted
            saves += other.saves
            refused += other.refused
        }

        var description: String {
            "\(inserted) inserted, \(updated) updated, \(linked) linked, \(deleted) deleted in "
                + "\(saves) saves; \(refused) against the model's rules"
        }
    }

    let opened: OpenedStore
    private(set) var counts = Counts()
    /// The rows as plain SQL had them before any change: table, key, version.
    let before: [String: [Int64: Int64]]
    let lastChange: Int64
    let lastTransaction: Int64
    private(set) var updatedRows: Set<RowID> = []
    private(set) var insertedRows: Set<RowID> = []
    private(set) var deletedRows: Set<RowID> = []
    private var number = 900_000

    init(_ opened: OpenedStore) throws {
        self.opened = opened
        let schema = try opened.rows.read { $0.schema }
        var before: [String: [Int64: Int64]] = [:]
        for layout in schema.layout.entities {
            guard let table = schema.columns(of: layout.number)?.table else { continue }
            for row in try opened.sql("SELECT Z_PK, IFNULL(Z_OPT, 0) FROM \(table)") {
                before[table, default: [:]][row[0].int64 ?? 0] = row[1].int64
            }
        }
        self.before = before
        lastChange = try opened.sql("SELECT max(Z_PK) FROM ACHANGE")[0][0].int64 ?? 0
        lastTransaction = try opened.sql("SELECT max(Z_PK) FROM ATRANSACTION")[0][0].int64 ?? 0
        opened.context.transactionAuthor = "writing tests"
    }

    func run() throws {
        let layouts = opened.rows.layout.entities.filter { !$0.entity.isAbstract }
        for layout in layouts {
            try update(layout)
            try insert(layout)
        }
        for layout in layouts { try link(layout) }
        for layout in layouts { try delete(layout) }
    }

    /// Saves; what breaks the model's own rules is undone and counted.
    private func save(_ whenDone: () -> Void) throws {
        let context = opened.context
        guard context.hasChanges else { return }
        // Looking loads collections, after which what was there already is no change any more.
        for object in context.updatedObjects { _ = object.changedValues() }
        let ids = (
            context.insertedObjects.map(\.objectID),
            context.updatedObjects.filter { !$0.changedValues().isEmpty }.map(\.objectID),
            context.deletedObjects.map(\.objectID)
        )
        // A link that is there already changes nothing.
        guard !(ids.0 + ids.1 + ids.2).isEmpty else { return context.rollback() }
        do {
            try context.save()
        } catch let error as NSError
            where (1550...1699).contains(error.code) || error.code == 133021
        {
            counts.refused += 1
            context.rollback()
            return
        }
        insertedRows.formUnion(ids.0.compactMap(\.rowID))
        updatedRows.formUnion(ids.1.compactMap(\.rowID))
        deletedRows.formUnion(ids.2.compactMap(\.rowID))
        // Links without inverse to what was deleted are cleared in the same save.
        for row in try opened.sql(
            "SELECT ZENTITY, ZENTITYPK FROM ACHANGE WHERE Z_PK > \(lastChange) "
                + "AND ZCHANGETYPE = 1")
        {
            guard let entity = row[0].int64, let key = row[1].int64 else { continue }
            updatedRows.insert(RowID(entity: Int32(entity), key: key))
        }
        counts.saves += 1
        whenDone()
    }

    private func update(_ layout: EntityLayout) throws {
        for object in try opened.objects(layout.name).prefix(2) {
            for slot in layout.attributes where isPlain(slot) {
                object.setValue(fresh(slot.attribute, unique: true), forKey: slot.name)
            }
            try save { counts.updated += 1 }
        }
    }

    private func insert(_ layout: EntityLayout) throws {
        _ = make(layout, depth: 0)
        let made = opened.context.insertedObjects.count
        try save { counts.inserted += made }
    }

    private func make(_ layout: EntityLayout, depth: Int) -> NSManagedObject {
        let object = NSManagedObject(entity: layout.entity, insertInto: opened.context)
        for slot in layout.attributes where isPlain(slot) {
            object.setValue(fresh(slot.attribute, unique: true), forKey: slot.name)
        }
        for relationship in layout.toOnes where !relationship.isOptional && depth < 4 {
            guard object.value(forKey: relationship.name) == nil,
                let target = destination(relationship)
            else { continue }
            object.setValue(make(target, depth: depth + 1), forKey: relationship.name)
        }
        return object
    }

    private func destination(_ relationship: NSRelationshipDescription) -> EntityLayout? {
        guard let destination = relationship.destinationEntity else { return nil }
        return opened.rows.layout.entities.first {
            !$0.entity.isAbstract && $0.entity.isKindOf(entity: destination)
        }
    }

    private func link(_ layout: EntityLayout) throws {
        let objects = try opened.objects(layout.name).suffix(2)
        for relationship in layout.toOnes + layout.toManys {
            guard let target = destination(relationship), let object = objects.last,
                let other = try opened.objects(target.name).last, other !== object
            else { continue }
            if relationship.isToMany {
                // Adding a member that is there already changes nothing.
                guard !object.members(relationship).contains(other) else { continue }
                object.add(other, to: relationship)
            } else {
                let present = object.value(forKey: relationship.name) as? NSManagedObject
                guard present !== other else { continue }
                object.setValue(other, forKey: relationship.name)
            }
            try save { counts.linked += 1 }
        }
    }

    private func delete(_ layout: EntityLayout) throws {
        guard let object = try opened.objects(layout.name).first else { return }
        opened.context.delete(object)
        let gone = opened.context.deletedObjects.count
        try save { counts.deleted += gone }
    }

    private func isPlain(_ slot: EntityLayout.AttributeSlot) -> Bool {
        !(slot.attribute is NSDerivedAttributeDescription) && !slot.name.contains(".")
            && slot.attribute.attributeType != .transformableAttributeType
    }

    private func fresh(_ attribute: NSAttributeDescription, unique: Bool) -> Any? {
        number += 1
        switch attribute.attributeType {
        case .integer16AttributeType: return number % 30_000
        case .integer32AttributeType, .integer64AttributeType: return number
        case .booleanAttributeType: return number % 2 == 0
        case .doubleAttributeType, .floatAttributeType: return Double(number) + 0.5
        case .decimalAttributeType: return Decimal(number)
        case .stringAttributeType: return "text \(number)"
        case .dateAttributeType: return Date(timeIntervalSinceReferenceDate: Double(number) + 0.25)
        case .UUIDAttributeType: return UUID()
        case .URIAttributeType: return URL(string: "https://example.org/\(number)")
        case .binaryDataAttributeType: return Data("bytes \(number)".utf8)
        default: return nil
        }
    }
}

extension NSManagedObject {
    func members(_ relationship: NSRelationshipDescription) -> [NSManagedObject] {
        let value = value(forKey: relationship.name)
        if let set = value as? Set<NSManagedObject> { return Array(set) }
        return (value as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
    }

    fileprivate func add(_ other: NSManagedObject, to relationship: NSRelationshipDescription) {
        if relationship.isOrdered {
            mutableOrderedSetValue(forKey: relationship.name).add(other)
        } else {
            mutableSetValue(forKey: relationship.name).add(other)
        }
    }
}
