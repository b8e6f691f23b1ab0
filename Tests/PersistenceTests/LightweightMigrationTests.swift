import CoreData
import Foundation
import SQLiteDriver
import Testing

/// What follows from two versions of a model by themselves, on stores of each type.
@Suite struct LightweightMigrationTests {
    static let files: [StoreKind] = [.sqlite, .xml, .binary]

    private let first = VersionDraft.model { draft in
        draft.entity(
            "Person", [text("name"), text("email"), number("age"), text("nick")])
        draft.entity("Group", [text("name")])
        draft.entity("Old", [text("name")])
        draft.link("Person", "group", .one, "Group", "members", .many)
    }

    private func fill(_ context: NSManagedObjectContext) {
        let club = context.make("Group", ["name": "Club"])
        _ = context.make("Group", ["name": "Empty"])
        for (name, age) in [("Ada", 36), ("Bob", 20)] {
            _ = context.make(
                "Person",
                ["name": name, "age": age, "email": "\(name)@x", "nick": "n", "group": club])
        }
        _ = context.make("Old", ["name": "gone"])
    }

    @Test(arguments: files) func addsRemovesAndRenames(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        try bench.fill(first, fill)
        let second = VersionDraft.model { draft in
            draft.entity(
                "Human",
                [
                    text("name"), text("mail", from: "email"), number("age"),
                    number("level", optional: false, 7), text("title", optional: true, "Dr"),
                    number("rank"),
                ], from: "Person")
            draft.entity("Aardvark", [text("name")])
            draft.entity("Group", [text("name")])
            draft.link("Human", "team", .one, "Group", "people", .many)
            draft.rename("Human", "team", from: "group")
            draft.rename("Group", "people", from: "members")
        }
        try bench.open(second) { context throws in
            let ada = try context.one("Human", "Ada")
            #expect(ada.string("mail") == "Ada@x")
            #expect(ada.int("age") == 36)
            #expect(ada.int("level") == 7)
            #expect(ada.string("title") == "Dr")
            #expect(ada.value(forKey: "rank") == nil)
            #expect(ada.names("team") == ["Club"])
            #expect(try context.one("Group", "Club").names("people") == ["Ada", "Bob"])
            #expect(try context.one("Group", "Empty").names("people") == [])
            #expect(try context.all("Aardvark").isEmpty)
            let eve = context.make("Human", ["name": "Eve"])
            eve.setValue(try context.one("Group", "Empty"), forKey: "team")
            try context.save()
        }
        try bench.open(second, options: [:]) { context throws in
            #expect(try context.all("Human").map { $0.string("name") } == ["Ada", "Bob", "Eve"])
        }
        if kind == .sqlite { try bench.expectFreshShape(second) }
        #expect(bench.names == ["store.\(kind.rawValue)"])
    }

    /// A version that no longer gives an identifier has not renamed anything again, and what takes
    /// up a name of before is new.
    @Test(arguments: files) func namesCountOnceIdentifiersAreGone(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        try bench.fill(first, fill)
        let second = VersionDraft.model { draft in
            draft.entity(
                "Human",
                [text("name"), text("email", from: "nick"), text("nick", from: "email")],
                from: "Person")
            draft.entity("Group", [text("title", from: "name")])
            draft.link("Human", "team", .one, "Group", "people", .many)
            draft.rename("Human", "team", from: "group")
            draft.rename("Group", "people", from: "members")
        }
        try bench.open(second) { context throws in
            #expect(try context.one("Human", "Ada").string("nick") == "Ada@x")
        }
        let third = VersionDraft.model { draft in
            draft.entity("Human", [text("name"), text("email"), text("nick"), text("more")])
            draft.entity("Group", [text("title"), text("name")])
            draft.entity("Person", [text("name")])
            draft.link("Human", "team", .one, "Group", "people", .many)
            draft.link("Human", "group", .one, "Group", "members", .many)
        }
        try bench.open(third) { context throws in
            let ada = try context.one("Human", "Ada")
            #expect(ada.string("nick") == "Ada@x" && ada.string("email") == "n")
            let team = try #require(ada.value(forKey: "team") as? NSManagedObject)
            #expect(team.string("title") == "Club" && team.value(forKey: "name") == nil)
            #expect(team.names("people") == ["Ada", "Bob"] && team.names("members") == [])
            #expect(ada.value(forKey: "group") == nil)
            #expect(try context.all("Person").isEmpty)
        }
        if kind == .sqlite { try bench.expectFreshShape(third) }
    }

