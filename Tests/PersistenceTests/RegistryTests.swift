import CoreData
import Foundation
import Stores
import Testing

@testable import Persistence

/// How a context knows its objects without holding them.
@Suite struct RegistryTests {
    private let people = NSFetchRequest<Person>(entityName: "Person")

    // MARK: Batches

    @Test func batchesOfResultsThatWereLetGoAreForgotten() throws {
        let bench = try Bench(.sqlite)
        for _ in 0..<6000 { try bench.make("Tag") }
        try bench.context.save()
        let context = bench.newContext()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        request.fetchBatchSize = 10
        request.fetchLimit = 1000
        let kept = try context.fetch(request)
        for start in stride(from: 1000, to: 6000, by: 1000) {
            request.fetchOffset = start
            #expect(try context.fetch(request).count == 1000)
        }
        #expect(context.readAhead.waitingCount == 2000)
        #expect(kept.allSatisfy { $0.value(forKey: "name") as? String == "x" })
        #expect(context.readAhead.waitingCount == 1000)
    }

    // MARK: The tables

    @Test(arguments: [1, 3, 16, 1 << 40])
    func aTableOfAddressesAgreesWithADictionary(_ stride: Int64) {
        var random = SeededNumbers(UInt64(stride))
        var table = AddressTable()
        var model: [Int64: UInt] = [:]
        for _ in 0..<20_000 {
            let key = Int64.random(in: -40...400, using: &random) &* stride
            let address = UInt.random(in: 2...1_000, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                table.set(address, for: key)
                model[key] = address
            case 1:
                #expect(table.claim(key, for: address) == model[key] ?? 0)
                model[key] = model[key] ?? address
            case 2:
                table.remove(model[key] ?? address, for: key)
                model[key] = nil
            default:
                table.remove(5_000, for: key)
            }
            #expect(table.address(key) == model[key] ?? 0)
            #expect(table.count == model.count)
        }
        for (key, address) in model { #expect(table.address(key) == address) }
        #expect(table.addresses.sorted() == model.values.sorted())
        table.removeAll()
        #expect(table.isEmpty && table.address(7) == 0)
    }

    @Test func aTieEndsWithItsTarget() {
        final class Target {
            let tie = ZeroingReference<Target>()
            init() { tie.begin(self) }
            deinit { tie.end() }
        }
        let tie: ZeroingReference<Target>
        do {
            let target = Target()
            tie = target.tie
            #expect(tie.target === target && !tie.isOver)
            withExtendedLifetime(target) {}
        }
        #expect(tie.target == nil && tie.isOver)
    }

    @Test func attributesAreFoundHoweverTheirNamesWereMade() throws {
        let names = ["a", "name", "fifteenLetters_", "a name of more than fifteen bytes", "größe"]
        let entity = NSEntityDescription()
        entity.name = "Thing"
        entity.properties = names.map { name in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = .stringAttributeType
            return attribute
        }
        let shape = ObjectLayout.of(entity)
        for (slot, place) in shape.layout.attributes.enumerated() {
            #expect(shape.attributeSlot(place.name) == slot)
            let made = place.name.map { String($0) }.joined()
            #expect(shape.attributeSlot(made) == slot)
            #expect(shape.attributeSlot(made + "x") == nil)
        }
        #expect(shape.attributeSlot("") == nil)
    }

    // MARK: One object for each row

    @Test(arguments: StoreKind.allCases)
    func objectsThatWereNewAreFoundByTheirRows(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let made = try (0..<40).map { try bench.person("P\($0)") }
        let early = try bench.person("Early")
        try bench.context.obtainPermanentIDs(for: [early])
        #expect(bench.context.object(with: early.objectID) === early)
        try bench.context.save()
        let found = try bench.context.fetch(people)
        #expect(Set(found) == Set(made + [early]) && found.count == 41)
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
        ids.resultType = .managedObjectIDResultType
        for id in try bench.context.fetch(ids) {
            let object = bench.context.object(with: id)
            #expect(object.objectID === id && found.contains { $0 === object })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func objectsThatNobodyHoldsAreForgotten(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        for number in 0..<30 { try bench.person("P\(number)") }
        try bench.context.save()
        bench.context.reset()
        let other = bench.newContext()
        let kept = try #require(try other.fetch(people).last)
        #expect(other.registeredObjects == [kept])
        #expect(try other.fetch(people).contains { $0 === kept })
        other.reset()
        #expect(kept.managedObjectContext == nil && !kept.objectID.isTemporaryID)
        #expect(other.registeredObjects.isEmpty)
    }

    @Test func objectsOutliveTheirContext() throws {
        let bench = try Bench(.sqlite)
        try bench.person("Ada")
        try bench.context.save()
        var context: NSManagedObjectContext? = NSManagedObjectContext(
            concurrencyType: .privateQueueConcurrencyType)
        context?.persistentStoreCoordinator = bench.coordinator
        let person = try #require(try context?.fetch(people).first)
        #expect(person.managedObjectContext === context)
        context = nil
        #expect(person.managedObjectContext == nil)
        #expect(!person.objectID.isTemporaryID && person.name == "Ada")
    }

    @Test func aClassThatFetchesWhileItIsMadeGetsTheSameObjects() throws {
        let entity = NSEntityDescription()
        entity.name = "Curious"
        entity.managedObjectClassName = "Curious"
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let bench = try Bench(.sqlite, model: model)
        for _ in 0..<5 { _ = Curious(entity: entity, insertInto: bench.context) }
        try bench.context.save()
        let other = bench.newContext()
        let request = NSFetchRequest<Curious>(entityName: "Curious")
        var inner: [Curious] = []
        let found = try Curious.$once.withValue(Curious.Once { inner = try other.fetch(request) }) {
            try other.fetch(request)
        }
        #expect(found.count == 5 && inner == found)
        #expect(other.registeredObjects == Set(found) && found.allSatisfy(\.isFault))
        #expect(try other.fetch(request) == found)
    }

    /// Objects that are read begin with their rows; what a class's own initializer does to them
    /// does not stay.
    @Test(arguments: [0, 1, 2, 3])
    func anInitializerThatChangesWhatIsReadChangesNothing(_ habit: Int) throws {
        let attribute = NSAttributeDescription()
        attribute.name = "name"
        attribute.attributeType = .stringAttributeType
        let entity = NSEntityDescription()
        entity.name = "Busy"
        entity.managedObjectClassName = "Busy"
        entity.properties = [attribute]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let bench = try Bench(.sqlite, model: model)
        for number in 0..<3 {
            Busy(entity: entity, insertInto: bench.context).setValue("N\(number)", forKey: "name")
        }
        try bench.context.save()
        let other = bench.newContext()
        let request = NSFetchRequest<Busy>(entityName: "Busy")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let found = try Busy.$habit.withValue(habit) { try other.fetch(request) }
        #expect(found.allSatisfy { $0.isFault && !$0.hasChanges })
        #expect(found.map { $0.value(forKey: "name") as? String } == ["N0", "N1", "N2"])
        #expect(found.allSatisfy { !$0.hasPersistentChangedValues })
        #expect(!other.hasChanges)
        // One that is new has the values that its initializer gave it.
        let fresh = Busy.$habit.withValue(1) { Busy(entity: entity, insertInto: nil) }
        #expect(fresh.value(forKey: "name") as? String == "Busy")
    }

    @Test func objectsMayEndOnAnyThreadWhileTheContextLooksForThem() async throws {
        let bench = try Bench(.sqlite)
        for number in 0..<200 { try bench.person("P\(number)") }
        try bench.context.save()
        let other = bench.newContext()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<60 {
                let held = HeldObjects(try? other.performAndWait { try other.fetch(people) })
                #expect(held.count == 200)
                group.addTask { held.drop() }
            }
        }
        #expect(other.registeredObjects.isEmpty)
    }
}

/// Objects on their way to the thread that lets go of them.
private final class HeldObjects: @unchecked Sendable {
    // @unchecked: made by one thread and used by another after it.
    private var objects: [Person]?

    init(_ objects: [Person]?) { self.objects = objects }

    var count: Int { objects?.count ?? 0 }
    func drop() { objects = nil }
}

/// A class whose first object fetches before it is done.
private final class Curious: NSManagedObject {
    final class Once: @unchecked Sendable {
        // @unchecked: made and used by one test on one thread.
        private var work: (() throws -> Void)?

        init(_ work: @escaping () throws -> Void) { self.work = work }

        func run() {
            let work = work
            self.work = nil
            try? work?()
        }
    }

    @TaskLocal static var once: Once?

    required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
        Self.once?.run()
    }
}

/// A class whose initializer does something to its objects.
private final class Busy: NSManagedObject {
    @TaskLocal static var habit = 0

    required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
        if Self.habit == 1 { setValue("Busy", forKey: "name") }
        // A text that is read twice is taken out of its row.
        for _ in 0..<Self.habit { _ = value(forKey: "name") }
        if Self.habit == 3 { setPrimitiveValue("Busy", forKey: "name") }
    }
}
