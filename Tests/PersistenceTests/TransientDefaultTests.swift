import CoreData
import Foundation
import Testing

/// Transient attributes begin with their default values, as stored ones do.
@Suite struct TransientDefaultTests {
    private func bench() throws -> Bench {
        let note = TestModel.entity("Note")
        let mood = TestModel.attribute("mood", .stringAttributeType, default: "calm")
        let visits = TestModel.attribute("visits", .integer32AttributeType, default: 3)
        for transient in [mood, visits] { transient.isTransient = true }
        note.properties = [TestModel.attribute("name", .stringAttributeType), mood, visits]
        let model = NSManagedObjectModel()
        model.entities = [note]
        return try Bench(.sqlite, model: model)
    }

    private func values(_ note: NSManagedObject) -> String {
        let mood = note.value(forKey: "mood") as? String
        return "\(mood ?? "none") \(note.value(forKey: "visits") as? Int ?? 0)"
    }

    @Test func newObjectsHaveThem() throws {
        let bench = try bench()
        let lone = NSManagedObject(entity: try bench.named("Note"), insertInto: nil)
        #expect(values(lone) == "calm 3")
        let note = try bench.make("Note", "a")
        #expect(values(note) == "calm 3")
        note.setValue(nil, forKey: "mood")
        note.setValue(4, forKey: "visits")
        try bench.context.save()
        #expect(values(note) == "none 4")
        #expect(values(try bench.twin(note, in: bench.newContext())) == "none 0")
        bench.context.refresh(note, mergeChanges: false)
        #expect(values(note) == "none 0")
    }

    @Test func aNewObjectThatIsRefreshedHasThemAgain() throws {
        let bench = try bench()
        let note = try bench.make("Note", "a")
        note.setValue("wild", forKey: "mood")
        bench.context.refresh(note, mergeChanges: false)
        #expect(values(note) == "calm 3")
    }

    @Test func aParentTakesWhatTheChildHas() throws {
        let bench = try bench()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = bench.context
        let note = try bench.make("Note", "a", in: child)
        note.setValue(nil, forKey: "mood")
        try child.save()
        let own = try #require(bench.context.insertedObjects.first)
        #expect(values(own) == "none 3")
    }

    @Test func fetchedObjectsHaveNone() throws {
        let bench = try bench()
        try bench.make("Note", "a")
        try bench.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        let found = try #require(try bench.newContext().fetch(request).first)
        #expect(values(found) == "none 0" && !found.hasChanges)
    }
}
