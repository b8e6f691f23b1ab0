import CoreData
import Foundation
import Stores
import Testing

@Suite struct ObjectTests {
    @Test(arguments: StoreKind.allCases)
    func everyKindOfValueComesBackAsItWasSaved(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let person = try bench.person("Ada")
        let key = try #require(UUID(uuidString: "6E0E5F5C-0000-4000-8000-000000000001"))
        let values: [String: Any] = [
            "age": 36, "birthday": Date(timeIntervalSinceReferenceDate: 12.5), "score": 0.25,
            "active": false, "key": key, "photo": Data([1, 2, 3]),
            "site": try #require(URL(string: "https://example.org/a")),
            "balance": try #require(Decimal(string: "12.34")), "colors": ["red", "blue"],
        ]
        for (key, value) in values { person.setValue(value, forKey: key) }
        try bench.context.save()
        let other = try bench.twin(person, in: bench.newContext())
        #expect(other.value(forKey: "age") as? Int == 36)
        #expect(other.value(forKey: "birthday") as? Date == values["birthday"] as? Date)
        #expect(other.value(forKey: "score") as? Double == 0.25)
        #expect(other.value(forKey: "active") as? Bool == false)
        #expect(other.value(forKey: "key") as? UUID == key)
        #expect(other.value(forKey: "photo") as? Data == Data([1, 2, 3]))
        #expect((other.value(forKey: "site") as? URL)?.absoluteString == "https://example.org/a")
        #expect(other.value(forKey: "balance") as? Decimal == Decimal(string: "12.34"))
        #expect(other.value(forKey: "colors") as? [String] == ["red", "blue"])
        #expect(other.value(forKey: "nick") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func theManagedWrapperReadsAndWritesTypedValues(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let bob = try bench.person("Bob")
        #expect(ada.isActive)
        ada.name = "Ada L."
        ada.age = 36
        ada.score = 1.5
        ada.spouse = bob
        ada.friends = [bob]
        ada.colors = ["green"]
        #expect(ada.name == "Ada L." && ada.age == 36 && ada.score == 1.5)
        #expect(bob.spouse === ada && bob.friends == [ada] && ada.birthday == nil)
        ada.spouse = nil
        #expect(bob.spouse == nil)
        try bench.context.save()
        #expect(try bench.twin(ada, in: bench.newContext()).colors == ["green"])
    }

    @Test(arguments: StoreKind.allCases)
    func aNewObjectIsInsertedUntilItIsSaved(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let person = Person(context: bench.context)
        person.name = "Ada"
        #expect(person.isInserted && person.hasChanges && !person.isUpdated && !person.isFault)
        #expect(person.objectID.isTemporaryID)
        #expect(bench.context.insertedObjects == [person] && bench.context.hasChanges)
        try bench.context.save()
        #expect(!person.isInserted && !person.hasChanges && !bench.context.hasChanges)
        #expect(!person.objectID.isTemporaryID)
        person.age = 3
        #expect(person.isUpdated && bench.context.updatedObjects == [person])
        #expect(person.changedValues().keys.sorted() == ["age"])
        #expect(person.committedValues(forKeys: ["age"])["age"] as? Int == 0)
        #expect(person.changedValuesForCurrentEvent()["age"] as? Int == 0)
        bench.context.processPendingChanges()
        #expect(person.changedValuesForCurrentEvent().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func subclassesHearOfEachStepOfLife(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let person = try bench.person("Ada")
        try bench.context.save()
        #expect(person.calls == ["awakeFromInsert", "willSave", "didSave"])
        let other = bench.newContext()
        let twin = try bench.twin(person, in: other)
        #expect(twin.calls == ["awakeFromFetch"])
        other.delete(twin)
        #expect(twin.calls.last == "prepareForDeletion")
    }

