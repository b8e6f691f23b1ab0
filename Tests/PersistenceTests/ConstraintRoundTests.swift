import CoreData
import Foundation
import Testing

/// A shelf that counts its books when it is saved.
final class CountingShelf: NSManagedObject {
    override func willSave() {
        let books = (value(forKey: "books") as? Set<NSManagedObject>)?.count ?? 0
        if value(forKey: "count") as? Int != books { setValue(books, forKey: "count") }
    }
}

/// What happens to a save after its merge policy settled a unique value.
@Suite struct ConstraintRoundTests {
    private static func model() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            return attribute
        }
        let shelf = NSEntityDescription()
        shelf.name = "Shelf"
        shelf.managedObjectClassName = NSStringFromClass(CountingShelf.self)
        let book = NSEntityDescription()
        book.name = "Book"
        let books = NSRelationshipDescription()
        books.name = "books"
        books.destinationEntity = book
        let place = NSRelationshipDescription()
        place.name = "shelf"
        place.destinationEntity = shelf
        place.maxCount = 1
        (books.inverseRelationship, place.inverseRelationship) = (place, books)
        shelf.properties = [
            attribute("code", .stringAttributeType), attribute("count", .integer64AttributeType),
            books,
        ]
        shelf.uniquenessConstraints = [["code"]]
        book.properties = [attribute("title", .stringAttributeType), place]
        let model = NSManagedObjectModel()
        model.entities = [shelf, book]
        return model
    }

    /// A book in a new shelf of the code.
    private func shelve(
        _ title: String, in context: NSManagedObjectContext
    ) throws -> NSManagedObject {
        let shelf = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: context)
        shelf.setValue("A", forKey: "code")
        let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
        book.setValue(title, forKey: "title")
        book.setValue(shelf, forKey: "shelf")
        return book
    }

    @Test(arguments: [StoreKind.memory, .sqlite])
    func objectsThatTookOthersPlacesAreAskedAgain(_ kind: StoreKind) throws {
        let bench = try Bench(kind, model: Self.model())
        let other = bench.newContext()
        for context in [bench.context, other] {
            context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        }
        let first = try shelve("Emma", in: bench.context)
        let second = try shelve("Ulysses", in: other)
        try other.save()
        try bench.context.save()
        let shelf = try #require(first.value(forKey: "shelf") as? NSManagedObject)
        #expect(shelf.objectID == (second.value(forKey: "shelf") as? NSManagedObject)?.objectID)
        #expect(shelf.value(forKey: "count") as? Int == 2)
        let twin = try bench.twin(shelf, in: bench.newContext())
        #expect(twin.value(forKey: "count") as? Int == 2)
    }

    @Test(arguments: [StoreKind.memory, .sqlite])
    func theHolderOfAValueKeepsItAlsoWhenItIsChanged(_ kind: StoreKind) throws {
        let bench = try Bench(kind, model: Self.model())
        bench.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let holder = try shelve("Emma", in: bench.context)
        try bench.context.save()
        let shelf = try #require(holder.value(forKey: "shelf") as? NSManagedObject)
        // Whichever of the two comes first.
        shelf.setValue(7, forKey: "count")
        let book = try shelve("Ulysses", in: bench.context)
        try bench.context.save()
        #expect(book.value(forKey: "shelf") as? NSManagedObject === shelf)
        #expect(shelf.value(forKey: "count") as? Int == 2)
    }

    /// The row has a value that another context gave it; the save that changes only its members is
    /// not to pass over it.
    @Test(arguments: [StoreKind.memory, .sqlite])
    func whoGotTheValueMeanwhileHoldsItThoughItsMembersChange(_ kind: StoreKind) throws {
        let bench = try Bench(kind, model: Self.tags())
        bench.context.mergePolicy = NSMergePolicy.rollback
        let tags = ["one", nil, "three"].map { code in
            let tag = NSEntityDescription.insertNewObject(
                forEntityName: "Tag", into: bench.context)
            tag.setValue(code, forKey: "code")
            return tag
        }
        try bench.context.save()
        let other = bench.newContext()
        try bench.twin(tags[1], in: other).setValue("two", forKey: "code")
        try other.save()

        tags[0].setValue("two", forKey: "code")
        tags[1].mutableSetValue(forKey: "peers").add(tags[2])
        try bench.context.save()
        let last = bench.newContext()
        let codes = try tags.map { try bench.twin($0, in: last).value(forKey: "code") as? String }
        #expect(codes == ["one", "two", "three"])
        #expect(tags[0].value(forKey: "code") as? String == "one")
    }

    private static func tags() -> NSManagedObjectModel {
        let code = NSAttributeDescription()
        code.name = "code"
        code.attributeType = .stringAttributeType
        let tag = NSEntityDescription()
        tag.name = "Tag"
        let (peers, others) = (NSRelationshipDescription(), NSRelationshipDescription())
        for (relationship, name) in [(peers, "peers"), (others, "others")] {
            relationship.name = name
            relationship.destinationEntity = tag
        }
        (peers.inverseRelationship, others.inverseRelationship) = (others, peers)
        tag.properties = [code, peers, others]
        tag.uniquenessConstraints = [["code"]]
        let model = NSManagedObjectModel()
        model.entities = [tag]
        return model
    }
}
