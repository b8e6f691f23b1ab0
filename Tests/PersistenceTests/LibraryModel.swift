import CoreData
import Foundation

/// Authors and their books: the model of the example stores.
enum LibraryModel {
    static func make() -> NSManagedObjectModel {
        let author = TestModel.entity("Author")
        let book = TestModel.entity("Book")
        author.properties = [
            TestModel.attribute("name", .stringAttributeType),
            TestModel.attribute("born", .integer32AttributeType),
        ]
        book.properties = [
            TestModel.attribute("title", .stringAttributeType),
            TestModel.attribute("price", .decimalAttributeType),
        ]
        TestModel.link(author, "books", .many, book, "author", .one, rule: .cascadeDeleteRule)
        let model = NSManagedObjectModel()
        model.entities = [author, book]
        return model
    }
}

/// A coordinator over the library with one store of a program's own type.
struct Library {
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    let context: NSManagedObjectContext

    init(
        type: String, at url: URL, options: [AnyHashable: Any]? = nil,
        model: NSManagedObjectModel = LibraryModel.make()
    ) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: url, options: options)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    func all(_ entity: String, _ format: String? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [
            NSSortDescriptor(key: entity == "Book" ? "title" : "name", ascending: true)
        ]
        return try context.fetch(request)
    }

    func texts(_ entity: String, _ key: String, _ format: String? = nil) throws -> [String] {
        try all(entity, format).compactMap { $0.value(forKey: key) as? String }
    }
}
