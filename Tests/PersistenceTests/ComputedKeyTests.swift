import CoreData
import Foundation
import Testing

/// A class with properties of its own, which answers their keys as the build plugin writes it.
private final class Guest: NSManagedObject, ComputedKeys {
    var name: String { primitiveValue(forKey: "name") as? String ?? "" }

    /// Computed of the transient attribute "initial", which it asks for by key.
    var initial: String? { value(forKey: "initial") as? String ?? String(name.prefix(1)) }

    func _computedValue(forKey key: String) -> ComputedValue? {
        switch key {
        case "greeting": .init("Hello \(name)")
        case "length": .init(name.count)
        case "nothing": .init(nil)
        case "initial": .init(initial)
        // Stored: never asked for.
        case "name": .init("wrong")
        default: nil
        }
    }
}

/// Getters of a class's own are found by their names.
@Suite struct ComputedKeyTests {
    private let context: NSManagedObjectContext

    init() {
        let entity = NSEntityDescription()
        entity.name = "Guest"
        entity.managedObjectClassName = String(reflecting: Guest.self)
        entity.properties = ["name", "initial"].map { name in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = .stringAttributeType
            attribute.isTransient = name == "initial"
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let container = NSPersistentContainer(name: "Guests", managedObjectModel: model)
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        context = container.newBackgroundContext()
    }

    private func guests(_ names: [String]) -> [NSManagedObject] {
        names.map { name in
            let guest = Guest(context: context)
            guest.setPrimitiveValue(name, forKey: "name")
            return guest
        }
    }

    @Test func valuesByKeyAreThoseOfTheGetters() {
        let guest = guests(["Ada"])[0]
        #expect(guest.value(forKey: "greeting") as? String == "Hello Ada")
        #expect((guest.value(forKey: "length") as? NSNumber)?.intValue == 3)
        #expect(guest.value(forKey: "nothing") == nil)
        #expect(guest.value(forKeyPath: "self.greeting") as? String == "Hello Ada")
        #expect(guest.value(forKey: "name") as? String == "Ada")
    }

    /// The getter of a transient attribute may read by key what is stored.
    @Test func transientAttributesAreComputed() {
        let guest = guests(["Ada"])[0]
        #expect(guest.value(forKey: "initial") as? String == "A")
        guest.setValue("Z", forKey: "initial")
        #expect(guest.value(forKey: "initial") as? String == "Z")
    }

    @Test func predicatesSortsAndSectionsReadThem() throws {
        let all = guests(["Bo", "Ada", "Bert"])
        let predicate = NSPredicate(format: "initial == 'B' AND length > 2")
        #expect((all as NSArray).filtered(using: predicate).count == 1)
        let sorted = (all as NSArray).sortedArray(
            using: [NSSortDescriptor(key: "greeting", ascending: false)])
        let lengths = (sorted as? [NSManagedObject])?.map { $0.value(forKey: "length") as? Int }
        #expect(lengths == [2, 4, 3])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Guest")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        for (path, names) in [("initial", ["A", "B"]), ("length", ["3", "4", "2"])] {
            let results = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: path,
                cacheName: nil)
            try context.performAndWait { try results.performFetch() }
            #expect(results.sections?.map(\.name) == names)
        }
    }
}
