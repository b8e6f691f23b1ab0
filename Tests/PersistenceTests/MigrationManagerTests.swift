import CoreData
import Foundation
import Testing

import class CoreData.NSExpression

/// Follows what a policy was asked to do, and splits people into a person and an address.
final class SplittingPolicy: NSEntityMigrationPolicy, @unchecked Sendable {
    // @unchecked: used by one migration, on its thread.
    private func note(_ what: String, _ manager: NSMigrationManager) {
        let log = manager.userInfo?["log"] as? NSMutableArray
        if (log?.lastObject as? String) != what { log?.add(what) }
    }

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        note("begin \(mapping.name ?? "")", manager)
    }

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        note("create", manager)
        try super.createDestinationInstances(
            forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(
            forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        let address = NSEntityDescription.insertNewObject(
            forEntityName: "Address", into: manager.destinationContext)
        address.setValue(sInstance.value(forKey: "street"), forKey: "name")
        made.first?.setValue(address, forKey: "address")
    }

    override func endInstanceCreation(
        forMapping mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        note("endInstances", manager)
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        note("relate", manager)
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    }

    override func endRelationshipCreation(
        forMapping mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        note("endRelationships", manager)
    }

    override func performCustomValidation(
        forMapping mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        note("validate", manager)
    }

    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("end \(mapping.name ?? "")", manager)
    }

    override func value(ofFunction name: String, arguments: [Any?]) throws -> Any? {
        guard name == "years:" else {
            return try super.value(ofFunction: name, arguments: arguments)
        }
        return (arguments.first as? String).flatMap { Int($0) }
    }
}

/// Ends every migration at its third object.
final class CancellingPolicy: NSEntityMigrationPolicy, @unchecked Sendable {
    // @unchecked: used by one migration, on its thread.
    struct Enough: Error {}
    private var count = 0

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        count += 1
        if count == 3 { manager.cancelMigrationWithError(Enough()) }
        try super.createDestinationInstances(
            forSource: sInstance, in: mapping, manager: manager)
    }
}

/// Keeps what it makes beyond the end of the migration.
final class KeepingPolicy: NSEntityMigrationPolicy, @unchecked Sendable {
    // @unchecked: used by one migration, on its thread.
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(
            forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(
            forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        let kept = manager.userInfo?["kept"] as? NSMutableArray
        for object in made { kept?.add(object) }
        kept?.add(manager.destinationContext)
    }
}

/// Migrations by mapping models, from each type of store to each.
@Suite struct MigrationManagerTests {
    static let files = LightweightMigrationTests.files

    private let first = VersionDraft.model { draft in
        draft.entity("Person", [text("name"), text("street"), text("age")])
        draft.entity("Team", [text("name")])
        draft.entity("Gone", [text("name")])
        draft.link("Person", "team", .one, "Team", "people", .many)
    }
    private let second = VersionDraft.model { draft in
        draft.entity("Human", [text("name"), number("age"), text("greeting")])
        draft.entity("Address", [text("name")])
        draft.entity("Team", [text("name")])
        draft.link("Human", "teams", .many, "Team", "members", .many)
        draft.link("Human", "address", .one, "Address", "human", .one)
    }

    private func fill(_ context: NSManagedObjectContext) {
        let team = context.make("Team", ["name": "T"])
        for (name, age) in [("Ada", "36"), ("Bob", "20"), ("Cyd", "x"), ("Dan", "4")] {
            _ = context.make(
                "Person", ["name": name, "age": age, "street": "\(name) road", "team": team])
        }
        _ = context.make("Gone", ["name": "g"])
    }

    private func property(_ name: String, _ expression: String) -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = name
        mapping.valueExpression = NSExpression(format: expression)
        return mapping
    }

    private func mapping(policy: String?) -> NSMappingModel {
        let people = NSEntityMapping()
        people.name = "PersonToHuman"
        people.mappingType = .customEntityMappingType
        people.sourceEntityName = "Person"
        people.destinationEntityName = "Human"
        people.entityMigrationPolicyClassName = policy
        people.attributeMappings = [
            property("name", "$source.name"),
            property("greeting", "FUNCTION($source.name, 'stringByAppendingString:', '!')"),
        ]
        if policy == NSStringFromClass(SplittingPolicy.self) {
            people.attributeMappings?.append(
                property("age", "FUNCTION($entityPolicy, 'years:', $source.age)"))
        }
        people.relationshipMappings = [
            property(
                "teams",
                "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', "
                    + "'TeamToTeam', $source.team)")
        ]
        let teams = NSEntityMapping()
        teams.name = "TeamToTeam"
        teams.mappingType = .copyEntityMappingType
        teams.sourceEntityName = "Team"
        teams.destinationEntityName = "Team"
        let gone = NSEntityMapping()
        gone.name = "Gone"
        gone.mappingType = .removeEntityMappingType
        gone.sourceEntityName = "Gone"
        let added = NSEntityMapping()
        added.name = "Address"
        added.mappingType = .addEntityMappingType
        added.destinationEntityName = "Address"
        let model = NSMappingModel()
        model.entityMappings = [people, teams, gone, added]
        return model
    }