    @Test func keepsKeysIdentifierAndMetadata() throws {
        let bench = try MigrationBench()
        try bench.fill(first, fill)
        let before = try bench.open(first) { context -> (String, String) in
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
            store.metadata["answer"] = 42
            let ada = try context.one("Person", "Ada")
            return (store.identifier, ada.objectID.uriRepresentation().lastPathComponent)
        }
        let second = VersionDraft.model { draft in
            draft.entity("Person", [text("name"), number("added")])
        }
        try bench.open(second) { context throws in
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
            #expect(store.identifier == before.0)
            #expect(store.metadata["answer"] as? Int == 42)
            let ada = try context.one("Person", "Ada")
            #expect(ada.objectID.uriRepresentation().lastPathComponent == before.1)
        }
        try bench.expectFreshShape(second)
    }

    @Test func historyIsKeptInTheNewTerms() throws {
        let bench = try MigrationBench()
        try bench.fill(first, fill)
        try bench.open(first) { context throws in
            let ada = try context.one("Person", "Ada")
            ada.setValue("changed", forKey: "email")
            ada.setValue(nil, forKey: "group")
            try context.save()
        }
        let second = VersionDraft.model { draft in
            draft.entity("Zebra", [text("name"), text("mail", from: "email")], from: "Person")
            draft.entity("Group", [text("name"), text("about")])
            draft.entity("Bee", [text("name")])
            draft.link("Zebra", "group", .one, "Group", "members", .many)
        }
        try bench.open(second) { context throws in
            let request = NSPersistentHistoryChangeRequest.fetchHistory(
                after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let all = try #require(result?.result as? [NSPersistentHistoryTransaction])
            #expect(all.map(\.transactionNumber) == [1, 2])
            let entities = all[0].changes?.map { $0.changedObjectID.entity.name ?? "" } ?? []
            // The object of the entity that is gone is not in it any more.
            #expect(entities.sorted() == ["Group", "Group", "Zebra", "Zebra"])
            let update = try #require(
                all[1].changes?.first { $0.changedObjectID.entity.name == "Zebra" })
            #expect(Set(update.updatedProperties?.map(\.name) ?? []) == ["mail", "group"])
            #expect(try context.one("Zebra", "Ada").objectID == update.changedObjectID)
            _ = context.make("Bee", ["name": "b"])
            try context.save()
        }
    }

    // MARK: Types and rules

    @Test(arguments: files) func numbersGetWider(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        func model(_ small: NSAttributeType, _ real: NSAttributeType) -> NSManagedObjectModel {
            VersionDraft.model {
                $0.entity("T", [text("name"), number("count", small), number("size", real)])
            }
        }
        try bench.fill(model(.integer16AttributeType, .floatAttributeType)) {
            _ = $0.make("T", ["name": "a", "count": 300, "size": 1.5])
        }
        try bench.open(model(.integer64AttributeType, .doubleAttributeType)) { context throws in
            let object = try context.one("T", "a")
            object.setValue(1 << 40, forKey: "count")
            try context.save()
            #expect(object.value(forKey: "size") as? Double == 1.5)
        }
    }