    /// An app may keep an ID longer than its stack, and look it up in another by its URI.
    @Test(arguments: [StoreKind.sqlite, .xml])
    func anIDThatOutlivesItsStoreHasTheSameURI(_ kind: StoreKind) throws {
        func made() throws -> (NSManagedObjectID, URL) {
            let bench = try Bench(kind)
            let person = try bench.person("Ada")
            try bench.context.save()
            return (person.objectID, person.objectID.uriRepresentation())
        }
        let (id, uri) = try made()
        #expect(id.persistentStore == nil && !id.isTemporaryID)
        #expect(id.uriRepresentation().host() == uri.host() && uri.host() != nil)
        if kind == .sqlite { #expect(id.uriRepresentation() == uri) }
    }

    @Test(arguments: StoreKind.allCases)
    func anIDNamesOneInstanceInEachContextAndGoesThroughItsURI(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let person = try bench.person("Ada")
        let temporary = person.objectID.uriRepresentation()
        #expect(temporary.absoluteString.hasPrefix("x-coredata:///Person/t"))
        #expect(bench.coordinator.managedObjectID(forURIRepresentation: temporary) == nil)
        try bench.context.save()
        let uri = person.objectID.uriRepresentation()
        let key = try #require(person.objectID.rowID).key
        #expect(uri.absoluteString == "x-coredata://\(bench.store.identifier ?? "")/Person/p\(key)")
        let id = try #require(bench.coordinator.managedObjectID(forURIRepresentation: uri))
        #expect(id === person.objectID)
        #expect(bench.context.object(with: id) === person)
        let other = bench.newContext()
        let twin = try other.existingObject(with: id)
        #expect(twin !== person && twin.objectID == person.objectID)
        #expect(other.object(with: id) === twin && other.registeredObject(for: id) === twin)
        #expect(id.persistentStore === bench.store && id.entity.name == "Person")
    }

    @Test func objectsAndIDsThatNobodyHoldsAreForgotten() throws {
        let bench = try Bench(.memory)
        weak var object: NSManagedObject?
        weak var id: NSManagedObjectID?
        func fill(watching: Bool) throws {
            for index in 0..<3000 {
                let tag = try bench.make("Tag", "\(index)")
                if watching && index == 0 {
                    object = tag
                    id = tag.objectID
                }
            }
            try bench.context.save()
        }
        try fill(watching: true)
        #expect(object == nil && id != nil)
        try fill(watching: false)
        #expect(id == nil)
        #expect(bench.context.registeredObjects.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func transientValuesStayInTheObject(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let person = try bench.person("Ada")
        person.setValue("note", forKey: "scratch")
        try bench.context.save()
        #expect(person.value(forKey: "scratch") as? String == "note")
        #expect(try bench.twin(person, in: bench.newContext()).value(forKey: "scratch") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func primitiveValuesChangeWithoutMarkingTheObject(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let person = try bench.person("Ada")
        try bench.context.save()
        person.setPrimitiveValue("Bea", forKey: "name")
        #expect(!person.hasChanges && person.primitiveValue(forKey: "name") as? String == "Bea")
        person.willChangeValue(forKey: "name")
        person.didChangeValue(forKey: "name")
        #expect(person.isUpdated)
        try bench.context.save()
        #expect(try bench.twin(person, in: bench.newContext()).name == "Bea")
    }

    @Test func anUndefinedKeyStopsWithTheEntityAndTheKey() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let bench = try Bench(.memory)
            _ = try bench.person("Ada").value(forKey: "nme")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("\"Person\" has no property \"nme\""))
    }

    @Test func aValueOfTheWrongTypeFailsTheSaveByName() throws {
        let bench = try Bench(.memory)
        let person = try bench.person("Ada")
        person.setValue("old", forKey: "age")
        #expect(person.value(forKey: "age") as? String == "old")
        let error = try #require(throws: NSError.self) { try bench.context.save() }
        #expect(error.code == NSManagedObjectValidationError)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "age")
        #expect(error.localizedDescription.contains("\"Person\""))
        person.setValue(4, forKey: "age")
        try bench.context.save()
        #expect(person.age == 4)
    }

    @Test func anObjectWithoutAContextComesAlongWhenLinked() throws {
        let bench = try Bench(.memory)
        let entity = try #require(bench.coordinator.managedObjectModel.entitiesByName["Person"])
        let loner = Person(entity: entity, insertInto: nil)
        loner.name = "Eve"
        let ada = try bench.person("Ada")
        ada.spouse = loner
        #expect(loner.managedObjectContext === bench.context && loner.spouse === ada)
        try bench.context.save()
        #expect(!loner.objectID.isTemporaryID)
    }
}
