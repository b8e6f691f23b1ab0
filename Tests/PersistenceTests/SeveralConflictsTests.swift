import CoreData
import Foundation
import Testing

/// Saves in which more than two objects want the same unique values.
@Suite struct SeveralConflictsTests {
    static let kinds: [StoreKind] = [.memory, .sqlite]
    static let policies: [NSMergePolicy] = [
        .error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback,
    ]

    /// Accounts that are unique by their email, and by their code.
    static func model() -> NSManagedObjectModel {
        let account = TestModel.entity("Account")
        let tag = TestModel.entity("Tag")
        tag.properties = [TestModel.attribute("name", .stringAttributeType)]
        account.properties = ["email", "code", "note", "extra"].map {
            TestModel.attribute($0, .stringAttributeType)
        }
        account.uniquenessConstraints = [["email"], ["code"]]
        TestModel.link(account, "rewards", .many, tag, "account", .one)
        TestModel.link(account, "groups", .many, tag, "members", .many)
        let model = NSManagedObjectModel()
        model.entities = [account, tag]
        return model
    }

    @discardableResult
    private func account(
        _ bench: Bench, _ values: [String: String], rewards: [String] = [],
        in context: NSManagedObjectContext? = nil
    ) throws -> NSManagedObject {
        let account = try bench.make("Account", in: context)
        for (key, value) in values { account.setValue(value, forKey: key) }
        let tags = try rewards.map { try bench.make("Tag", $0, in: context) }
        account.setValue(Set(tags), forKey: "rewards")
        account.setValue(Set(tags), forKey: "groups")
        return account
    }

