internal import MirrorEngine
public import ObjectModel
internal import Platform
public import SQLiteStore
internal import Stores

/// Fills a store of any model with generated objects: every concrete entity, every attribute at the
/// edges of its type, every kind of relationship. The same seed makes the same objects.
///
/// What it writes keeps uniqueness constraints and inverses, as objects saved by an app do.
public struct GraphFiller {
    /// What was filled, and what could not be, and why.
    public struct Report: Sendable {
        /// How many objects were made, by entity.
        public var objects: [String: Int] = [:]
        /// Attribute values that are not null.
        public var values = 0
        /// To-one links; the two ends of a one-to-one count as one.
        public var links = 0
        /// Memberships of many-to-many relationships and of to-manys without inverse.
        public var pairs = 0
        public var unfilled: [Unfilled] = []

        public var objectCount: Int { objects.values.reduce(0, +) }
    }

    /// Something that could not be filled.
    public struct Unfilled: Hashable, Sendable, CustomStringConvertible {
        public let entity: String
        /// Nil where it is the entity itself.
        public let property: String?
        public let reason: String

        public var description: String {
            "\(entity)\(property.map { ".\($0)" } ?? ""): \(reason)"
        }
    }

    private let model: NSManagedObjectModel
    private let randomness: SeededRandomness
    private let values: EdgeValues

    public init(model: NSManagedObjectModel, randomness: SeededRandomness) {
        self.model = model
        self.randomness = randomness
        values = EdgeValues(randomness: randomness)
    }

    /// Makes `objectsPerEntity` objects of each concrete entity, linked among each other, in one
    /// transaction of the store and one history transaction for each thousand. Throws what the
    /// store throws.
    public func fill(_ store: SQLiteRowStore, objectsPerEntity: Int) throws -> Report {
        try store.write { try fill($0, objectsPerEntity: objectsPerEntity) }
    }

    /// The same within a transaction of the caller's.
    public func fill(_ store: StoreTransaction, objectsPerEntity count: Int) throws -> Report {
        var report = Report()
        report.unfilled = unfillable(in: store.layout)
        var rows: [Row] = []
        for entity in store.layout.entities where isConcrete(entity) {
            let keys = try store.reserveKeys(entity: entity.number, count: count)
            for (index, key) in keys.enumerated() {
                rows.append(row(RowID(entity: entity.number, key: key), entity, at: index))
            }
        }
        var linker = GraphLinker(rows, layout: store.layout, randomness: randomness)
        linker.linkAll()
        let kept = try keepUnique(&linker, store, &report)
        for row in kept {
            report.objects[store.layout.entity(row.id.entity)?.name ?? "", default: 0] += 1
            report.values += row.attributes.count { !$0.isNull }
        }
        report.links = linker.links
        report.pairs = linker.pairCount
        try write(kept, linker.toManys, to: store)
        return report
    }

    private func isConcrete(_ entity: EntityLayout) -> Bool {
        !entity.entity.isAbstract && model.entitiesByName[entity.name] != nil
    }

    // MARK: Rows

    /// The first object of an entity has every value, so that no attribute stays unused. `index`
    /// counts those of the entity.
    private func row(_ id: RowID, _ entity: EntityLayout, at index: Int) -> Row {
        var row = Row(id: id, layout: entity)
        row.attributes = entity.attributes.map { slot in
            slot.attribute is NSDerivedAttributeDescription
                ? .null : values.value(for: slot.attribute, isFull: index.isMultiple(of: 4))
        }
        return row
    }

    /// Draws anew where a key is taken; where that does not help, an attribute or a link of the key
    /// is emptied.
    private func keepUnique(
        _ linker: inout GraphLinker, _ store: StoreTransaction, _ report: inout Report
    ) throws -> [Row] {
        var register = UniqueRegister(store: store)
        var kept: [Row] = []
        for id in linker.linkedRows.map(\.id) {
            guard var row = linker.rows[id], let entity = store.layout.entity(id.entity) else {
                continue
            }
            var attempts = 0
            while let clash = try register.claim(row) {
                attempts += 1
                let slots = clash.properties.compactMap { entity.attributeSlot($0) }
                if attempts <= Self.drawsMax, !slots.isEmpty {
                    for slot in slots {
                        row.attributes[slot] = values.rareValue(
                            for: entity.attributes[slot].attribute)
                    }
                } else if let slot = clash.properties.compactMap({ entity.toOneSlot($0) }).first {
                    linker.unlink(id, slot)
                    row.toOnes[slot] = nil
                } else {
                    for slot in slots { row.attributes[slot] = .null }
                    report.unfilled.append(
                        Unfilled(
                            entity: entity.name, property: clash.properties.joined(separator: ", "),
                            reason: "its type has fewer values than there are objects"))
                }
            }
            kept.append(row)
        }
        // A later row's key may have let go of a link to an earlier one.
        return kept.map { row in
            var row = row
            row.toOnes = linker.rows[row.id]?.toOnes ?? row.toOnes
            return row
        }
    }

    private static let drawsMax = 30

    // MARK: Writing

    private func write(
        _ rows: [Row], _ toManys: [ToManyChange], to store: StoreTransaction
    ) throws {
        var start = 0
        while start < rows.count {
            var changes = ChangeSet()
            changes.author = "app"
            changes.inserts = Array(rows[start..<min(start + Self.rowsPerSave, rows.count)])
            _ = try store.apply(changes)
            start += Self.rowsPerSave
        }
        guard !toManys.isEmpty else { return }
        var changes = ChangeSet()
        changes.author = "app"
        changes.toManys = toManys
        _ = try store.apply(changes)
    }

    private static let rowsPerSave = 1_000

    // MARK: What cannot be filled

    private func unfillable(in layout: ModelLayout) -> [Unfilled] {
        layout.entities.filter(isConcrete).flatMap { entity in
            let attributes = entity.attributes.compactMap { slot in
                reason(slot.attribute).map {
                    Unfilled(entity: entity.name, property: slot.name, reason: $0)
                }
            }
            let relationships = (entity.toOnes + entity.toManys).compactMap { relationship in
                reason(relationship, layout).map {
                    Unfilled(entity: entity.name, property: relationship.name, reason: $0)
                }
            }
            return attributes + relationships
        }
    }

    private func reason(_ attribute: NSAttributeDescription) -> String? {
        if attribute is NSDerivedAttributeDescription { return "the store computes it" }
        switch attribute.attributeType {
        case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType:
            return "no store holds values of its type"
        default: return nil
        }
    }

    private func reason(
        _ relationship: NSRelationshipDescription, _ layout: ModelLayout
    ) -> String? {
        guard let name = relationship.destinationEntity?.name,
            let target = layout.entity(named: name)
        else { return "its destination is not in the store" }
        let family = layout.family(of: target).compactMap { layout.entity($0) }
        return family.contains(where: isConcrete) ? nil : "its destination is abstract"
    }
}
