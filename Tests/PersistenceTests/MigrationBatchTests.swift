import CoreData
import Foundation
import Testing

@testable import Persistence
@testable import Stores

/// Does in each hook what is harder while objects come and go.
final class RememberingPolicy: NSEntityMigrationPolicy, @unchecked Sendable {
    // @unchecked: used by one migration, on its thread.
    private var first: NSManagedObject?
    private var highest = 0

    private func note(_ key: String, _ value: Any, _ manager: NSMigrationManager) {
        (manager.userInfo?["found"] as? NSMutableDictionary)?[key] = value
    }

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(
            forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(
            forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        first = first ?? made.first
        made.first?.setValue("scratch \(sInstance.string("name") ?? "")", forKey: "scratch")
        if sInstance.string("name") == "p7", let gone = made.first {
            manager.destinationContext.delete(gone)
        }
        highest = max(highest, manager.destinationContext.registeredObjects.count)
    }

    override func endInstanceCreation(
        forMapping mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let all = manager.destinationInstances(
            forEntityMappingName: mapping.name, sourceInstances: nil)
        note("names", all.compactMap { $0.string("name") }, manager)
        let last = all.last.map { [$0] }
        let sources = manager.sourceInstances(
            forEntityMappingName: mapping.name, destinationInstances: last)
        note("last", sources.compactMap { $0.string("name") }, manager)
        first?.setValue("kept", forKey: "note")
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
        dInstance.setValue(dInstance.string("scratch") ?? "lost", forKey: "must")
    }

    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("highest", highest, manager)
    }
}

/// Copies, and says how many objects there were at once.
final class CountingPolicy: NSEntityMigrationPolicy, @unchecked Sendable {
    // @unchecked: used by one migration, on its thread.
    private var highest = 0

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(
            forSource: sInstance, in: mapping, manager: manager)
        let contexts = [manager.sourceContext, manager.destinationContext]
        highest = max(highest, contexts.reduce(0) { $0 + $1.registeredObjects.count })
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        try super.createRelationships(
            forDestination: dInstance, in: mapping, manager: manager)
        let contexts = [manager.sourceContext, manager.destinationContext]
        highest = max(highest, contexts.reduce(0) { $0 + $1.registeredObjects.count })
    }

    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        (manager.userInfo?["found"] as? NSMutableDictionary)?["highest"] = highest
    }
}

/// Makes names different that were equal, when all are there.
final class RenamingPolicy: NSEntityMigrationPolicy, @unchecked Sendable {
    // @unchecked: used by one migration, on its thread.
    override func endInstanceCreation(
        forMapping mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let all = manager.destinationInstances(
            forEntityMappingName: mapping.name, sourceInstances: nil)
        for (place, object) in all.enumerated() {
            object.setValue("n\(place)", forKey: "name")
            object.setValue("m", forKey: "must")
        }
    }
}

/// Leaves equal names equal.
final class IdlePolicy: NSEntityMigrationPolicy, @unchecked Sendable {
    // @unchecked: has no state.
}

/// A mapped migration into a SQLite file goes batch by batch, and nothing tells it.
@Suite struct MigrationBatchTests {
    private let old = VersionDraft.model { draft in
        draft.entity("Person", [text("name")])
        draft.entity("Team", [text("name")])
        draft.link("Person", "team", .one, "Team", "people", .many)
    }

    private func new(unique: [[String]] = []) -> NSManagedObjectModel {
        let scratch = text("scratch")
        scratch.isTransient = true
        return VersionDraft.model { draft in
            draft.entity(
                "Person",
                [text("name"), text("note"), text("must", optional: false), scratch],
                unique: unique)
            draft.entity("Team", [text("name")])
            draft.link("Person", "team", .one, "Team", "people", .ordered)
            draft.entities["Person"]?.relationshipsByName["team"]?.isOptional = false
            draft.entities["Team"]?.relationshipsByName["people"]?.minCount = 2
        }
    }

    private func fill(_ context: NSManagedObjectContext, alone: Bool = false) {
        let teams = (0..<4).map { context.make("Team", ["name": "t\($0)"]) }
        for place in 0..<20 {
            _ = context.make("Person", ["name": "p\(place)", "team": teams[place % 4]])
        }
        if alone { _ = context.make("Person", ["name": "alone"]) }
    }

    private func mapping(policy: NSEntityMigrationPolicy.Type) -> NSMappingModel {
        func entity(_ name: String, _ link: String, _ mapping: String) -> NSEntityMapping {
            .transforming(
                name, name, named: name,
                relationships: [
                    link: "FUNCTION($manager, "
                        + "'destinationInstancesForEntityMappingNamed:sourceInstances:', "
                        + "'\(mapping)', $source.\(link))"
                ])
        }
        let people = entity("Person", "team", "Team")
        people.entityMigrationPolicyClassName = NSStringFromClass(policy)
        let model = NSMappingModel()
        model.entityMappings = [people, entity("Team", "people", "Person")]
        return model
    }

