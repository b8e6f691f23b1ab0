import CoreData
import Foundation
import Testing

/// What one event changed: the notification, the values before, and what leaves no mark.
@Suite struct ChangeEventTests {
    @Test(arguments: StoreKind.allCases)
    func theValuesBeforeCanBeReadWhileTheEventIsPosted(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let bob = try bench.person("Bob")
        let sales = try bench.make("Department", "Sales")
        ada.department = sales
        try bench.context.save()
        var seen: [[String: Any]] = []
        let token = observe(bench.context) { _ in
            seen.append(ada.changedValuesForCurrentEvent())
            seen.append(sales.changedValuesForCurrentEvent())
        }
        defer { NotificationCenter.default.removeObserver(token) }
        ada.name = "Bea"
        ada.name = "Cid"
        ada.department = nil
        bob.department = sales
        bench.context.processPendingChanges()
        #expect(seen[0].keys.sorted() == ["department", "name"])
        #expect(seen[0]["name"] as? String == "Ada")
        #expect(seen[0]["department"] as? NSManagedObject === sales)
        #expect(seen[1]["employees"] as? Set<NSManagedObject> == [ada])
        #expect(ada.changedValuesForCurrentEvent().isEmpty)
        // The second event begins with what the first left.
        ada.name = "Dan"
        bench.context.processPendingChanges()
        #expect(seen[2].keys.sorted() == ["name"] && seen[2]["name"] as? String == "Cid")
    }

    @Test func anObserverMayChangeWhatItIsToldOf() throws {
        let bench = try Bench(.memory)
        let ada = try bench.person("Ada")
        try bench.context.save()
        var seen: [String?] = []
        let token = observe(bench.context) { _ in
            let first = ada.changedValuesForCurrentEvent()["name"] as? String
            if seen.isEmpty { ada.name = "Observer's" }
            seen.append(first)
            // Still what this event is about.
            #expect(ada.changedValuesForCurrentEvent()["name"] as? String == first)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        ada.name = "Program's"
        bench.context.processPendingChanges()
        #expect(ada.changedValuesForCurrentEvent()["name"] as? String == "Program's")
        bench.context.processPendingChanges()
        #expect(seen == ["Ada", "Program's"])
        bench.context.processPendingChanges()
        #expect(seen.count == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func awakeningLeavesNoDirt(_ kind: StoreKind) throws {
        let entity = TestModel.entity("Waking", of: Waking.self)
        let tag = TestModel.entity("Label")
        entity.properties = [
            TestModel.attribute("name", .stringAttributeType),
            TestModel.attribute("note", .stringAttributeType),
        ]
        tag.properties = [TestModel.attribute("name", .stringAttributeType)]
        TestModel.link(entity, "label", .one, tag, "wakings", .many)
        let model = NSManagedObjectModel()
        model.entities = [entity, tag]
        let bench = try Bench(kind, model: model)
        let waking = Waking(entity: entity, insertInto: bench.context)
        waking.setValue(try bench.make("Label", "L"), forKey: "label")
        try bench.context.save()
        let other = bench.newContext()
        let twin = try #require(try other.existingObject(with: waking.objectID) as? Waking)
        #expect(twin.value(forKey: "note") as? String == "awake")
        let label = try #require(twin.value(forKey: "label") as? NSManagedObject)
        #expect(label.value(forKey: "name") as? String == "touched")
        #expect(!twin.hasChanges && !label.hasChanges && !other.hasChanges)
        twin.setValue("n", forKey: "name")
        #expect(other.updatedObjects == [twin])
    }

    @Test func willSaveIsCalledUntilNothingChanges() throws {
        let bench = try Bench(.sqlite, model: Restless.model())
        let object = Restless(entity: try bench.named("Restless"), insertInto: bench.context)
        object.target = 5
        try bench.context.save()
        #expect(object.value(forKey: "count") as? Int == 5 && object.calls == 6)
        #expect(object.saves == 1)
        object.target = .max
        object.setValue(0, forKey: "count")
        let error = try #require(throws: NSError.self) { try bench.context.save() }
        #expect(error.localizedDescription.contains("still dirty after 1000 attempts"))
        #expect(bench.context.hasChanges)
    }

    /// As programs tell others of what was saved.
    @Test(arguments: [StoreKind.sqlite, .memory])
    func didSaveKnowsWhatTheSaveDid(_ kind: StoreKind) throws {
        let bench = try Bench(kind, model: Witness.model())
        let entity = try bench.named("Witness")
        let object = Witness(entity: entity, insertInto: bench.context)
        try bench.context.save()
        #expect(!object.isInserted && !object.isUpdated)
        object.setValue("b", forKey: "name")
        try bench.context.save()
        bench.context.delete(object)
        try bench.context.save()
        #expect(object.heard == ["inserted", "updated", "deleted"])
        // What changes meanwhile is a change of what is stored.
        let again = Witness(entity: entity, insertInto: bench.context)
        again.changesOnce = true
        try bench.context.save()
        #expect(again.heard == ["inserted", "updated"] && !again.hasChanges)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = bench.context
        let own = try child.performAndWait {
            let own = Witness(entity: entity, insertInto: child)
            try child.save()
            return own.heard
        }
        #expect(own == ["inserted"])
        try bench.context.save()
        let request = NSFetchRequest<Witness>(entityName: "Witness")
        #expect(try bench.newContext().count(for: request) == 2)
    }

    @Test func deletionsWaitForTheSaveWhereTheyShould() throws {
        let bench = try Bench(.sqlite)
        let sales = try bench.make("Department", "Sales")
        let ada = try bench.person("Ada")
        ada.department = sales
        try bench.context.save()
        bench.context.propagatesDeletesAtEndOfEvent = false
        bench.context.delete(sales)
        bench.context.processPendingChanges()
        #expect(ada.department === sales && sales.isDeleted)
        try bench.context.save()
        #expect(ada.department == nil)
    }

    private func observe(
        _ context: NSManagedObjectContext, _ work: @escaping (Notification) -> Void
    ) -> any NSObjectProtocol {
        nonisolated(unsafe) let work = work
        return NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { work($0) }
    }
}

private final class Waking: NSManagedObject {
    override func awakeFromFetch() {
        setValue("awake", forKey: "note")
        (value(forKey: "label") as? NSManagedObject)?.setValue("touched", forKey: "name")
    }
}

private final class Restless: NSManagedObject {
    var target = 0
    var calls = 0
    var saves = 0

    static func model() -> NSManagedObjectModel {
        let entity = TestModel.entity("Restless", of: Restless.self)
        entity.properties = [TestModel.attribute("count", .integer64AttributeType, default: 0)]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    override func willSave() {
        calls += 1
        let count = value(forKey: "count") as? Int ?? 0
        if count < target { setValue(count + 1, forKey: "count") }
    }

    override func didSave() { saves += 1 }
}

private final class Witness: NSManagedObject {
    var heard: [String] = []
    var changesOnce = false

    static func model() -> NSManagedObjectModel {
        let entity = TestModel.entity("Witness", of: Witness.self)
        entity.properties = [TestModel.attribute("name", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    override func didSave() {
        let deeds = [(isDeleted, "deleted"), (isInserted, "inserted"), (isUpdated, "updated")]
        heard.append(deeds.first { $0.0 }?.1 ?? "nothing")
        guard changesOnce else { return }
        changesOnce = false
        setValue("c", forKey: "name")
        try? managedObjectContext?.save()
    }
}
