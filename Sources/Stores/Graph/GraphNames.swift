internal import ObjectModel

/// A model's names as an atomic store's file spells them, whatever their case.
struct GraphNames {
    /// Where a property stands in its entity's layout.
    enum Slot {
        case attribute(Int)
        case toOne(Int)
        case toMany(Int)
    }

    private var entities: [String: EntityLayout] = [:]
    private var slots: [Int32: [String: Slot]] = [:]
    /// Modelled, yet not kept in stores: transient and fetched properties.
    private var unstored: [Int32: Set<String>] = [:]
    private let leavesOutDerived: Bool

    /// Throws where the file's spelling would make two names one, and for derived attributes unless
    /// they are to be left out.
    init(_ layout: ModelLayout, leavingOutDerived: Bool = false) throws {
        self.leavesOutDerived = leavingOutDerived
        for entity in layout.entities {
            let former = entities.updateValue(entity, forKey: entity.name.lowercased())
            if let former { throw Self.collision(former.name, entity.name) }
            try add(entity)
        }
    }

    private mutating func add(_ entity: EntityLayout) throws {
        var own: [String: Slot] = [:]
        func put(_ name: String, _ slot: Slot) throws {
            guard own.updateValue(slot, forKey: name.lowercased()) == nil else {
                throw Self.collision(entity.name, name)
            }
        }
        for (slot, place) in entity.attributes.enumerated() {
            if place.attribute is NSDerivedAttributeDescription {
                if leavesOutDerived { continue }
                throw StoreError(
                    .unsupported,
                    "Core Data provided atomic stores do not support derived properties, "
                        + "and \(entity.name).\(place.name) is one; use a SQLite store.",
                    fields: ["entity": entity.name, "attribute": place.name])
            }
            try put(place.name, .attribute(slot))
        }
        for (slot, place) in entity.toOnes.enumerated() { try put(place.name, .toOne(slot)) }
        for (slot, place) in entity.toManys.enumerated() { try put(place.name, .toMany(slot)) }
        slots[entity.number] = own
        unstored[entity.number] = Set(
            entity.entity.propertiesByName.keys.map { $0.lowercased() }.filter { own[$0] == nil })
    }

    private static func collision(_ first: String, _ second: String) -> StoreError {
        StoreError(
            .unsupported,
            "Names that differ in case only cannot stand in one file of this type; rename one, or "
                + "use a SQLite store.", fields: ["first": first, "second": second])
    }

    func entity(_ name: String) -> EntityLayout? { entities[name.lowercased()] }

    func slot(_ name: String, in entity: EntityLayout) -> Slot? {
        if let slot = slots[entity.number]?[name.lowercased()] { return slot }
        let steps = name.lowercased().split(separator: ".").map(String.init)
        guard steps.count > 1 else { return nil }
        let attributes = entity.entity.attributesByName.values.sorted { $0.name < $1.name }
        let present = Self.presentName(of: steps[...], among: attributes)
        return present.flatMap { slots[entity.number]?[$0] }
    }

    /// The name now of an element of composites that had other names. These are in no version hash,
    /// so no migration spells the file anew.
    private static func presentName(
        of steps: ArraySlice<String>, among attributes: [NSAttributeDescription]
    ) -> String? {
        guard let step = steps.first else { return nil }
        if steps.count == 1 {
            return attributes.first { $0.name.lowercased() == step }?.name.lowercased()
        }
        let composites = attributes.compactMap { $0 as? NSCompositeAttributeDescription }
        let found =
            composites.first { $0.name.lowercased() == step }
            ?? composites.first { $0.renamingIdentifier?.lowercased() == step }
        guard let found else { return nil }
        return presentName(of: steps.dropFirst(), among: found.elements).map {
            "\(found.name.lowercased()).\($0)"
        }
    }

    func isUnstored(_ name: String, in entity: EntityLayout) -> Bool {
        unstored[entity.number]?.contains(name.lowercased()) ?? false
    }
}
