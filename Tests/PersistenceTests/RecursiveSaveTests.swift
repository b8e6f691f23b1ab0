import CoreData
import Foundation
import Testing

/// A save within a save of the same context.
@Suite struct RecursiveSaveTests {
    final class Saver: Person {
        nonisolated(unsafe) static var codes: [Int] = []

        static func tryToSave(_ context: NSManagedObjectContext?) {
            do {
                try context?.save()
            } catch {
                codes.append((error as NSError).code)
            }
        }

        override func willSave() { Self.tryToSave(managedObjectContext) }
        override func validateForInsert() throws {
            Self.tryToSave(managedObjectContext)
            try super.validateForInsert()
        }
    }

    final class Saving: NSMergePolicy, @unchecked Sendable {
        // @unchecked: used on the test's thread only.
        private(set) var code: Int?

        override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
            do {
                try list.first?.conflictingObjects.first?.managedObjectContext?.save()
            } catch {
                code = (error as NSError).code
            }
            try super.resolve(constraintConflicts: list)
        }
    }

    @Test func isRefusedAndTheOuterOneGoesOn() throws {
        let model = TestModel.make()
        model.entitiesByName["Person"]?.managedObjectClassName = String(reflecting: Saver.self)
        let bench = try Bench(.sqlite, model: model)
        Saver.codes = []
        let ada = Saver(entity: try bench.named("Person"), insertInto: bench.context)
        ada.setValue("Ada", forKey: "name")
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextWillSave, object: bench.context, queue: nil
        ) { notice in
            Saver.tryToSave(notice.object as? NSManagedObjectContext)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try bench.context.save()
        #expect(Saver.codes == [132_001, 132_001, 132_001])
        #expect(!bench.context.hasChanges && !ada.objectID.isTemporaryID)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        #expect(try bench.newContext().count(for: request) == 1)
    }

    /// What a policy may not do either; a save that fails leaves the way open for the next.
    @Test func isRefusedToAMergePolicyAndOverWithTheOuterOne() throws {
        let bench = try Bench(.sqlite)
        let account = try bench.make("Account")
        account.setValue("a@b", forKey: "email")
        try bench.context.save()
        let second = try bench.make("Account")
        second.setValue("a@b", forKey: "email")
        #expect(throws: NSError.self) { try bench.context.save() }
        let policy = Saving(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        bench.context.mergePolicy = policy
        try bench.context.save()
        #expect(policy.code == 132_001)
        #expect(
            try bench.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Account"))
                == 1)
    }

    @Test func whoHearsOfASaveMaySave() throws {
        let bench = try Bench(.sqlite)
        let ada = try bench.person("Ada")
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: bench.context, queue: nil
        ) { notice in
            let context = notice.object as? NSManagedObjectContext
            let person = context?.registeredObjects.compactMap { $0 as? Person }.first
            guard person?.name == "Ada" else { return }
            person?.name = "Bea"
            #expect(throws: Never.self) { try context?.save() }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try bench.context.save()
        #expect(ada.name == "Bea" && !bench.context.hasChanges)
        #expect(try bench.twin(ada, in: bench.newContext()).name == "Bea")
    }
}
