import CoreData

import class CoreData.NSExpression

/// Describes one mapping in few words.
extension NSEntityMapping {
    /// A mapping of an entity to another; `attributes` and `relationships` are formats of the
    /// expressions that give the values. With models it fits these alone.
    static func transforming(
        _ source: String, _ destination: String, named name: String? = nil,
        _ attributes: [String: String]? = nil, relationships: [String: String] = [:],
        from old: NSManagedObjectModel? = nil, to new: NSManagedObjectModel? = nil
    ) -> NSEntityMapping {
        let made = NSEntityMapping()
        made.name = name ?? "\(source)To\(destination)"
        made.mappingType = .transformEntityMappingType
        made.sourceEntityName = source
        made.destinationEntityName = destination
        made.sourceEntityVersionHash = old?.entityVersionHashesByName[source]
        made.destinationEntityVersionHash = new?.entityVersionHashesByName[destination]
        made.attributeMappings = attributes.map(properties)
        made.relationshipMappings = properties(relationships)
        return made
    }

    private static func properties(_ values: [String: String]) -> [NSPropertyMapping] {
        values.sorted { $0.key < $1.key }.map { name, expression in
            let property = NSPropertyMapping()
            property.name = name
            property.valueExpression = NSExpression(format: expression)
            return property
        }
    }
}
