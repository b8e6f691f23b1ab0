import CoreData
import Foundation
import Testing

/// How objects live: faults, what keeps them, what contexts say of them.
@Suite struct LifeTests {
    @Test(arguments: StoreKind.allCases)
    func readRelationshipsKeepTheirMembers(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let sales = try bench.make("Department", "Sales")
        try bench.person("Ada").department = sales
        try bench.context.save()
        var other: NSManagedObjectContext? = bench.newContext()
        let context = try #require(other)
        var twin: NSManagedObject? = context.object(with: sales.objectID)
        func employee() -> Person? { (twin?.value(forKey: "employees") as? Set<Person>)?.first }
        #expect(employee()?.name == "Ada")
        #expect(employee()?.department === twin)
        weak var held = employee()
        #expect(held?.isFault == false && held?.calls == ["awakeFromFetch"])
        // Both lead to each other; becoming a fault lets go.
        twin.map { context.refresh($0, mergeChanges: false) }
        context.processPendingChanges()
        #expect(held == nil)
        #expect(employee()?.department === twin)
        held = employee()
        twin = nil
        #expect(held != nil)
        context.reset()
        #expect(held == nil)
        other = nil
    }

    @Test func aLongChainEndsWithoutRecursion() throws {
        let node = TestModel.entity("Node")
        TestModel.link(node, "next", .one, node, "previous", .one)
        let model = NSManagedObjectModel()
        model.entities = [node]
        let bench = try Bench(.memory, model: model)
        let nodes = (0..<60_000).map { _ in NSManagedObject(entity: node, insertInto: bench.context)
        }
        for (one, next) in zip(nodes, nodes.dropFirst()) { one.setValue(next, forKey: "next") }
        try bench.context.save()
        let other = bench.newContext()
        var last: NSManagedObject? = other.object(with: nodes[0].objectID)
        var first = last
        while let next = last?.value(forKey: "next") as? NSManagedObject { last = next }
        weak let end = last
        last = nil
        #expect(first != nil && end != nil)
        first = nil
        #expect(end == nil)
    }

    @Test func aNewObjectMayBecomeAFault() throws {
        let bench = try Bench(.memory)
        let ada = try bench.person("Ada")
        bench.context.refresh(ada, mergeChanges: false)
        #expect(ada.isFault && ada.isInserted)
        ada.willAccessValue(forKey: nil)
        #expect(!ada.isFault && ada.name == nil && ada.isActive)
        ada.name = "Bea"
        try bench.context.save()
        #expect(try bench.twin(ada, in: bench.newContext()).name == "Bea")
    }