    private func manager() -> NSMigrationManager {
        NSMigrationManager(sourceModel: first, destinationModel: second)
    }

    @Test(arguments: files, files)
    func aMappingIsFollowed(_ from: StoreKind, _ to: StoreKind) throws {
        let (old, new) = (try MigrationBench(from), try MigrationBench(to))
        try old.fill(first, fill)
        let manager = manager()
        let log = NSMutableArray()
        manager.userInfo = ["log": log]
        try manager.migrateStore(
            from: old.url, sourceType: from.type,
            with: mapping(policy: NSStringFromClass(SplittingPolicy.self)),
            toDestinationURL: new.url, destinationType: to.type)
        #expect(manager.migrationProgress == 1)
        #expect(
            log as? [String] == [
                "begin PersonToHuman", "create", "endInstances", "relate", "endRelationships",
                "validate", "end PersonToHuman",
            ])
        try new.open(second, options: [:]) { context throws in
            #expect(try context.all("Human").count == 4)
            let ada = try context.one("Human", "Ada")
            #expect(ada.int("age") == 36)
            #expect(try context.one("Human", "Cyd").value(forKey: "age") == nil)
            #expect(ada.string("greeting") == "Ada!")
            #expect(ada.names("teams") == ["T"])
            #expect(ada.names("address") == ["Ada road"])
            #expect(try context.all("Address").count == 4)
            #expect(try context.one("Team", "T").names("members") == ["Ada", "Bob", "Cyd", "Dan"])
        }
        try old.open(first, options: [:]) { context throws in
            #expect(try context.all("Person").count == 4)
        }
    }

    /// Nothing may work on a file that is called otherwise than when it was opened.
    @Test(arguments: [false, true])
    func aNewStoreIsAllThatAMigrationLeaves(isKept: Bool) throws {
        let (old, new) = (try MigrationBench(), try MigrationBench())
        try old.fill(first, fill)
        let manager = manager()
        let kept = NSMutableArray()
        manager.userInfo = ["kept": kept]
        try manager.migrateStore(
            from: old.url, sourceType: old.kind.type,
            with: mapping(policy: isKept ? NSStringFromClass(KeepingPolicy.self) : nil),
            toDestinationURL: new.url, destinationType: new.kind.type)
        #expect(kept.count == (isKept ? 8 : 0))
        #expect(leavings(of: new).isEmpty)
        try new.open(second, options: [:]) { context throws in
            #expect(try context.all("Human").count == 4)
            _ = context.make("Team", ["name": "U"])
            try context.save()
            #expect(leavings(of: new).isEmpty)
        }
        #expect(leavings(of: new).isEmpty)
        withExtendedLifetime((manager, kept)) {}
    }

    /// What no store is called by.
    private func leavings(of bench: MigrationBench) -> [String] {
        let found = try? FileManager.default.contentsOfDirectory(atPath: bench.folder.path)
        return (found ?? ["?"]).filter { !$0.hasPrefix(bench.url.lastPathComponent) }
    }

    @Test func aPolicyStopsTheMigrationAndNothingIsThere() throws {
        let (old, new) = (try MigrationBench(), try MigrationBench())
        try old.fill(first, fill)
        let manager = manager()
        let error = #expect(throws: NSError.self) {
            try manager.migrateStore(
                from: old.url, type: .sqlite,
                mapping: mapping(policy: NSStringFromClass(CancellingPolicy.self)), to: new.url,
                type: .sqlite)
        }
        #expect(error?.userInfo[NSUnderlyingErrorKey] is CancellingPolicy.Enough)
        #expect(manager.migrationProgress > 0 && manager.migrationProgress < 1)
        #expect(new.names.isEmpty)
    }

    /// Who cancels from another thread cannot know whether the migration has begun.
    @Test func aMigrationThatIsCancelledBeforeItBeginsDoesNotRun() throws {
        let (old, new) = (try MigrationBench(), try MigrationBench())
        try old.fill(first, fill)
        let manager = manager()
        func migrate() throws {
            try manager.migrateStore(
                from: old.url, type: .sqlite, mapping: mapping(policy: nil), to: new.url,
                type: .sqlite)
        }
        manager.cancelMigrationWithError(CancellingPolicy.Enough())
        let error = #expect(throws: NSError.self) { try migrate() }
        #expect(error?.userInfo[NSUnderlyingErrorKey] is CancellingPolicy.Enough)
        #expect(new.names.isEmpty)
        // It was for that migration only.
        try migrate()
        #expect(!new.names.isEmpty)
    }

    @Test func policiesAreFoundByName() throws {
        NSEntityMigrationPolicy.register([SplittingPolicy.self])
        let (old, new) = (try MigrationBench(), try MigrationBench())
        try old.fill(first, fill)
        for name in ["Elsewhere.SplittingPolicy", "SplittingPolicy"] {
            let place = new.folder.appendingPathComponent("\(name).sqlite")
            let manager = manager()
            try manager.migrateStore(
                from: old.url, type: .sqlite, mapping: mapping(policy: name), to: place,
                type: .sqlite)
            try new.open(second, at: place, options: [:]) { context throws in
                #expect(try context.all("Address").count == 4)
            }
        }
        let error = try cocoaError {
            try manager().migrateStore(
                from: old.url, type: .sqlite, mapping: mapping(policy: "NoSuchPolicy"),
                to: new.url, type: .sqlite)
        }
        #expect(error.code == NSEntityMigrationPolicyError)
    }

    @Test func invalidObjectsEndTheMigration() throws {
        let (old, new) = (try MigrationBench(), try MigrationBench())
        try old.fill(first, fill)
        let strict = VersionDraft.model { draft in
            draft.entity("Human", [text("name"), text("must", optional: false)])
        }
        let people = NSEntityMapping()
        people.name = "P"
        people.mappingType = .transformEntityMappingType
        people.sourceEntityName = "Person"
        people.destinationEntityName = "Human"
        let model = NSMappingModel()
        model.entityMappings = [people]
        let manager = NSMigrationManager(sourceModel: first, destinationModel: strict)
        let error = try cocoaError {
            try manager.migrateStore(
                from: old.url, type: .sqlite, mapping: model, to: new.url, type: .sqlite)
        }
        #expect(
            [NSValidationMultipleErrorsError, NSValidationMissingMandatoryPropertyError]
                .contains(error.code))
        #expect(new.names.isEmpty)
    }

    @Test func wrongStoresAreNamed() throws {
        let (old, new) = (try MigrationBench(), try MigrationBench())
        let source = try cocoaError {
            try manager().migrateStore(
                from: old.url, type: .sqlite, mapping: mapping(policy: nil), to: new.url,
                type: .sqlite)
        }
        #expect(source.code == NSMigrationManagerSourceStoreError)
        try old.fill(first, fill)
        let same = try cocoaError {
            try manager().migrateStore(
                from: old.url, type: .sqlite, mapping: mapping(policy: nil), to: old.url,
                type: .sqlite)
        }
        #expect(same.code == NSMigrationManagerDestinationStoreError)
        let none = try cocoaError {
            try manager().migrateStore(
                from: old.url, sourceType: NSSQLiteStoreType, with: nil,
                toDestinationURL: new.url, destinationType: NSSQLiteStoreType)
        }
        #expect(none.code == NSMigrationMissingMappingModelError)
    }

    @Test func aStoreThatIsThereGetsTheObjects() throws {
        let (old, new) = (try MigrationBench(), try MigrationBench())
        try old.fill(first, fill)
        try new.fill(second) { context in _ = context.make("Human", ["name": "Zoe"]) }
        try manager().migrateStore(
            from: old.url, type: .sqlite, mapping: mapping(policy: nil), to: new.url, type: .sqlite)
        try new.open(second, options: [:]) { context throws in
            #expect(
                try context.all("Human").map { $0.string("name") }
                    == ["Ada", "Bob", "Cyd", "Dan", "Zoe"])
        }
    }

    @Test(arguments: files) func inferredMappingsAreFollowedByObjects(_ kind: StoreKind) throws {
        let (old, new) = (try MigrationBench(kind), try MigrationBench())
        try old.fill(first, fill)
        let later = VersionDraft.model { draft in
            draft.entity("Person", [text("name"), text("years", from: "age")])
            draft.entity("Club", [text("name")], from: "Team")
            draft.link("Person", "team", .one, "Club", "people", .ordered)
        }
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: first, destinationModel: later)
        let types = mapping.entityMappings.map { "\($0.name ?? "") \($0.mappingType.rawValue)" }
        #expect(
            types == ["IEM_Transform_Team_Club 5", "IEM_Transform_Person 5", "IEM_Remove_Gone 3"])
        #expect(mapping.entityMappingsByName["IEM_Remove_Gone"]?.sourceEntityName == "Gone")
        try NSMigrationManager(sourceModel: first, destinationModel: later).migrateStore(
            from: old.url, type: .init(rawValue: kind.type), mapping: mapping, to: new.url,
            type: .sqlite)
        try new.open(later, options: [:]) { context throws in
            #expect(try context.one("Person", "Ada").string("years") == "36")
            #expect(Set(try context.one("Club", "T").names("people")).count == 4)
        }
    }
}
