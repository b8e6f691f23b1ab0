public import ObjectModel

// Entities by name, and objects of them.
extension NSEntityDescription {
    /// The entity of that name in the context's model.
    public class func entity(
        forEntityName entityName: String, in context: NSManagedObjectContext
    ) -> NSEntityDescription? {
        context.model?.entitiesByName[entityName]
    }

    /// Makes a new object of the named entity, of the entity's class. Traps for a name the model
    /// does not have.
    public class func insertNewObject(
        forEntityName entityName: String, into context: NSManagedObjectContext
    ) -> NSManagedObject {
        guard let entity = entity(forEntityName: entityName, in: context) else {
            ProgrammingMistake.unknownEntity(entityName)
        }
        let type = context.registry.type(for: ObjectLayout.of(entity))
        return type.init(entity: entity, insertInto: context)
    }
}
