import CoreData
import Testing

struct RequestSourceTests {
    let container: NSPersistentContainer
    let file = AppModel.temporaryFile()
    var context: NSManagedObjectContext { container.newBackgroundContext() }

    init() throws {
        container = try AppModel.container(file: file)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let boss = Person(name: "Ann", in: context)
            boss.age = 40
            boss.isActive = true
            boss.born = Date(timeIntervalSinceReferenceDate: 10)
            boss.id = UUID(uuidString: "00000000-0000-0000-0000-000000000001")
            let other = Person(name: "bob", in: context)
            other.age = 20
            other.boss = boss
            let third = Person(name: "Cid", in: context)
            third.age = 30
            third.boss = other
            third.born = Date(timeIntervalSinceReferenceDate: 5)
            let todo = Todo(context: context)
            todo.title = "read"
            todo.done = true
            boss.addToTodos(todo)
            try context.save()
        }
    }

    private func names(_ request: NSFetchRequest<Person>) throws -> [String?] {
        let context = context
        return try context.performAndWait { try context.fetch(request).map(\.name) }
    }

    @Test func ownFetchRequestWinsWithoutAnnotation() throws {
        let r = Person.fetchRequest()
        r.predicate = NSPredicate(format: "name == %@", "Ann")
        #expect(try names(r) == ["Ann"])
        let general: NSFetchRequest<NSFetchRequestResult> = Person.fetchRequest()
        let context = context
        #expect(try context.performAndWait { try context.count(for: general) } == 3)
        #expect(Todo.fetchRequest().entityName == "Todo")
        #expect(Stranger.fetchRequest().entityName == "Stranger")
    }

    @Test func keyPathsSortByAnyProperty() throws {
        func sorted(_ descriptor: NSSortDescriptor) throws -> [String?] {
            let r = Person.fetchRequest()
            r.sortDescriptors = [
                descriptor, NSSortDescriptor(keyPath: \Person.age, ascending: true),
            ]
            return try names(r)
        }
        #expect(
            try sorted(NSSortDescriptor(keyPath: \Person.name, ascending: true))
                == ["Ann", "Cid", "bob"])
        #expect(
            try sorted(NSSortDescriptor(keyPath: \Person.born, ascending: false))
                == ["Ann", "Cid", "bob"])
        #expect(
            try sorted(NSSortDescriptor(keyPath: \Person.isActive, ascending: false))
                == ["Ann", "bob", "Cid"])
        #expect(
            try sorted(NSSortDescriptor(keyPath: \Person.boss?.name, ascending: true))
                == ["Ann", "bob", "Cid"])
        let relation = NSSortDescriptor(keyPath: \Person.boss, ascending: true)
        #expect(relation.ascending)
    }

    @Test func sortDescriptorsOfTheNewerFormConvert() throws {
        let r = Person.fetchRequest()
        r.sortDescriptors = [NSSortDescriptor(SortDescriptor(\Person.name))]
        // As people expect names: small letters stand among capitals.
        #expect(try names(r) == ["Ann", "bob", "Cid"])
        r.sortDescriptors = [SortDescriptor(\Person.age, order: .reverse)].map(
            NSSortDescriptor.init)
        #expect(try names(r) == ["Ann", "Cid", "bob"])
    }

    @Test func aSelectorMayBeNil() {
        let descriptor = NSSortDescriptor(key: "name", ascending: false, selector: nil)
        #expect(descriptor == NSSortDescriptor(key: "name", ascending: false))
    }

    @Test func comparatorIsTheOneGiven() {
        let descriptor = NSSortDescriptor(key: "name", ascending: true) { _, _ in
            .orderedDescending
        }
        #expect(descriptor.comparator("a", "b") == .orderedDescending)
        let plain = NSSortDescriptor(key: "name", ascending: true)
        #expect(plain.comparator("a", "b") == .orderedAscending)
    }

    @Test func variableArgumentsOfFormats() throws {
        let r = Person.fetchRequest()
        let date = Date(timeIntervalSinceReferenceDate: 7)
        r.predicate = NSPredicate(format: "born > %@", date as CVarArg)
        #expect(try names(r) == ["Ann"])
        let id = UUID(uuidString: "00000000-0000-0000-0000-000000000001")!
        r.predicate = NSPredicate(format: "%K == %@", "id", id as CVarArg)
        #expect(try names(r) == ["Ann"])
        r.predicate = NSPredicate(format: "age IN %@", [20, 30] as CVarArg)
        #expect(try names(r).count == 2)
        let arguments: [CVarArg] = ["Cid", date]
        r.predicate = NSPredicate(format: "name == %@ OR born > %@", argumentArray: arguments)
        #expect(try names(r).count == 2)
    }

    @Test func castsOfRequestsAreConversions() throws {
        let general: NSFetchRequest<NSFetchRequestResult> = Person.fetchRequest()
        general.fetchLimit = 1
        let typed = general.returning(Person.self)
        #expect(try names(typed).count == 1)
    }

    @Test func requestsPrintInApplesForm() {
        let r = Person.fetchRequest()
        r.predicate = NSPredicate(format: "age > 3")
        r.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
        r.fetchLimit = 5
        #expect(r.description.hasPrefix("<NSFetchRequest: 0x"))
        #expect(r.description.contains("(entity: Person; predicate: (age > 3); "))
        #expect(r.description.contains("(age, descending, compare:)"))
        #expect(r.description.contains("limit: 5; type: NSManagedObjectResultType; )"))
        // Built in code, whose text is Foundation's; the request's is Apple's.
        r.predicate = NSCompoundPredicate(
            andPredicateWithSubpredicates: [
                NSPredicate(format: "name == 'a' OR age > 1"),
                NSCompoundPredicate(
                    notPredicateWithSubpredicate: NSPredicate(format: "age == 2")),
            ])
        #expect(r.description.contains("((name == \"a\" OR age > 1) AND NOT age == 2)"))
    }
}
