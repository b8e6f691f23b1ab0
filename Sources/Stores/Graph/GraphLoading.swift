internal import Foundation
internal import ObjectModel

/// Turns the objects of a file into rows of a model.
struct GraphLoading {
    private let layout: ModelLayout
    private let names: GraphNames
    private let path: String
    private let former: FormerRows?
    private var ids: [Int64: RowID] = [:]
    private var rows: [Row] = []
    private var places: [RowID: Int] = [:]
    private var toManys: [ToManyChange] = []

    /// The rows and links of `graph`, as one change set for empty tables.
    static func changes(
        from graph: StoredGraph, layout: ModelLayout, names: GraphNames, path: String,
        as former: FormerRows? = nil
    ) throws -> ChangeSet {
        var loading = GraphLoading(layout: layout, names: names, path: path, former: former)
        for object in graph.objects { try loading.addRow(object) }
        for object in graph.objects { try loading.addLinks(object) }
        var changes = ChangeSet()
        changes.areCopies = former != nil
        changes.inserts = loading.rows
        changes.toManys = loading.toManys
        return changes
    }

    private init(
        layout: ModelLayout, names: GraphNames, path: String, former: FormerRows?
    ) {
        self.layout = layout
        self.names = names
        self.path = path
        self.former = former
    }

    private mutating func addRow(_ object: StoredObject) throws {
        // Also of an entity that has become abstract since: what there is stays, as in SQLite.
        guard let entity = names.entity(object.entity) else {
            throw StoreError(
                .modelMismatch,
                "The store has objects of an entity that the model does not have; open it with "
                    + "the model it was made for.", fields: ["path": path, "entity": object.entity])
        }
        var row = Row(id: RowID(entity: entity.number, key: object.key), layout: entity)
        if let place = former?.rows[object.key], place.id.entity == entity.number {
            row.id = place.id
            row.version = place.version
        }
        for attribute in object.attributes {
            guard case .attribute(let slot) = names.slot(attribute.name, in: entity) else {
                try refuse(attribute.name, of: entity)
                continue
            }
            let description = entity.attributes[slot].attribute
            guard let value = StoredType.fit(attribute.value, to: description) else {
                throw damage(object, attribute.name, "a value of another type than the model's")
            }
            row.attributes[slot] = value
        }
        guard object.key > 0, ids.updateValue(row.id, forKey: object.key) == nil else {
            throw damage(object, nil, "a key that another object has, too")
        }
        places[row.id] = rows.count
        rows.append(row)
    }

    /// What the model does not keep would be lost with the next save, so it is not passed over.
    private func refuse(_ name: String, of entity: EntityLayout) throws {
        guard !names.isUnstored(name, in: entity) else { return }
        throw StoreError(
            .modelMismatch,
            "The store has values of a property that the model does not have; open it with the "
                + "model it was made for.",
            fields: ["path": path, "entity": entity.name, "property": name])
    }

    // MARK: Links

    private mutating func addLinks(_ object: StoredObject) throws {
        guard let owner = ids[object.key], let entity = layout.entity(owner.entity) else { return }
        for relationship in object.relationships {
            let targets = try relationship.targets.map { key in
                guard let id = ids[key] else {
                    throw damage(object, relationship.name, "a link to no object")
                }
                return id
            }
            switch names.slot(relationship.name, in: entity) {
            case .toOne(let slot):
                guard targets.count <= 1 else {
                    throw damage(object, relationship.name, "several objects in a to-one")
                }
                guard let target = targets.first else { continue }
                try check(target, of: entity.toOnes[slot], object)
                link(owner, slot, to: target)
                if let back = entity.toOnes[slot].inverseRelationship, !back.isToMany {
                    complete(back, of: target, with: owner)
                }
            case .toMany(let slot):
                try addMembers(targets, of: owner, entity.toManys[slot], slot, object)
            case .attribute, nil: try refuse(relationship.name, of: entity)
            }
        }
    }

    private mutating func addMembers(
        _ members: [RowID], of owner: RowID, _ relationship: NSRelationshipDescription,
        _ slot: Int, _ object: StoredObject
    ) throws {
        for member in members { try check(member, of: relationship, object) }
        guard !members.isEmpty else { return }
        var change = ToManyChange(owner: owner, slot: slot)
        if let back = relationship.inverseRelationship, !back.isToMany {
            for member in members { complete(back, of: member, with: owner) }
        } else {
            change.added = members.map { Link($0) }
        }
        if relationship.isOrdered { change.order = members }
        if change.order != nil || !change.added.isEmpty { toManys.append(change) }
    }

    private mutating func link(_ owner: RowID, _ slot: Int, to target: RowID) {
        guard let place = places[owner] else { return }
        rows[place].toOnes[slot] = Link(target)
    }

    /// Other writers may give one end of a link only; an end that is there is left alone.
    private mutating func complete(
        _ back: NSRelationshipDescription, of member: RowID, with owner: RowID
    ) {
        guard let place = places[member],
            let slot = layout.entity(member.entity)?.toOneSlot(back.name),
            rows[place].toOnes[slot] == nil
        else { return }
        rows[place].toOnes[slot] = Link(owner)
    }

    private func check(
        _ target: RowID, of relationship: NSRelationshipDescription, _ object: StoredObject
    ) throws {
        guard let destination = relationship.destinationEntity,
            layout.entity(target.entity)?.entity.isKindOf(entity: destination) ?? false
        else { throw damage(object, relationship.name, "a link to an object of another entity") }
    }

    private func damage(_ object: StoredObject, _ property: String?, _ what: String) -> StoreError {
        var fields = ["path": path, "entity": object.entity, "key": String(object.key)]
        fields["property"] = property
        return StoreError(
            .corrupt, "The store's file is damaged: an object has \(what); restore it from a copy.",
            fields: fields)
    }
}
