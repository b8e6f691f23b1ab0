public import Foundation

extension NSEntityDescription {
    /// A copy of the entity and of all that inherits from it, in no model, under no parent.
    /// Relationships of the copies point where the originals' do.
    public func copy(with zone: NSZone? = nil) -> Any {
        let twin = copyAlone()
        twin.subentities = subentities.filter { $0.superentity === self }.compactMap {
            $0.copy() as? NSEntityDescription
        }
        return twin
    }

    /// A copy with the declared properties, without subentities.
    func copyAlone() -> NSEntityDescription {
        let twin = Self()
        twin.name = name
        twin.managedObjectClassName = managedObjectClassName
        twin.isAbstract = isAbstract
        twin.userInfo = userInfo
        twin.versionHashModifier = versionHashModifier
        twin.givenRenamingIdentifier = givenRenamingIdentifier
        twin.uniquenessConstraints = uniquenessConstraintNames
        twin.marks = marks
        twin.declaredProperties = declaredProperties.compactMap {
            $0.copy() as? NSPropertyDescription
        }
        twin.indexes = indexes.compactMap { $0.copy() as? NSFetchIndexDescription }
        return twin
    }
}

extension NSManagedObjectModel {
    /// A deep copy that shares nothing with the original and may be changed.
    public func copy(with zone: NSZone? = nil) -> Any {
        let twin = Self()
        twin.configurationMembers = configurationMembers
        twin.fetchRequestTemplates = fetchRequestTemplates
        twin.versionIdentifiers = versionIdentifiers
        twin.localizationDictionary = localizationDictionary
        twin.documentFacts = documentFacts
        twin.unreadParts = unreadParts
        twin.readingNotes = readingNotes
        twin.entities = EntityCopies(of: entities).inOrder
        return twin
    }
}

/// Copies of entities, linked among themselves as the originals are.
struct EntityCopies {
    private(set) var inOrder: [NSEntityDescription] = []
    private var twins: [ObjectIdentifier: NSEntityDescription] = [:]

    /// Copies `originals`. Ends that lie outside them keep pointing at the original.
    init(of originals: [NSEntityDescription]) {
        for entity in originals {
            let twin = entity.copyAlone()
            inOrder.append(twin)
            twins[ObjectIdentifier(entity)] = twin
        }
        for (entity, twin) in zip(originals, inOrder) {
            twin.subentities = entity.subentities.compactMap { twins[ObjectIdentifier($0)] }
        }
        for (entity, twin) in zip(originals, inOrder) { link(entity, twin) }
    }

    private func link(_ entity: NSEntityDescription, _ twin: NSEntityDescription) {
        for (old, new) in zip(entity.declaredProperties, twin.declaredProperties) {
            guard let old = old as? NSRelationshipDescription,
                let new = new as? NSRelationshipDescription
            else { continue }
            if let end = old.destinationEntity, let copied = twins[ObjectIdentifier(end)] {
                new.destinationEntity = copied
            }
            if let back = old.inverseRelationship, let holder = twins[ObjectIdentifier(back.entity)]
            {
                new.inverseRelationship =
                    holder.declaredProperties.first { $0.name == back.name }
                    as? NSRelationshipDescription
            }
        }
    }
}