    @Test(arguments: files) func anotherTypeIsRefusedWithTheReason(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        try bench.fill(first, fill)
        let second = VersionDraft.model { draft in
            draft.entity("Person", [text("name"), text("age")])
        }
        let error = try cocoaError { try bench.open(second) { _ in } }
        #expect(error.code == NSMigrationMissingMappingModelError)
        let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
        #expect(cause.code == NSInferredMappingModelError)
        #expect(
            cause.userInfo["reason"] as? String
                == "Source and destination attribute types are incompatible")
        #expect(cause.userInfo["entity"] as? String == "Person")
        #expect(cause.userInfo["property"] as? String == "age")
        let direct = try cocoaError {
            _ = try NSMappingModel.inferredMappingModel(
                forSourceModel: first, destinationModel: second)
        }
        #expect(direct.code == 134190)
        try bench.open(first, options: [:]) { context throws in
            #expect(try context.all("Person").count == 2)
        }
    }

    @Test func withoutTheOptionsNothingIsMigrated() throws {
        let bench = try MigrationBench()
        try bench.fill(first, fill)
        let second = VersionDraft.model { $0.entity("Person", [text("name")]) }
        let refused = try cocoaError { try bench.open(second, options: [:]) { _ in } }
        #expect(refused.code == NSPersistentStoreIncompatibleVersionHashError)
        let unmapped = try cocoaError {
            try bench.open(
                second, options: [NSMigratePersistentStoresAutomaticallyOption: true]
            ) { _ in }
        }
        #expect(unmapped.code == NSMigrationMissingMappingModelError)
    }

    @Test func aStoreOfAnUnknownVersionIsNamed() throws {
        let bench = try MigrationBench()
        try bench.fill(first, fill)
        let connection = try Connection(path: bench.url.path)
        let plist = try #require(try connection.value("SELECT Z_PLIST FROM Z_METADATA")?.data)
        var metadata = try #require(
            try PropertyListSerialization.propertyList(from: plist, format: nil) as? [String: Any])
        metadata[NSStoreModelVersionHashesKey] = ["Person": Data(repeating: 1, count: 32)]
        let changed = try PropertyListSerialization.data(
            fromPropertyList: metadata, format: .binary, options: 0)
        try connection.run("UPDATE Z_METADATA SET Z_PLIST = ?", [.blob(changed)])
        let second = VersionDraft.model { $0.entity("Person", [text("name")]) }
        let error = try cocoaError { try bench.open(second) { _ in } }
        #expect(error.code == NSMigrationMissingSourceModelError)
        #expect(error.userInfo["metadata"] is [String: Any])
    }

    @Test(arguments: files) func mandatoryWithADefaultIsFilled(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        try bench.fill(first) { context throws in
            _ = context.make("Person", ["name": "Ada", "nick": "a"])
            _ = context.make("Person", ["name": "Bob"])
        }
        let second = VersionDraft.model { draft in
            draft.entity("Person", [text("name"), text("nick", optional: false, "none")])
        }
        try bench.open(second) { context throws in
            #expect(try context.one("Person", "Ada").string("nick") == "a")
            #expect(try context.one("Person", "Bob").string("nick") == "none")
        }
        if kind == .sqlite { try bench.expectFreshShape(second) }
    }

    @Test func mandatoryWithoutAValueIsAnError() throws {
        let bench = try MigrationBench()
        try bench.fill(first, fill)
        let second = VersionDraft.model { draft in
            draft.entity("Person", [text("name"), text("must", optional: false)])
        }
        let error = try cocoaError { try bench.open(second) { _ in } }
        #expect(error.code == NSMigrationError)
        let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
        #expect(cause.userInfo["attribute"] as? String == "must")
        #expect(cause.userInfo["entity"] as? String == "Person")
        try bench.open(first, options: [:]) { context throws in
            #expect(try context.all("Person").count == 2)
        }
    }

    @Test func equalValuesBreakANewConstraint() throws {
        let bench = try MigrationBench()
        try bench.fill(first, fill)
        func unique(_ key: String) -> NSManagedObjectModel {
            VersionDraft.model { draft in
                draft.entity("Person", [text("name"), text("nick")], unique: [[key]])
            }
        }
        let error = try cocoaError { try bench.open(unique("nick")) { _ in } }
        #expect(error.code == NSMigrationError)
        let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
        #expect(cause.code == NSMigrationConstraintViolationError)
        #expect(cause.userInfo["constraint"] as? String == "nick")
        try bench.open(first, options: [:]) { context throws in
            #expect(try context.all("Person").count == 2)
        }
        try bench.open(unique("name")) { context throws in
            #expect(try context.all("Person").count == 2)
        }
        try bench.expectFreshShape(unique("name"))
    }
}
