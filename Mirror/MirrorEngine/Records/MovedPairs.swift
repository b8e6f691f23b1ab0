internal import ObjectModel
internal import RecordWire
internal import Stores

/// Which entities of a model are in one line of a tree, by their keys.
struct EntityLines: Sendable {
    /// The keys of each entity and of all above it.
    private let upwards: [String: Set<String>]

    init(layout: ModelLayout, keys: RecordKeys) {
        upwards = Dictionary(
            layout.entities.map { layout in
                var line: Set<String> = []
                var next: NSEntityDescription? = layout.entity
                while let entity = next {
                    line.insert(keys.entity(entity.name ?? ""))
                    next = entity.superentity
                }
                return (keys.entity(layout.name), line)
            }, uniquingKeysWith: { first, _ in first })
    }

    func knows(_ key: String) -> Bool { upwards[key] != nil }

    /// Whether both are one entity, or one is above the other.
    func join(_ one: String, _ other: String) -> Bool {
        upwards[one]?.contains(other) == true || upwards[other]?.contains(one) == true
    }
}

/// Pairs of a relationship that has its place elsewhere in another version of the model: at a
/// parent or a subentity, with another such destination, with an inverse or without. Their records
/// name the entities, so that the names are others; the pairs are the same.
extension PairCatalog {
    /// What a record says of one end.
    private struct Place {
        let entity: String
        let property: String
    }

    /// The pair under the names of the one kind that it can be of; nil where none or several fit.
    func moved(_ pair: JoinRecord) -> JoinRecord? {
        guard let places = Self.places(pair.entityNames, pair.relationshipNames) else {
            return nil
        }
        let found = kinds.compactMap { kind -> JoinRecord? in
            guard let own = Self.places(kind.entityNames, kind.relationshipNames) else {
                return nil
            }
            if fit(places, own) { return pair.named(kind, isTurned: false) }
            return fit(places.reversed(), own) ? pair.named(kind, isTurned: true) : nil
        }
        return found.count == 1 ? found[0] : nil
    }

    private static func places(_ entities: String, _ properties: String) -> [Place]? {
        let entities = entities.split(separator: ":", omittingEmptySubsequences: false)
        let properties = properties.split(separator: ":", omittingEmptySubsequences: false)
        guard entities.count == 2, properties.count == 2 else { return nil }
        return zip(entities, properties).map { Place(entity: String($0), property: String($1)) }
    }

    /// One end has to be found here by its entity and its name. The other may be of an entity that
    /// only the other version has, and only one of the versions may have a name for it.
    private func fit(_ places: [Place], _ own: [Place]) -> Bool {
        let ends = zip(places, own)
        return ends.contains { isFound($0, $1) }
            && ends.allSatisfy { place, own in
                (lines.join(place.entity, own.entity) || !lines.knows(place.entity))
                    && (place.property == own.property || place.property.isEmpty
                        || own.property.isEmpty)
            }
    }

    private func isFound(_ place: Place, _ own: Place) -> Bool {
        place.property == own.property && !own.property.isEmpty
            && lines.join(place.entity, own.entity)
    }
}

extension PairEntry {
    /// Whether the pair was recorded by a version of the model in which a member has as many owners
    /// as like: the relationship has an inverse there.
    var hasInverse: Bool {
        guard let base, case .string(let names)?? = base.fields[RecordNames.pairRelationships]
        else { return false }
        return !names.hasPrefix(":") && !names.hasSuffix(":")
    }
}
