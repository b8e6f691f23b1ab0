import CoreData
import Foundation
import Stores
import Testing

/// Links to what is deleted: none is left, whoever deletes, and the history tells of each.
@Suite struct OneWayLinkTests {
    /// The stored version and links of an object's row.
    private func row(_ object: NSManagedObject, _ bench: Bench) throws -> Row {
        let id = try #require(object.objectID.rowID)
        return try #require(try bench.store.rowStore.row(id))
    }

    private func link(_ name: String, of object: NSManagedObject, _ bench: Bench) throws -> Link? {
        let row = try row(object, bench)
        let layout = try #require(bench.store.rowStore.layout.entity(row.id.entity))
        return row.toOnes[try #require(layout.toOneSlot(name))]
    }

    private func updatedProperties(_ object: NSManagedObject, _ bench: Bench) throws -> [String] {
        let last = try bench.store.rowStore.history(after: 0, limit: nil).last
        return try #require(last).changes
            .filter { $0.kind == .update && $0.id == object.objectID.rowID }
            .flatMap(\.changedProperties)
    }

    private enum Way: String, CaseIterable, CustomTestStringConvertible {
        case context, batch, rows
        var testDescription: String { rawValue }
    }

    @Test(arguments: StoreKind.allCases, Way.allCases)
    private func aDeletedTargetWithoutInverseIsClearedFromItsOwners(
        _ kind: StoreKind, _ way: Way
    ) throws {
        let bench = try Bench(kind)
        let (home, other) = (try bench.make("Tag", "home"), try bench.make("Tag", "other"))
        let (ada, bea) = (try bench.person("Ada"), try bench.make("Employee", "Bea"))
        ada.setValue(home, forKey: "home")
        bea.setValue(home, forKey: "home")
        let cy = try bench.person("Cy")
        cy.setValue(other, forKey: "home")
        try bench.context.save()
        let version = try row(ada, bench).version
        let untouched = try row(cy, bench).version
        let merging = bench.newContext()
        merging.automaticallyMergesChangesFromParent = true
        let twin = try merging.performAndWait { () -> Person in
            let twin = try bench.twin(ada, in: merging)
            twin.willAccessValue(forKey: nil)
            return twin
        }
        switch way {
        case .context:
            bench.context.delete(home)
            try bench.context.save()
            #expect(ada.value(forKey: "home") == nil && !ada.hasChanges)
            merging.performAndWait { #expect(twin.value(forKey: "home") == nil) }
            // The version that was read is the one the store wrote.
            ada.name = "Ada 2"
            try bench.context.save()
        case .batch:
            try bench.context.execute(NSBatchDeleteRequest(objectIDs: [home.objectID]))
        case .rows:
            var changes = ChangeSet()
            changes.deletes = [RowDelete(id: try #require(home.objectID.rowID))]
            let outcome = try bench.store.rowStore.save(changes)
            #expect(
                Set(outcome.clearedLinks.keys)
                    == Set(
                        [ada, bea].compactMap(\.objectID.rowID)))
            #expect(outcome.versions.count == 2)
        }
        for owner in [ada, bea] { #expect(try link("home", of: owner, bench) == nil) }
        #expect(try row(ada, bench).version == version + (way == .context ? 2 : 1))
        #expect(try row(cy, bench).version == untouched)
        #expect(try link("home", of: cy, bench)?.target == other.objectID.rowID)
        guard StoreKind.logging.contains(kind), way != .context else { return }
        #expect(try updatedProperties(ada, bench) == ["home"])
        #expect(try updatedProperties(bea, bench) == ["home"])
        #expect(try updatedProperties(cy, bench).isEmpty)
    }

    /// The owner is changed, or deleted, in the save that deletes its target.
    @Test(arguments: StoreKind.allCases)
    func clearingComesAfterTheSavesOwnChanges(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let (home, next) = (try bench.make("Tag", "home"), try bench.make("Tag", "next"))
        let people = try ["a", "b", "c"].map { try bench.person($0) }
        for person in people { person.setValue(home, forKey: "home") }
        try bench.context.save()
        bench.context.delete(home)
        people[0].setValue(next, forKey: "home")
        people[1].name = "B"
        bench.context.delete(people[2])
        try bench.context.save()
        #expect(try link("home", of: people[0], bench)?.target == next.objectID.rowID)
        #expect(try link("home", of: people[1], bench) == nil)
        #expect(people[1].value(forKey: "home") == nil && !people[1].hasChanges)
        people[0].name = "A"
        people[1].name = "BB"
        try bench.context.save()
        let fresh = bench.newContext()
        #expect(try bench.twin(people[1], in: fresh).name == "BB")
    }

    @Test(arguments: StoreKind.allCases)
    func aBatchDeletionClearsOneToOnes(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let (ada, bea) = (try bench.person("Ada"), try bench.person("Bea"))
        ada.spouse = bea
        let passport = try bench.make("Passport", "p")
        ada.setValue(passport, forKey: "passport")
        try bench.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == %@", "Ada")
        let batch = NSBatchDeleteRequest(fetchRequest: request)
        batch.resultType = .resultTypeCount
        let result = try bench.context.execute(batch) as? NSBatchDeleteResult
        // The passport goes with its holder.
        #expect(result?.result as? Int == 2)
        #expect(try link("spouse", of: bea, bench) == nil)
        #expect(throws: NSError.self) {
            try bench.newContext().existingObject(with: passport.objectID)
        }
        guard StoreKind.logging.contains(kind) else { return }
        #expect(try updatedProperties(bea, bench) == ["spouse"])
    }

    @Test func aBatchDeletionThroughAChildHasTheParentsAuthor() throws {
        let bench = try Bench(.memory)
        bench.context.transactionAuthor = "me"
        let tag = try bench.make("Tag", "t")
        try bench.context.save()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = bench.context
        try child.execute(NSBatchDeleteRequest(objectIDs: [tag.objectID]))
        #expect(try bench.store.rowStore.history(after: 1, limit: nil).map(\.author) == ["me"])
    }

    // MARK: Delete rules through objects that are not in memory

    @Test(arguments: StoreKind.allCases)
    func denyLeavesTheOtherEndAsItIs(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let lead = try bench.person("Lead")
        let department = try bench.make("Department", "d")
        department.setValue(lead, forKey: "lead")
        try bench.context.save()
        let other = bench.newContext()
        let own = try bench.twin(department, in: other)
        other.delete(own)
        let twin = try bench.twin(lead, in: other)
        #expect(twin.value(forKey: "leads") as? NSManagedObject === own && !twin.hasChanges)
        let error = try #require(throws: NSError.self) { try other.save() }
        #expect(error.code == NSValidationRelationshipDeniedDeleteError)
        other.delete(twin)
        try other.save()
        #expect(throws: NSError.self) {
            try bench.newContext().existingObject(with: department.objectID)
        }
    }

    /// A mandatory inverse does not turn the denial into several errors.
    @Test func aDenialIsOneErrorThoughTheInverseIsMandatory() throws {
        let model = TestModel.make()
        let person = try #require(model.entitiesByName["Person"])
        try #require(person.relationshipsByName["leads"]).isOptional = false
        let bench = try Bench(.memory, model: model)
        let lead = try bench.person("Lead")
        let department = try bench.make("Department", "d")
        department.setValue(lead, forKey: "lead")
        try bench.context.save()
        bench.context.delete(department)
        let error = try #require(throws: NSError.self) { try bench.context.save() }
        #expect(error.code == NSValidationRelationshipDeniedDeleteError)
    }

    @Test(arguments: StoreKind.allCases)
    func aFormerOwnerThatIsNotInMemoryLosesItsMember(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let (old, new) = (try bench.make("Department", "old"), try bench.make("Department", "new"))
        let ada = try bench.person("Ada")
        ada.department = old
        let (first, second) = (try bench.person("First"), try bench.person("Second"))
        first.spouse = ada
        try bench.context.save()
        let other = bench.newContext()
        // Only the new ends are looked at.
        try bench.twin(new, in: other).addObject(
            other.object(with: ada.objectID), toRelationshipNamed: "employees")
        try bench.twin(second, in: other).spouse = other.object(with: ada.objectID) as? Person
        try other.save()
        let fresh = bench.newContext()
        #expect(try bench.names(bench.twin(old, in: fresh).value(forKey: "employees")).isEmpty)
        #expect(try bench.twin(first, in: fresh).spouse == nil)
        #expect(try bench.twin(ada, in: fresh).spouse?.name == "Second")
        #expect(try bench.twin(ada, in: fresh).department?.objectID == new.objectID)
    }

    // MARK: To-ones in conflict

    private enum Policy: String, CaseIterable, CustomTestStringConvertible {
        case store, object, overwrite, rollback
        var testDescription: String { rawValue }
        var policy: NSMergePolicy {
            switch self {
            case .store: .mergeByPropertyStoreTrump
            case .object: .mergeByPropertyObjectTrump
            case .overwrite: .overwrite
            case .rollback: .rollback
            }
        }
        var keepsOwn: Bool { self == .object || self == .overwrite }
    }

    @Test(arguments: StoreKind.allCases, Policy.allCases)
    private func aToOneChangedOnBothSidesFollowsThePolicy(
        _ kind: StoreKind, _ policy: Policy
    ) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let tags = try ["mine", "theirs"].map { try bench.make("Tag", $0) }
        try bench.context.save()
        func set(_ tag: Int, in context: NSManagedObjectContext) throws -> Person {
            let twin = try bench.twin(ada, in: context)
            twin.willAccessValue(forKey: nil)
            twin.setValue(context.object(with: tags[tag].objectID), forKey: "home")
            return twin
        }
        let (slow, strict) = (bench.newContext(), bench.newContext())
        let mine = try set(0, in: slow)
        _ = try set(0, in: strict)
        _ = try set(1, in: bench.context)
        try bench.context.save()
        let error = try #require(throws: NSError.self, "a link alone is a change") {
            try strict.save()
        }
        #expect(error.code == NSManagedObjectMergeError)
        slow.mergePolicy = policy.policy
        try slow.save()
        let wanted = policy.keepsOwn ? "mine" : "theirs"
        #expect(mine.value(forKeyPath: "home.name") as? String == wanted)
        let stored = try bench.twin(ada, in: bench.newContext())
        #expect(stored.value(forKeyPath: "home.name") as? String == wanted)
    }

    @Test(arguments: StoreKind.allCases)
    func aToOneThatOnlyTheStoreChangedIsTakenByPropertyPolicies(_ kind: StoreKind) throws {
        for policy in [Policy.store, .object] {
            let bench = try Bench(kind)
            let ada = try bench.person("Ada")
            let tag = try bench.make("Tag", "theirs")
            try bench.context.save()
            let slow = bench.newContext()
            slow.mergePolicy = policy.policy
            let mine = try bench.twin(ada, in: slow)
            mine.age = 7
            ada.setValue(tag, forKey: "home")
            try bench.context.save()
            try slow.save()
            let stored = try bench.twin(ada, in: bench.newContext())
            #expect(stored.value(forKeyPath: "home.name") as? String == "theirs")
            #expect(stored.age == 7)
        }
    }
}
