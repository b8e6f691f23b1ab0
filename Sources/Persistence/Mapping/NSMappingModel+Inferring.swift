internal import Foundation
public import ObjectModel

internal import class Predicates.NSExpression

extension NSMappingModel {
    /// The mapping that follows from two versions of a model by names and renaming identifiers.
    ///
    /// Properties may move within an inheritance tree, entities get another parent, to-ones become
    /// to-manys, numbers a wider type. A relationship that leads to an unrelated entity now begins
    /// empty. Throws `NSInferredMappingModelError` (134190), with `entity`, `property` and `reason`
    /// in its user info, where an attribute's type is another one, a to-many would become a to-one,
    /// or two entities come from one. Values that a mandatory attribute lacks are found by the
    /// migration. Unlike Apple's, trees that had no common root may become one. Cost: O(entities
    /// and properties), in memory.
    public class func inferredMappingModel(
        forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
    ) throws -> NSMappingModel {
        let inferred: InferredMapping
        do {
            inferred = try InferredMapping(
                from: sourceModel.entities, to: destinationModel.entities)
        } catch let refusal as InferenceRefusal {
            throw MigrationErrors.notInferred(refusal)
        }
        return NSMappingModel(inferred)
    }

    convenience init(_ inferred: InferredMapping) {
        self.init()
        entityMappings =
            inferred.matches.map(NSEntityMapping.init)
            + inferred.removed.map(NSEntityMapping.init(removing:))
    }
}

extension NSEntityMapping {
    fileprivate static func inferredName(of match: EntityMatch) -> String {
        let (source, destination) = (match.source?.name ?? "", match.destination.name ?? "")
        if match.source == nil { return "IEM_Add_\(destination)" }
        let verb = match.isUnchanged ? "Copy" : "Transform"
        return source == destination
            ? "IEM_\(verb)_\(source)" : "IEM_\(verb)_\(source)_\(destination)"
    }

    fileprivate convenience init(_ match: EntityMatch) {
        self.init()
        name = Self.inferredName(of: match)
        destinationEntityName = match.destination.name
        destinationEntityVersionHash = match.destination.versionHash
        guard let source = match.source else {
            mappingType = .addEntityMappingType
            return
        }
        mappingType = match.isUnchanged ? .copyEntityMappingType : .transformEntityMappingType
        sourceEntityName = source.name
        sourceEntityVersionHash = source.versionHash
        attributeMappings = match.attributes.compactMap { attribute in
            guard !(attribute.destination is NSDerivedAttributeDescription) else { return nil }
            let mapping = NSPropertyMapping()
            mapping.name = attribute.destination.name
            mapping.valueExpression = attribute.source.map {
                NSExpression(node: MigrationFunction.ofSource([$0.name]))
            }
            return mapping
        }
        relationshipMappings = match.relationships.map { relationship in
            let mapping = NSPropertyMapping()
            mapping.name = relationship.destination.name
            mapping.valueExpression = relationship.source.map(Self.destinations)
            return mapping
        }
    }

    /// What became of the objects that a source relationship leads to.
    private static func destinations(of relationship: NSRelationshipDescription) -> NSExpression {
        NSExpression(
            node: MigrationFunction.ofRelationship.node([
                .constant(relationship.name), MigrationFunction.ofSource([relationship.name]),
            ]))
    }

    fileprivate convenience init(removing entity: NSEntityDescription) {
        self.init()
        name = "IEM_Remove_\(entity.name ?? "")"
        mappingType = .removeEntityMappingType
        sourceEntityName = entity.name
        sourceEntityVersionHash = entity.versionHash
    }
}
