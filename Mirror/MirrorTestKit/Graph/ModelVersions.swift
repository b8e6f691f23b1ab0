internal import MirrorEngine
internal import ObjectModel
internal import Stores

/// The versions of a world's model, and how the memory speaks of what they name differently: by the
/// names of the last one.
struct ModelVersions {
    /// One version, as an editor needs it.
    struct Version {
        let layout: ModelLayout
        let catalog: PairCatalog
        let concrete: [EntityLayout]
        let counters: CounterRules

        init(_ model: NSManagedObjectModel, _ policy: MergePolicy) {
            layout = ModelLayout(model: model)
            catalog = PairCatalog(layout: layout)
            concrete = layout.entities.filter { !$0.entity.isAbstract }
            counters = CounterRules(policy, layout)
        }
    }

    let first: Version
    let last: Version
    /// The last names of properties, by the first ones.
    private var names: [String: String] = [:]
    private var entityNames: [String: String] = [:]

    init(_ model: NSManagedObjectModel, later: NSManagedObjectModel?, _ policy: MergePolicy) {
        first = Version(model, policy)
        last = later.map { Version($0, policy) } ?? first
        // A model alone may tell of former names that it gives to other properties now.
        guard later != nil else { return }
        for entity in last.layout.entities {
            entityNames[entity.entity.givenRenamingIdentifier ?? entity.name] = entity.name
            for property in entity.entity.properties {
                if let former = property.givenRenamingIdentifier { names[former] = property.name }
            }
        }
    }

    func lastName(of property: String) -> String { names[property] ?? property }

    /// The entity of the last version.
    func last(_ entity: EntityLayout) -> EntityLayout {
        last.layout.entity(named: entityNames[entity.name] ?? entity.name) ?? entity
    }

    /// The slots of the last version whose attributes the first one lacks.
    func slotsOfLastOnly(_ entity: EntityLayout) -> [Int] {
        let last = last(entity)
        let former = first.layout.entities.first { self.last($0).number == last.number }
        let known = Set(former?.attributes.map { lastName(of: $0.name) } ?? [])
        return last.attributes.indices.filter { !known.contains(last.attributes[$0].name) }
    }

    /// A row's values in the slots of the last version; nil where its own version has none.
    func lastValues(of row: Row, _ entity: EntityLayout) -> [AttributeValue?] {
        var values: [String: AttributeValue] = [:]
        for (slot, attribute) in entity.attributes.enumerated() {
            values[lastName(of: attribute.name)] = row.attributes[slot]
        }
        return last(entity).attributes.map { values[$0.name] }
    }
}