    /// All accounts of the store, each as text, with the names of its rewards and groups.
    private func stored(_ bench: Bench) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
        let texts = try bench.newContext().fetch(request).map { account in
            let values = ["email", "code", "note", "extra"].map {
                account.value(forKey: $0) as? String ?? "-"
            }
            let links = ["rewards", "groups"].map {
                bench.names(account.value(forKey: $0)).sorted().joined()
            }
            return (values + links).joined(separator: " ")
        }
        return texts.sorted()
    }

    @Test(arguments: kinds, policies)
    func twoNewObjectsAndOneRow(_ kind: StoreKind, _ policy: NSMergePolicy) throws {
        let bench = try Bench(kind, model: Self.model())
        try account(bench, ["email": "a", "note": "r"], rewards: ["r"])
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = policy
        let new = [
            try account(bench, ["email": "a", "note": "x"], rewards: ["x"], in: other),
            try account(bench, ["email": "a", "extra": "y"], rewards: ["y"], in: other),
        ]
        switch policy.mergeType {
        case .errorMergePolicyType:
            let error = try #require(throws: NSError.self) { try other.save() }
            #expect(error.code == NSManagedObjectConstraintMergeError)
            let conflicts = error.userInfo["conflictList"] as? [NSConstraintConflict]
            #expect(conflicts?.count == 1)
            #expect(Set(conflicts?.first?.conflictingObjects ?? []) == Set(new))
            #expect(try stored(bench) == ["a - r - r r"])
            return
        case .rollbackMergePolicyType:
            try other.save()
            #expect(try stored(bench) == ["a - r - r r"])
        case .mergeByPropertyStoreTrumpMergePolicyType:
            try other.save()
            #expect(try stored(bench) == ["a - r - rxy rxy"])
        case .overwriteMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType:
            try other.save()
            #expect(try stored(bench) == ["a - x y rxy rxy"])
        }
        #expect(!other.hasChanges)
        #expect(try GoneObjectTests.danglingLinks(bench) == [])
    }

    @Test(arguments: kinds, policies)
    func oneNewObjectAndTwoRows(_ kind: StoreKind, _ policy: NSMergePolicy) throws {
        let bench = try Bench(kind, model: Self.model())
        try account(bench, ["email": "a", "note": "1"], rewards: ["p"])
        try account(bench, ["code": "c", "extra": "2"], rewards: ["q"])
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = policy
        try account(bench, ["email": "a", "code": "c", "note": "x"], rewards: ["x"], in: other)
        let both = ["- c - 2 q q", "a - 1 - p p"]
        switch policy.mergeType {
        case .errorMergePolicyType:
            let error = try #require(throws: NSError.self) { try other.save() }
            #expect(error.code == NSManagedObjectConstraintMergeError)
            #expect(try stored(bench) == both)
            return
        case .rollbackMergePolicyType:
            try other.save()
            #expect(try stored(bench) == both)
        case .mergeByPropertyStoreTrumpMergePolicyType:
            try other.save()
            let texts = try stored(bench)
            // Its links go to one of the two; both keep what they have.
            #expect(
                texts == ["- c - 2 q q", "a - 1 - px px"]
                    || texts == ["- c - 2 qx qx", "a - 1 - p p"])
        case .overwriteMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType:
            try other.save()
            // All three are one; nothing that only one of them had is lost.
            #expect(try stored(bench) == ["a c x 2 pqx pqx"])
        }
        #expect(!other.hasChanges)
        #expect(try GoneObjectTests.danglingLinks(bench) == [])
    }

    /// A stored object takes the value of another one, and is changed otherwise, too.
    @Test(arguments: kinds, policies)
    func aChangedObjectThatWantsAnothersValue(_ kind: StoreKind, _ policy: NSMergePolicy) throws {
        let bench = try Bench(kind, model: Self.model())
        let first = try account(bench, ["email": "a", "note": "1"], rewards: ["p"])
        try account(bench, ["email": "b", "extra": "2"], rewards: ["q"])
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = policy
        let twin = try bench.twin(first, in: other)
        let tag = try bench.make("Tag", "n", in: other)
        twin.setValue("b", forKey: "email")
        twin.setValue("new", forKey: "note")
        twin.addObject(tag, toRelationshipNamed: "rewards")
        twin.addObject(tag, toRelationshipNamed: "groups")
        switch policy.mergeType {
        case .errorMergePolicyType:
            _ = try #require(throws: NSError.self) { try other.save() }
            #expect(try stored(bench) == ["a - 1 - p p", "b - - 2 q q"])
            return
        case .rollbackMergePolicyType:
            try other.save()
            #expect(try stored(bench) == ["a - 1 - p p", "b - - 2 q q"])
            #expect(bench.names(twin.value(forKey: "rewards")) == ["p"])
            #expect(tag.value(forKey: "account") == nil)
        case .mergeByPropertyStoreTrumpMergePolicyType:
            try other.save()
            #expect(try stored(bench) == ["a - new - np np", "b - - 2 q q"])
            #expect(twin.value(forKey: "email") as? String == "a")
        case .overwriteMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType:
            try other.save()
            #expect(try stored(bench) == ["b - new 2 npq npq"])
        }
        #expect(!other.hasChanges)
        #expect(try GoneObjectTests.danglingLinks(bench) == [])
    }

    /// Values that go round in one save, with a new object for the one that became free.
    @Test(arguments: kinds, policies)
    func valuesThatGoRoundAreNoConflict(_ kind: StoreKind, _ policy: NSMergePolicy) throws {
        let bench = try Bench(kind, model: Self.model())
        let first = try account(bench, ["email": "a", "code": "1"])
        let second = try account(bench, ["email": "b", "code": "2"])
        try bench.context.save()
        bench.context.mergePolicy = policy
        first.setValue("b", forKey: "email")
        second.setValue("a", forKey: "email")
        second.setValue("3", forKey: "code")
        try account(bench, ["email": "c", "code": "2"])
        try bench.context.save()
        #expect(try stored(bench) == ["a 3 - -  ", "b 1 - -  ", "c 2 - -  "])
    }

    /// The row with the value is changed in the same save, and another context changed it since.
    @Test(arguments: kinds, policies.dropFirst())
    func aHolderThatIsStaleItself(_ kind: StoreKind, _ policy: NSMergePolicy) throws {
        let bench = try Bench(kind, model: Self.model())
        let first = try account(bench, ["email": "a", "note": "1"], rewards: ["p"])
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = policy
        let twin = try bench.twin(first, in: other)
        twin.setValue("2", forKey: "extra")
        try account(bench, ["email": "a", "code": "c"], rewards: ["x"], in: other)
        first.setValue("one", forKey: "note")
        try bench.context.save()
        try other.save()
        switch policy.mergeType {
        case .errorMergePolicyType: break
        case .rollbackMergePolicyType: #expect(try stored(bench) == ["a - one - p p"])
        case .mergeByPropertyStoreTrumpMergePolicyType:
            #expect(try stored(bench) == ["a - one 2 px px"])
        case .overwriteMergePolicyType: #expect(try stored(bench) == ["a c 1 2 px px"])
        case .mergeByPropertyObjectTrumpMergePolicyType:
            #expect(try stored(bench) == ["a c one 2 px px"])
        }
        #expect(!other.hasChanges)
    }
}
