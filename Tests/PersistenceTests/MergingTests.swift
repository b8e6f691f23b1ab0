import CoreData
import Foundation
import Testing

@Suite struct MergingTests {
    /// Two contexts change the same person: the first saves, the second meets its changes.
    ///
    /// stored: name Ada, age 1, score 0 · first saves: name First, score 1 · second wants: name
    /// Second, age 2
    private func race(
        _ kind: StoreKind, _ policy: NSMergePolicy
    ) throws -> (bench: Bench, second: Person, error: NSError?) {
        let bench = try Bench(kind)
        let first = try bench.person("Ada")
        first.age = 1
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = policy
        let second = try bench.twin(first, in: other)
        first.name = "First"
        first.score = 1
        second.name = "Second"
        second.age = 2
        try bench.context.save()
        do {
            try other.save()
            return (bench, second, nil)
        } catch let error as NSError {
            return (bench, second, error)
        }
    }

    private func stored(_ bench: Bench, _ person: Person) throws -> String {
        let twin = try bench.twin(person, in: bench.newContext())
        return "\(twin.name ?? "") \(twin.age) \(Int(twin.score))"
    }

    @Test(arguments: StoreKind.allCases)
    func theErrorPolicyThrowsAndNamesTheConflict(_ kind: StoreKind) throws {
        let (bench, second, error) = try race(kind, .error)
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSManagedObjectMergeError)
        let conflicts = error?.userInfo["conflictList"] as? [NSMergeConflict]
        let conflict = try #require(conflicts?.first)
        #expect(conflict.sourceObject === second && conflicts?.count == 1)
        #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
        #expect(conflict.objectSnapshot?["name"] as? String == "Ada")
        #expect(conflict.cachedSnapshot?["name"] as? String == "First")
        #expect(conflict.persistedSnapshot == nil)
        #expect(conflict.sourceObject.value(forKey: "name") as? String == "Second")
        #expect(try stored(bench, second) == "First 1 1")
        #expect(second.hasChanges && second.name == "Second")
    }

    /// What is deleted here is left alone by merges; taken back, it shows what others saved.
    @Test(arguments: StoreKind.allCases)
    func aDeletionThatIsTakenBackShowsWhatOthersSaved(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        try bench.context.save()
        bench.context.automaticallyMergesChangesFromParent = true
        bench.context.delete(ada)
        let other = bench.newContext()
        try bench.twin(ada, in: other).name = "Bea"
        try other.save()
        bench.context.performAndWait {}
        bench.context.rollback()
        #expect(!ada.isDeleted && ada.name == "Bea")
        ada.age = 7
        try bench.context.save()
        #expect(try stored(bench, ada) == "Bea 7 0")
    }

    @Test(arguments: StoreKind.allCases)
    func storeTrumpKeepsTheStoresValueWhereBothChanged(_ kind: StoreKind) throws {
        let (bench, second, error) = try race(kind, .mergeByPropertyStoreTrump)
        #expect(error == nil)
        #expect(try stored(bench, second) == "First 2 1")
        #expect(second.name == "First" && second.age == 2 && second.score == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func objectTrumpWritesTheObjectsValueWhereBothChanged(_ kind: StoreKind) throws {
        let (bench, second, error) = try race(kind, .mergeByPropertyObjectTrump)
        #expect(error == nil)
        #expect(try stored(bench, second) == "Second 2 1")
        #expect(second.score == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func overwriteWritesTheWholeObject(_ kind: StoreKind) throws {
        let (bench, second, error) = try race(kind, .overwrite)
        #expect(error == nil)
        #expect(try stored(bench, second) == "Second 2 0")
    }

    @Test(arguments: StoreKind.allCases)
    func rollbackDropsTheObjectsChanges(_ kind: StoreKind) throws {
        let (bench, second, error) = try race(kind, .rollback)
        #expect(error == nil)
        #expect(try stored(bench, second) == "First 1 1")
        #expect(second.name == "First" && second.age == 1 && !second.hasChanges)
    }

    @Test(arguments: StoreKind.allCases)
    func theGlobalNamesAreThePolicies(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        bench.context.mergePolicy = NSOverwriteMergePolicy
        #expect(
            (bench.context.mergePolicy as? NSMergePolicy)?.mergeType == .overwriteMergePolicyType)
        let isSame = NSErrorMergePolicy === NSMergePolicy.error
        #expect(isSame)
    }

    @Test(arguments: [NSMergePolicy.error, .mergeByPropertyStoreTrump, .overwrite])
    func aRowDeletedMeanwhileIsAConflict(_ policy: NSMergePolicy) throws {
        let bench = try Bench(.memory)
        let first = try bench.person("Ada")
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = policy
        let second = try bench.twin(first, in: other)
        second.age = 9
        bench.context.delete(first)
        try bench.context.save()
        let request = NSFetchRequest<Person>(entityName: "Person")
        switch policy.mergeType {
        case .errorMergePolicyType:
            let error = try #require(throws: NSError.self) { try other.save() }
            #expect(error.code == NSManagedObjectMergeError)
        case .overwriteMergePolicyType:
            try other.save()
            #expect(try bench.newContext().fetch(request).map(\.age) == [9])
        default:
            try other.save()
            #expect(try bench.newContext().fetch(request).isEmpty)
            #expect(second.managedObjectContext == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func deletingWhatIsGoneAlreadyIsNoConflict(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let first = try bench.person("Ada")
        try bench.context.save()
        let other = bench.newContext()
        other.delete(try bench.twin(first, in: other))
        bench.context.delete(first)
        try bench.context.save()
        try other.save()
        #expect(!other.hasChanges)
    }

    @Test(arguments: StoreKind.allCases)
    func membersAddedFromTwoSidesAreNoConflict(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let sales = try bench.make("Department", "Sales")
        try bench.context.save()
        let other = bench.newContext()
        try bench.person("Bob", in: other).department = try bench.twin(sales, in: other)
        try bench.person("Ada").department = sales
        try bench.context.save()
        try other.save()
        let twin = try bench.twin(sales, in: bench.newContext())
        #expect(bench.names(twin.value(forKey: "employees")) == ["Ada", "Bob"])
    }

    @Test(arguments: StoreKind.allCases)
    func aPolicyOfOnesOwnMayDecide(_ kind: StoreKind) throws {
        final class Adding: NSMergePolicy, @unchecked Sendable {
            // @unchecked: it holds nothing.
            override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
                for conflict in list {
                    let theirs = conflict.cachedSnapshot?["age"] as? Int ?? 0
                    let base = conflict.objectSnapshot?["age"] as? Int ?? 0
                    let own = conflict.sourceObject.value(forKey: "age") as? Int ?? 0
                    conflict.sourceObject.setValue(theirs + own - base, forKey: "age")
                }
            }
        }
        let bench = try Bench(kind)
        let first = try bench.person("Ada")
        first.age = 10
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = Adding(merge: .errorMergePolicyType)
        let second = try bench.twin(first, in: other)
        first.age += 1
        second.age += 5
        try bench.context.save()
        try other.save()
        #expect(try bench.twin(first, in: bench.newContext()).age == 16)
    }

    // MARK: Unique values

    @Test(arguments: StoreKind.allCases)
    func aTakenUniqueValueIsAConstraintConflict(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        try bench.make("Account").setValue("a@b", forKey: "email")
        try bench.context.save()
        let other = bench.newContext()
        let double = try bench.make("Account", in: other)
        double.setValue("a@b", forKey: "email")
        let error = try #require(throws: NSError.self) { try other.save() }
        #expect(error.code == NSManagedObjectConstraintMergeError)
        let conflicts = error.userInfo["conflictList"] as? [NSConstraintConflict]
        let conflict = try #require(conflicts?.first)
        #expect(conflict.constraint == ["email"] && conflict.databaseObject != nil)
        #expect(conflict.conflictingObjects == [double])
        #expect(conflict.constraintValues["email"] as? String == "a@b")
        double.setValue("c@d", forKey: "email")
        try other.save()
    }

    @Test(arguments: [
        NSMergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .rollback,
    ])
    func uniqueValuesMakeOneObjectOfTwo(_ policy: NSMergePolicy) throws {
        let bench = try Bench(.memory)
        let first = try bench.make("Account")
        first.setValue("a@b", forKey: "email")
        first.setValue("old", forKey: "note")
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = policy
        let double = try bench.make("Account", in: other)
        double.setValue("a@b", forKey: "email")
        double.setValue("new", forKey: "note")
        double.setValue([try bench.make("Tag", "t", in: other)], forKey: "rewards")
        try other.save()
        let accounts = try bench.newContext().fetch(
            NSFetchRequest<NSManagedObject>(entityName: "Account"))
        #expect(accounts.map(\.objectID) == [first.objectID])
        let objectWins = policy.mergeType == .mergeByPropertyObjectTrumpMergePolicyType
        let twin = try bench.twin(first, in: bench.newContext())
        #expect(twin.value(forKey: "note") as? String == (objectWins ? "new" : "old"))
        let rewards = bench.names(twin.value(forKey: "rewards"))
        #expect(rewards == (policy.mergeType == .rollbackMergePolicyType ? [] : ["t"]))
    }

    @Test(arguments: StoreKind.allCases)
    func manyTakenValuesAreSettledTogether(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        func fill(_ context: NSManagedObjectContext, _ note: String) throws {
            for index in 0..<300 {
                let account = try bench.make("Account", in: context)
                account.setValue("\(index)", forKey: "email")
                account.setValue(note, forKey: "note")
            }
            try context.save()
        }
        try fill(bench.context, "old")
        let strict = bench.newContext()
        let error = try #require(throws: NSError.self) { try fill(strict, "new") }
        #expect((error.userInfo["conflictList"] as? [Any])?.count == 300)
        let other = bench.newContext()
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try fill(other, "new")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
        let accounts = try bench.newContext().fetch(request)
        #expect(accounts.count == 300)
        #expect(accounts.allSatisfy { $0.value(forKey: "note") as? String == "new" })
    }

    @Test(arguments: StoreKind.allCases)
    func twoNewObjectsWithOneUniqueValueBecomeOne(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        bench.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        for note in ["one", "two"] {
            let account = try bench.make("Account")
            account.setValue("a@b", forKey: "email")
            account.setValue(note, forKey: "note")
        }
        try bench.context.save()
        let accounts = try bench.newContext().fetch(
            NSFetchRequest<NSManagedObject>(entityName: "Account"))
        #expect(accounts.count == 1)
    }
}