    @discardableResult
    private func migrate(
        _ from: MigrationBench, _ to: MigrationBench, _ model: NSManagedObjectModel, size: Int,
        policy: NSEntityMigrationPolicy.Type = RememberingPolicy.self
    ) throws -> NSMutableDictionary {
        let manager = NSMigrationManager(sourceModel: old, destinationModel: model)
        let found = NSMutableDictionary()
        manager.userInfo = ["found": found]
        manager.batchSize = size
        try manager.migrateStore(
            from: from.url, type: .sqlite, mapping: mapping(policy: policy), to: to.url,
            type: .sqlite)
        return found
    }

    @Test(arguments: [1, 2, 3, 7, 1000]) func theSizeOfBatchesTellsNothing(_ size: Int) throws {
        let (from, to) = (try MigrationBench(), try MigrationBench())
        try from.fill(old) { fill($0) }
        let model = new()
        let found = try migrate(from, to, model, size: size)
        let names = (0..<20).map { "p\($0)" }
        #expect(found["names"] as? [String] == names.filter { $0 != "p7" })
        #expect(found["last"] as? [String] == ["p19"])
        try to.open(model, options: [:]) { context throws in
            #expect(try context.all("Person").count == 19)
            #expect(try context.one("Person", "p0").string("note") == "kept")
            #expect(try context.one("Person", "p5").string("must") == "scratch p5")
            #expect(
                try context.one("Team", "t1").names("people").sorted()
                    == ["p1", "p13", "p17", "p5", "p9"])
            #expect(try context.one("Team", "t3").names("people").count == 4)
        }
    }

    @Test func fewObjectsAreInMemoryAtOnce() throws {
        let (from, to) = (try MigrationBench(), try MigrationBench())
        try from.fill(old) { context in
            for _ in 0..<20 { fill(context) }
        }
        let plain = VersionDraft.model { draft in
            draft.entity("Person", [text("name"), text("note")])
            draft.entity("Team", [text("name")])
            draft.link("Person", "team", .one, "Team", "people", .many)
        }
        let found = try migrate(from, to, plain, size: 10, policy: CountingPolicy.self)
        let highest = try #require(found["highest"] as? Int)
        #expect(highest < 60)
        try to.open(plain, options: [:]) { context throws in
            #expect(try context.all("Person").count == 400)
            #expect(try context.all("Team").allSatisfy { $0.names("people").count == 5 })
        }
    }

    @Test(arguments: [1, 3, 1000]) func rulesCountAtTheEnd(_ size: Int) throws {
        let (from, to) = (try MigrationBench(), try MigrationBench())
        try from.fill(old) { fill($0, alone: true) }
        let error = try cocoaError { try migrate(from, to, new(), size: size) }
        #expect(error.code == NSValidationMissingMandatoryPropertyError)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "team")
        #expect(to.names.isEmpty)
    }

    @Test(arguments: [1, 3, 1000]) func constraintsCountAtTheEnd(_ size: Int) throws {
        let (from, to) = (try MigrationBench(), try MigrationBench())
        try from.fill(old) { context in
            fill(context)
            for object in try context.all("Person") { object.setValue("same", forKey: "name") }
        }
        let model = new(unique: [["name"]])
        try migrate(from, to, model, size: size, policy: RenamingPolicy.self)
        try to.open(model, options: [:]) { context throws in
            #expect(Set(try context.all("Person").map { $0.string("name") }).count == 20)
            #expect(try context.all("Team").allSatisfy { $0.names("people").count == 5 })
        }
        let place = try MigrationBench()
        let unique = VersionDraft.model { draft in
            draft.entity("Person", [text("name"), text("must")], unique: [["name"]])
            draft.entity("Team", [text("name")])
            draft.link("Person", "team", .one, "Team", "people", .many)
        }
        let error = try cocoaError {
            try migrate(from, place, unique, size: size, policy: IdlePolicy.self)
        }
        #expect(error.code == NSManagedObjectConstraintMergeError)
        #expect(place.names.isEmpty)
    }

    @Test func rowsAreFoundInWhateverOrderTheyCame() {
        var dice = Dice(7)
        for isSorted in [true, false] {
            var rows = (0..<400).map { _ in
                RowID(entity: Int32(1 + dice.below(3)), key: Int64(dice.below(150)))
            }
            if isSorted { rows.sort { ($0.key, $0.entity) < ($1.key, $1.entity) } }
            var list = RowList()
            for (place, row) in rows.enumerated() {
                list.append(row)
                guard place.isMultiple(of: 37) || place == 399 else { continue }
                for wanted in rows.prefix(50) {
                    let expected = rows[...place].indices.filter { rows[$0] == wanted }
                    #expect(list.places(of: wanted) == expected)
                }
                #expect(list.places(of: RowID(entity: 9, key: 9)).isEmpty)
            }
            #expect(list.rows(10..<20) == Array(rows[10..<20]))
        }
    }
}
