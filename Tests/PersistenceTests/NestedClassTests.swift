import CoreData
import Foundation
import Testing

/// A type that classes of objects are declared in.
enum Bindery {
    final class Page: NSManagedObject {}
    struct Cover {
        final class Label: NSManagedObject {}
    }
    final class Leaf: NSManagedObject {}
}

/// Classes that are declared in other types.
@Suite struct NestedClassTests {
    private func bench(_ names: [String: String]) throws -> Bench {
        let model = NSManagedObjectModel()
        model.entities = names.sorted { $0.key < $1.key }.map { name, className in
            let entity = TestModel.entity(name)
            entity.managedObjectClassName = className
            entity.properties = [TestModel.attribute("text", .stringAttributeType)]
            return entity
        }
        return try Bench(.memory, model: model)
    }

    /// Before the program made one of them itself.
    @Test func theyAreFoundByTheirWholeNames() throws {
        let bench = try bench([
            "Page": "PersistenceTests.Bindery.Page",
            "Label": "PersistenceTests.Bindery.Cover.Label",
            "Gone": "PersistenceTests.Bindery.Gone",
        ])
        func made(_ name: String) -> NSManagedObject {
            NSEntityDescription.insertNewObject(forEntityName: name, into: bench.context)
        }
        #expect(made("Page") is Bindery.Page)
        #expect(made("Label") is Bindery.Cover.Label)
        #expect(type(of: made("Gone")) == NSManagedObject.self)
    }

    @Test func theyHaveTheEntitiesThatNameThem() throws {
        let bench = try bench(["Leaf": ".Bindery.Leaf"])
        #expect(Bindery.Leaf(context: bench.context).entity.name == "Leaf")
        let other = NSEntityDescription.insertNewObject(forEntityName: "Leaf", into: bench.context)
        #expect(other is Bindery.Leaf)
    }
}