    @Test func resetTellsWhatItInvalidated() throws {
        let bench = try Bench(.sqlite)
        let ada = try bench.person("Ada")
        try bench.context.save()
        nonisolated(unsafe) var ids: [NSManagedObjectID]?
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: bench.context, queue: nil
        ) { ids = $0.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID] }
        defer { NotificationCenter.default.removeObserver(token) }
        let id = ada.objectID
        bench.context.reset()
        #expect(ids?.first === id && ids?.count == 1)
        #expect(ada.isFault && ada.managedObjectContext == nil)
        #expect(ada.name == nil && ada.score == 0)
    }

    @Test func whatIsMergedIsTold() throws {
        let bench = try Bench(.sqlite)
        let ada = try bench.person("Ada")
        let bob = try bench.person("Bob")
        let sales = try bench.make("Department", "Sales")
        bob.department = sales
        sales.setValue(ada, forKey: "lead")
        try bench.context.save()
        let other = bench.newContext()
        let twins = [ada, bob].map { other.object(with: $0.objectID) }
        let department = other.object(with: sales.objectID)
        #expect(twins[0].value(forKey: "name") as? String == "Ada")
        #expect(bench.names(department.value(forKey: "employees")) == ["Bob"])
        bob.name = "Rob"
        ada.name = "Bea"
        try bench.context.save()
        nonisolated(unsafe) var merged: [AnyHashable: Any] = [:]
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidMergeChangesObjectIDs, object: other, queue: nil
        ) { merged = $0.userInfo ?? [:] }
        defer { NotificationCenter.default.removeObserver(token) }
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [
                NSUpdatedObjectIDsKey: Set([ada.objectID]),
                NSRefreshedObjectsKey: [bob.objectID.uriRepresentation()],
            ], into: [other])
        #expect(twins[0].value(forKey: "name") as? String == "Bea")
        #expect(twins[1].value(forKey: "name") as? String == "Rob")
        let refreshed = merged[NSRefreshedObjectIDsKey] as? Set<NSManagedObjectID>
        #expect(refreshed == [ada.objectID, bob.objectID])
        bench.context.delete(bob)
        try bench.context.save()
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSDeletedObjectsKey: [bob.objectID.uriRepresentation()]],
            into: [other])
        #expect(other.deletedObjects == [twins[1]])
        #expect(bench.names(department.value(forKey: "employees")).isEmpty)
        try other.save()
        #expect(!other.hasChanges && twins[1].managedObjectContext == nil)
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSInvalidatedAllObjectsKey: true], into: [other])
        #expect(twins[0].isFault && twins[0].value(forKey: "name") as? String == "Bea")
    }

    @Test func transientsReachTheParent() throws {
        let bench = try Bench(.sqlite)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = bench.context
        let ada = try bench.person("Ada", in: child)
        ada.setValue("s", forKey: "scratch")
        try child.save()
        let own = try #require(bench.context.insertedObjects.first)
        #expect(own.value(forKey: "scratch") as? String == "s")
        ada.setValue("t", forKey: "scratch")
        try child.save()
        #expect(own.value(forKey: "scratch") as? String == "t")
    }

    @Test func unchangedObjectsCanBeGuardedAgainstConflicts() throws {
        let bench = try Bench(.sqlite)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        try bench.context.save()
        let other = bench.newContext()
        let twins: [Person] = try [ada, bob].map { try bench.twin($0, in: other) }
        #expect(twins.map(\.name) == ["Ada", "Bob"])
        ada.name = "Bea"
        try bench.context.save()
        other.detectConflicts(for: twins[0])
        twins[1].name = "Rob"
        let error = try #require(throws: NSError.self) { try other.save() }
        #expect(error.code == NSManagedObjectMergeError)
        other.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        other.detectConflicts(for: twins[0])
        try other.save()
        #expect(twins[0].name == "Bea")
        #expect(try bench.twin(bob, in: bench.newContext()).name == "Rob")
    }

    @Test func aContextMayDecideAboutLostRows() throws {
        final class Asking: NSManagedObjectContext, @unchecked Sendable {
            // @unchecked: used on its own queue only.
            var asked: [String?] = []
            override func shouldHandleInaccessibleFault(
                _ fault: NSManagedObject, for oid: NSManagedObjectID,
                triggeredByProperty property: NSPropertyDescription?
            ) -> Bool {
                asked.append(property?.name)
                return false
            }
        }
        let bench = try Bench(.sqlite)
        let ada = try bench.person("Ada")
        try bench.context.save()
        let asking = Asking(concurrencyType: .privateQueueConcurrencyType)
        asking.persistentStoreCoordinator = bench.coordinator
        let twin = try #require(asking.object(with: ada.objectID) as? Person)
        bench.context.delete(ada)
        try bench.context.save()
        #expect(twin.name == nil && asking.asked == ["name"])
        #expect(throws: NSError.self) { try asking.save() }
    }

    @Test func useOutsideTheQueueStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            setenv("com.apple.CoreData.ConcurrencyDebug", "1", 1)
            let bench = try Bench(.memory)
            let ada = try bench.context.performAndWait { try bench.person("Ada") }
            bench.context.performAndWait { ada.name = "Bea" }
            ada.name = "Cid"
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Multithreading violation"))
    }
}
