import CoreData
import Dispatch
import Foundation
import Testing

/// Contexts that wait for each other.
@Suite(.serialized) struct WaitingTests {
    /// A parent and a child that merges by itself, over a saved object.
    private final class Family: @unchecked Sendable {
        // @unchecked: set up before the contexts are used, each upon its own queue.
        let coordinator: NSPersistentStoreCoordinator
        let parent: NSManagedObjectContext
        let child: NSManagedObjectContext
        let writer: NSManagedObjectContext
        let ids: [NSManagedObjectID]

        init(parent type: NSManagedObjectContextConcurrencyType) throws {
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
            parent = NSManagedObjectContext(concurrencyType: type)
            parent.persistentStoreCoordinator = coordinator
            parent.automaticallyMergesChangesFromParent = true
            child = NSManagedObjectContext(.privateQueue)
            child.parent = parent
            child.automaticallyMergesChangesFromParent = true
            writer = NSManagedObjectContext(.privateQueue)
            writer.persistentStoreCoordinator = coordinator
            let writer = writer
            ids = try writer.performAndWait {
                let people = (0..<20).map { index in
                    let person = NSEntityDescription.insertNewObject(
                        forEntityName: "Person", into: writer)
                    person.setValue("\(index)", forKey: "name")
                    return person
                }
                try writer.save()
                return people.map(\.objectID)
            }
        }

        /// Holds the child's objects, so that merges have something to read.
        func held() -> [NSManagedObject] {
            child.performAndWait {
                ids.map { id in
                    let object = child.object(with: id)
                    object.willAccessValue(forKey: nil)
                    return object
                }
            }
        }

        /// Reads the objects on the child's queue, later.
        nonisolated func readSoon(_ objects: [NSManagedObject]) {
            let objects = Passed(objects)
            child.perform { [child] in
                child.refreshAllObjects()
                for object in objects.value { object.willAccessValue(forKey: nil) }
            }
        }

        func write(_ text: String) {
            writer.performAndWait {
                for id in ids { writer.object(with: id).setValue(text, forKey: "name") }
                try? writer.save()
            }
        }
    }

    /// Runs `work` in a process of its own, which must end by itself; a deadlock, which
    /// uses no processor time, ends it by alarm.
    private static func watch(seconds: UInt32 = 60) { alarm(seconds) }

    @Test func theMainThreadWaitsForAChildThatReadsItsParent() async {
        await #expect(processExitsWith: .success) {
            Self.watch()
            try await MainActor.run {
                let family = try Family(parent: .mainQueueConcurrencyType)
                let held = family.held()
                for round in 0..<200 {
                    DispatchQueue.global().async { family.write("\(round)") }
                    family.parent.refreshAllObjects()
                    // The child reads its parent while this thread waits for the child.
                    family.readSoon(held)
                    let thread = pthread_self()
                    let (count, isHere) = family.child.performAndWait {
                        let names = held.compactMap { $0.value(forKey: "name") as? String }
                        return (names.count, pthread_self() == thread)
                    }
                    #expect(count == 20)
                    #expect(isHere, "a block runs on the thread that gave it")
                }
            }
        }
    }

    @Test func aBlockOfTheParentWaitsForAChildThatReadsIt() async {
        await #expect(processExitsWith: .success) {
            Self.watch()
            let family = try Family(parent: .privateQueueConcurrencyType)
            let held = family.held()
            for round in 0..<200 {
                family.write("\(round)")
                family.child.perform { family.child.refreshAllObjects() }
                let names = family.parent.performAndWait {
                    family.child.performAndWait {
                        held.compactMap { $0.value(forKey: "name") as? String }
                    }
                }
                #expect(names.count == 20)
            }
        }
    }

    @Test func blocksThatWaitForEachOtherBothEnd() async {
        await #expect(processExitsWith: .success) {
            Self.watch()
            let family = try Family(parent: .privateQueueConcurrencyType)
            let (left, right) = (family.parent, family.writer)
            for _ in 0..<200 {
                let group = DispatchGroup()
                for (own, other) in [(left, right), (right, left)] {
                    DispatchQueue.global().async(group: group) {
                        own.performAndWait {
                            other.performAndWait { other.processPendingChanges() }
                        }
                    }
                }
                group.wait()
            }
        }
    }

    @Test func aBlockWaitsItsTurnBehindThoseQueuedBefore() throws {
        let family = try Family(parent: .privateQueueConcurrencyType)
        var order: [Int] = []
        let (parent, child) = (family.parent, family.child)
        child.performAndWait {
            parent.perform {
                usleep(20_000)
                order.append(1)
            }
            parent.performAndWait { order.append(2) }
        }
        #expect(order == [1, 2])
    }

    private struct Passed: @unchecked Sendable {
        // @unchecked: used on the queue of the objects only.
        let value: [NSManagedObject]
        init(_ value: [NSManagedObject]) { self.value = value }
    }

    /// Guarded by nothing but the context.
    private final class Counter: @unchecked Sendable {
        // @unchecked: used on one context's queue only, which the test tries.
        var count = 0
    }

    @Test func aContextIsUsedByOneThreadAtATime() throws {
        let family = try Family(parent: .privateQueueConcurrencyType)
        let counter = Counter()
        DispatchQueue.concurrentPerform(iterations: 8) { index in
            for _ in 0..<200 {
                if index % 2 == 0 {
                    family.parent.performAndWait { counter.count += 1 }
                } else {
                    family.child.performAndWait {
                        family.parent.performAndWait { counter.count += 1 }
                    }
                }
            }
        }
        #expect(family.parent.performAndWait { counter.count } == 1600)
    }
}
