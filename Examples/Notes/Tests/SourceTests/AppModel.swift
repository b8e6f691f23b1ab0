import CoreData

// The classes and the model of an app, as Xcode generates and people write them. Only CoreData is
// imported in this folder, and the testing libraries.

public enum Mood: Int16, CaseIterable, Sendable {
    case calm = 3
    case busy = 4
}

public class Person: NSManagedObject {
    convenience init(name: String, in context: NSManagedObjectContext) {
        self.init(context: context)
        self.name = name
    }
}

extension Person {
    @nonobjc public class func fetchRequest() -> NSFetchRequest<Person> {
        NSFetchRequest<Person>(entityName: "Person")
    }

    @NSManaged public var name: String?
    @NSManaged public var age: Int16
    @NSManaged public var isActive: Bool
    @NSManaged public var born: Date?
    @NSManaged public var score: Double
    @NSManaged public var id: UUID?
    @NSManaged public var moodRaw: Int16
    @NSManaged public var visits: Int
    @NSManaged public var tags: [String]?
    @NSManaged public var boss: Person?
    @NSManaged public var staff: NSSet?
    @NSManaged public var todos: NSSet?
    @NSManaged public var steps: NSOrderedSet?

    /// An enumeration through its raw value, as apps write it.
    var mood: Mood? {
        get { Mood(rawValue: moodRaw) }
        set { moodRaw = newValue?.rawValue ?? 0 }
    }

    /// Computed; no property of the model.
    var shout: String? { name?.uppercased() }
}

// MARK: Generated accessors for todos
extension Person {
    @NSManaged public func addToTodos(_ value: Todo)
    @NSManaged public func removeFromTodos(_ value: Todo)
    @NSManaged public func addToTodos(_ values: NSSet)
    @NSManaged public func removeFromTodos(_ values: NSSet)
}

// MARK: Generated accessors for steps
extension Person {
    @NSManaged public func insertIntoSteps(_ value: Todo, at idx: Int)
    @NSManaged public func removeFromSteps(at idx: Int)
    @NSManaged public func addToSteps(_ value: Todo)
    @NSManaged public func addToSteps(_ values: NSOrderedSet)
    @NSManaged public func replaceSteps(at idx: Int, with value: Todo)
}

extension Person: Identifiable {}

public class Todo: NSManagedObject {
    @NSManaged public var title: String?
    @NSManaged public var done: Bool
    @NSManaged public var owner: Person?
    @NSManaged public var planner: Person?
}

/// A class that nobody's model names.
class Stranger: NSManagedObject {}

enum AppModel {
    static func attribute(
        _ name: String, _ type: NSAttributeType, optional: Bool = true
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        return attribute
    }

    static func relation(
        _ name: String, to entity: NSEntityDescription, many: Bool
    ) -> NSRelationshipDescription {
        let relation = NSRelationshipDescription()
        relation.name = name
        relation.destinationEntity = entity
        relation.maxCount = many ? 0 : 1
        relation.deleteRule = .nullifyDeleteRule
        return relation
    }

    static func make() -> NSManagedObjectModel {
        let person = NSEntityDescription()
        person.name = "Person"
        person.managedObjectClassName = NSStringFromClass(Person.self)
        let todo = NSEntityDescription()
        todo.name = "Todo"
        todo.managedObjectClassName = NSStringFromClass(Todo.self)
        let visits = attribute("visits", .integer64AttributeType)
        visits.isTransient = true
        let tags = attribute("tags", .transformableAttributeType)
        tags.valueTransformerName =
            NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
        let staff = relation("staff", to: person, many: true)
        let boss = relation("boss", to: person, many: false)
        (staff.inverseRelationship, boss.inverseRelationship) = (boss, staff)
        let todos = relation("todos", to: todo, many: true)
        let owner = relation("owner", to: person, many: false)
        (todos.inverseRelationship, owner.inverseRelationship) = (owner, todos)
        let steps = relation("steps", to: todo, many: true)
        steps.isOrdered = true
        let planner = relation("planner", to: person, many: false)
        (steps.inverseRelationship, planner.inverseRelationship) = (planner, steps)
        let active = attribute("isActive", .booleanAttributeType)
        active.defaultValue = false
        person.properties = [
            attribute("name", .stringAttributeType), attribute("age", .integer16AttributeType),
            active, attribute("born", .dateAttributeType),
            attribute("score", .doubleAttributeType), attribute("id", .UUIDAttributeType),
            attribute("moodRaw", .integer16AttributeType), visits, tags, staff, boss, todos, steps,
        ]
        todo.properties = [
            attribute("title", .stringAttributeType), attribute("done", .booleanAttributeType),
            owner, planner,
        ]
        let model = NSManagedObjectModel()
        model.entities = [person, todo]
        return model
    }

    /// A container in memory; of SQLite where `file` is given.
    static func container(file: URL? = nil) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "App", managedObjectModel: make())
        let description = NSPersistentStoreDescription()
        description.type = file == nil ? NSInMemoryStoreType : NSSQLiteStoreType
        description.url = file
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        var failure: Error?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    static func temporaryFile() -> URL {
        FileManager.default.temporaryDirectory
            .appendingPathComponent("SourceTests-\(UUID().uuidString).sqlite")
    }
}
