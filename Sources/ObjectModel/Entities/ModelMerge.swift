internal import Foundation

/// Joins the entities of several models into one set of copies, linked by name.
struct ModelMerge {
    private var chosen: [String: NSEntityDescription] = [:]
    private var order: [String] = []

    /// Takes `entities`. False when one of them differs from an entity of the same name that was
    /// taken before.
    mutating func take(_ entities: [NSEntityDescription], _ hashes: [String: Data]) -> Bool {
        for entity in entities {
            guard let name = entity.name else { continue }
            if let taken = chosen[name] {
                guard taken === entity || taken.versionHash == hashes[name] else { return false }
            } else {
                chosen[name] = entity
                order.append(name)
            }
        }
        return true
    }

    /// Copies of the entities taken. Every end and every parent is the copy of that name.
    func copies() -> [NSEntityDescription] {
        let twins = chosen.mapValues { $0.copyAlone() }
        for name in order {
            guard let original = chosen[name], let twin = twins[name] else { continue }
            twin.subentities = order.filter { chosen[$0]?.superentity?.name == name }
                .compactMap { twins[$0] }
            for (old, new) in zip(original.declaredProperties, twin.declaredProperties) {
                guard let old = old as? NSRelationshipDescription,
                    let new = new as? NSRelationshipDescription
                else { continue }
                new.destinationEntity = nil
                new.inverseRelationship = nil
                new.destinationEntityName = old.destinationEntityName
                new.inverseRelationshipName = old.inverseRelationshipName
            }
        }
        return order.compactMap { twins[$0] }
    }
}
