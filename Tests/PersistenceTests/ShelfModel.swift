import CoreData
import Foundation

/// Items in boxes: what fetched results controllers sort, filter and group.
enum ShelfModel {
    static func make() -> NSManagedObjectModel {
        let box = TestModel.entity("Box")
        let item = TestModel.entity("Item")
        let special = TestModel.entity("SpecialItem")
        box.properties = [TestModel.attribute("label", .stringAttributeType)]
        item.properties = [
            TestModel.attribute("serial", .integer64AttributeType),
            TestModel.attribute("rank", .integer32AttributeType, default: 0),
            TestModel.attribute("group", .stringAttributeType),
            TestModel.attribute("isShown", .booleanAttributeType, default: true),
            TestModel.attribute("note", .stringAttributeType),
        ]
        special.properties = [TestModel.attribute("extra", .stringAttributeType)]
        item.subentities = [special]
        TestModel.link(item, "box", .one, box, "items", .many)
        let model = NSManagedObjectModel()
        model.entities = [box, item, special]
        return model
    }

    static func request(
        _ keys: [String] = ["group", "rank", "serial"], _ format: String? = nil
    ) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
        request.predicate = format.map { NSPredicate(format: $0) }
        return request
    }
}
