import CoreData
import Testing

/// A generic of an app's own.
private func make<T: NSManagedObject>(_: T.Type, in context: NSManagedObjectContext) -> T {
    T(context: context)
}

extension NSPersistentStoreCoordinator {
    fileprivate static func fresh(_ model: NSManagedObjectModel) -> Self {
        self.init(managedObjectModel: model)
    }
}

struct ObjectSourceTests {
    let context: NSManagedObjectContext
    let container: NSPersistentContainer

    init() throws {
        container = try AppModel.container()
        context = container.newBackgroundContext()
    }

    @Test func genericsMakeObjects() {
        context.performAndWait {
            #expect(make(Todo.self, in: context).entity.name == "Todo")
            let coordinator = NSPersistentStoreCoordinator.fresh(AppModel.make())
            #expect(coordinator.persistentStores.isEmpty)
        }
    }

    @Test func accessorsOfToManys() throws {
        try context.performAndWait {
            let person = Person(context: context)
            let todos = (0..<4).map { number in
                let todo = Todo(context: context)
                todo.title = "\(number)"
                return todo
            }
            person.addToTodos(todos[0])
            person.addToTodos([todos[1], todos[2]])
            person.removeFromTodos(todos[0])
            #expect(person.todos?.count == 2)
            #expect(person.todos?.contains(todos[2]) == true)
            person.addToSteps(NSOrderedSet(array: [todos[0], todos[1]]))
            person.insertIntoSteps(todos[2], at: 0)
            person.replaceSteps(at: 1, with: todos[3])
            person.removeFromSteps(at: 2)
            #expect(person.steps?.array.map { ($0 as? Todo)?.title } == ["2", "3"])
            #expect(todos[2].planner === person)
            try context.save()
        }
    }

    @Test func declaredTypesOfScalars() throws {
        context.performAndWait {
            let person = Person(context: context)
            person.setValue(Int64(7), forKey: "visits")
            #expect(person.visits == 7)
            person.visits = 9
            #expect(person.visits == 9)
            person.mood = .busy
            #expect(person.moodRaw == 4)
            #expect(person.mood == .busy)
            #expect(person.value(forKey: "entity") as? NSEntityDescription === person.entity)
        }
    }

    @Test func transformablesBySecureTransformers() throws {
        let file = AppModel.temporaryFile()
        let first = try AppModel.container(file: file).newBackgroundContext()
        try first.performAndWait {
            let person = Person(name: "Ann", in: first)
            person.tags = ["a", "b"]
            try first.save()
        }
        let second = try AppModel.container(file: file).newBackgroundContext()
        try second.performAndWait {
            let person = try #require(try second.fetch(Person.fetchRequest()).first)
            #expect(person.tags == ["a", "b"])
        }
    }

    @Test func objectsWithoutModelsAreHarmless() {
        #expect(Stranger.entity().name == "Stranger")
        #expect(Stranger.entity() === Stranger.entity())
        let object = NSManagedObject()
        #expect(object.managedObjectContext == nil)
        #expect(NSManagedObjectID().isTemporaryID)
        #expect(NSConstraintConflict().constraint.isEmpty)
    }

    @Test func objectsPrintInApplesForm() throws {
        try context.performAndWait {
            let person = Person(name: "Ann O", in: context)
            person.age = 3
            let text = person.description
            #expect(text.hasPrefix("<Person: 0x"))
            #expect(text.contains(" (entity: Person; id: 0x"))
            #expect(text.contains("<x-coredata:///Person/t"))
            #expect(text.contains("    age = 3;\n"))
            #expect(text.contains("    boss = nil;\n"))
            #expect(text.contains("    name = \"Ann O\";\n"))
            #expect(text.hasSuffix("})"))
            try context.save()
            context.refresh(person, mergeChanges: false)
            #expect(person.debugDescription.hasSuffix("; data: <fault>)"))
            person.name = "a\u{1B}[31m\n"
            #expect(person.description.contains(#"name = "a\U001b[31m\n";"#))
        }
    }

    @Test func classNamesAreImplicitlyUnwrapped() {
        let entity = NSEntityDescription()
        let name: String? = entity.managedObjectClassName
        #expect(name == "NSManagedObject")
        entity.managedObjectClassName = nil
        #expect(entity.managedObjectClassName == "NSManagedObject")
    }

    @Test func modelsAreEqualByContent() {
        let model = AppModel.make()
        let same = AppModel.make()
        #expect(model == same)
        #expect(model.hash == same.hash)
        #expect(model.entities[0] == same.entities[0])
        #expect(model.entities[0].properties[0] == same.entities[0].properties[0])
        same.entities[1].properties[0].isOptional = false
        #expect(model != same)
        #expect(model.entities[1] != same.entities[1])
    }

    @Test func indexPathsHaveSections() {
        var path = IndexPath(row: 3, section: 1)
        #expect((path.section, path.row, path.item) == (1, 3, 3))
        path.section = 2
        #expect(path == IndexPath(item: 3, section: 2))
    }

    @Test func setsAreLiterals() {
        let set: NSSet = [1, 2, 2]
        #expect(set.count == 2)
        let mutable: NSMutableSet = ["a"]
        mutable.add("b")
        #expect(mutable.count == 2)
    }
}
