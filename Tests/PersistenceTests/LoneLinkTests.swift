import CoreData
import Foundation
import Testing

/// Links without inverse to what somebody else deleted, while this context heard nothing of it.
@Suite struct LoneLinkTests {
    static let kinds: [StoreKind] = [.memory, .sqlite]

    private static func model(mandatory: Bool = false) throws -> NSManagedObjectModel {
        let model = TestModel.make()
        let person = try #require(model.entitiesByName["Person"])
        let tag = try #require(model.entitiesByName["Tag"])
        person.declaredProperties.append(TestModel.relationship("picks", .ordered, to: tag))
        person.relationshipsByName["home"]?.isOptional = !mandatory
        return model
    }

    /// Ada, and two tags of which another context does not know that one is gone.
    private func stage(
        _ kind: StoreKind, holdingTag: Bool, mandatory: Bool = false
    ) throws -> (bench: Bench, ada: Person, ids: [NSManagedObjectID], twins: [NSManagedObject]) {
        let bench = try Bench(kind, model: Self.model(mandatory: mandatory))
        let ada = try bench.person("Ada")
        let tags = try ["gone", "there"].map { try bench.make("Tag", $0) }
        ada.setValue(tags[1], forKey: "home")
        try bench.context.save()
        let other = bench.newContext()
        let twin = try bench.twin(ada, in: other)
        let twins = holdingTag ? try tags.map { try bench.twin($0, in: other) } : []
        let ids = tags.map(\.objectID)
        bench.context.delete(tags[0])
        try bench.context.save()
        return (bench, twin, ids, twins)
    }

    @Test(arguments: kinds, [true, false])
    func linksToWhatIsGoneAreNotWritten(_ kind: StoreKind, _ holdingTag: Bool) throws {
        let (bench, ada, ids, twins) = try stage(kind, holdingTag: holdingTag)
        let other = try #require(ada.managedObjectContext)
        let tags = ids.map(other.object(with:))
        ada.setValue(tags[0], forKey: "home")
        ada.setValue(Set(tags), forKey: "tags")
        ada.setValue(NSOrderedSet(array: tags), forKey: "picks")
        ada.age = 7
        let bob = try bench.person("Bob", in: other)
        bob.setValue(tags[0], forKey: "home")
        try other.save()
        #expect(try GoneObjectTests.danglingLinks(bench) == [])
        let stored = try bench.twin(ada, in: bench.newContext())
        for person in [ada, stored] {
            #expect(person.age == 7 && person.value(forKey: "home") == nil)
            #expect(bench.names(person.value(forKey: "tags")) == ["there"])
            #expect(bench.order(person.value(forKey: "picks")) == ["there"])
        }
        #expect(bob.value(forKey: "home") == nil && !other.hasChanges)
        #expect(twins.first?.managedObjectContext == nil)
    }

    @Test(arguments: kinds)
    func aMandatoryOneFailsTheSaveByName(_ kind: StoreKind) throws {
        let (bench, ada, ids, twins) = try stage(kind, holdingTag: true, mandatory: true)
        let other = try #require(ada.managedObjectContext)
        ada.setValue(twins[0], forKey: "home")
        let error = try #require(throws: NSError.self) { try other.save() }
        #expect(error.code == NSValidationMissingMandatoryPropertyError)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "home")
        ada.setValue(other.object(with: ids[1]), forKey: "home")
        ada.age = 3
        try other.save()
        #expect(try GoneObjectTests.danglingLinks(bench) == [])
    }

    /// Objects that the same save makes are there, whoever leads to them.
    @Test(arguments: StoreKind.allCases)
    func linksToNewObjectsAreWritten(_ kind: StoreKind) throws {
        let bench = try Bench(kind, model: Self.model())
        let ada = try bench.person("Ada")
        ada.setValue(try bench.make("Tag", "new"), forKey: "home")
        ada.setValue(NSOrderedSet(object: try bench.make("Tag", "pick")), forKey: "picks")
        try bench.context.save()
        let stored = try bench.twin(ada, in: bench.newContext())
        #expect(stored.value(forKeyPath: "home.name") as? String == "new")
        #expect(bench.order(stored.value(forKey: "picks")) == ["pick"])
    }
}
