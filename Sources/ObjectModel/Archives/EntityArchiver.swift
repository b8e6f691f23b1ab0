/// Archives one entity with its properties and its groups of them.
struct EntityArchiver {
    let entity: NSEntityDescription
    /// The entity's properties, in the order in which they are archived, with their references.
    let properties: [(property: NSPropertyDescription, reference: Int)]
    let references: ArchiveReferences
    let predicates: any PredicateArchiving

    func fill(_ reference: Int, into builder: inout KeyedArchiveBuilder) throws {
        let archiver = PropertyArchiver(references: references, predicates: predicates)
        for (property, place) in properties {
            try archiver.fill(place, with: property, of: reference, into: &builder)
        }
        let named = properties.map { (key: $0.property.name, value: $0.reference) }
        let children = entity.subentities.compactMap { child in
            references.entity(child).map { (key: child.name ?? "", value: $0) }
        }
        let className: String = entity.managedObjectClassName
        let isPlain = className == "NSManagedObject" || className.isEmpty
        var fields: [(String, KeyedArchiveBuilder.Field)] = [
            ("NSEntityName", .reference(builder.string(entity.name))),
            ("NSClassNameForEntity", .reference(builder.string(isPlain ? nil : className))),
            ("NSManagedObjectModel", .reference(references.model)),
            ("NSProperties", .reference(builder.mutableDictionary(named))),
            ("NSSubentities", .reference(builder.mutableDictionary(children))),
            ("NSSuperentity", .reference(entity.superentity.flatMap(references.entity) ?? 0)),
            ("NSVersionHashModifier", .reference(builder.string(entity.versionHashModifier))),
            (
                "NSRenamingIdentifier",
                .reference(builder.string(entity.givenRenamingIdentifier ?? entity.name))
            ),
            (
                "NSUserInfo",
                .reference(
                    try ValueArchiver.userInfo(
                        entity.userInfo, of: entity.name ?? "", into: &builder))
            ),
        ]
        addMarks(to: &fields, &builder)
        addGroups(of: reference, to: &fields, &builder)
        builder.fill(reference, ["NSEntityDescription", "NSObject"], fields)
    }

    private func addMarks(
        to fields: inout [(String, KeyedArchiveBuilder.Field)],
        _ builder: inout KeyedArchiveBuilder
    ) {
        if entity.isAbstract { fields.append(("NSIsAbstract", .bool(true))) }
        if !entity.isSyncable { fields.append((OwnKey.isLocal, .bool(true))) }
        if let name = entity.coreSpotlightDisplayNameExpressionText {
            fields.append((OwnKey.spotlightDisplayName, .reference(builder.string(name))))
        }
    }

    private func addGroups(
        of reference: Int, to fields: inout [(String, KeyedArchiveBuilder.Field)],
        _ builder: inout KeyedArchiveBuilder
    ) {
        func lists(_ groups: [[String]]) -> Int {
            let lists = groups.map { group in
                builder.mutableArray(group.map { builder.string($0) })
            }
            return builder.mutableArray(lists)
        }
        if !entity.uniquenessConstraints.isEmpty {
            fields.append(
                ("NSUniqueTuples", .reference(lists(entity.uniquenessConstraintNames))))
        }
        let compound = entity.marks.compoundIndexes
        if !compound.isEmpty || !entity.indexes.isEmpty {
            let groups = compound.isEmpty ? entity.indexedGroups : compound
            fields.append(("NSCompoundIndexes", .reference(lists(groups))))
        }
        guard !entity.indexes.isEmpty else { return }
        let archiver = IndexArchiver(predicates: predicates)
        let indexes = entity.indexes.map { archiver.index($0, of: reference, into: &builder) }
        fields.append(("NSFetchIndexDescriptions", .reference(builder.mutableArray(indexes))))
    }
}

/// The references that an archive's objects have before any of them is filled.
struct ArchiveReferences {
    let model: Int
    private(set) var entities: [String: Int] = [:]
    private var places: [ObjectIdentifier: Int] = [:]

    init(model: Int) { self.model = model }

    mutating func set(_ reference: Int, of entity: NSEntityDescription) {
        places[ObjectIdentifier(entity)] = reference
        if let name = entity.name { entities[name] = reference }
    }

    /// Sets the place of a property in the entity that declares it.
    mutating func set(_ reference: Int, of property: NSPropertyDescription) {
        places[ObjectIdentifier(property)] = reference
    }

    func entity(_ entity: NSEntityDescription) -> Int? { places[ObjectIdentifier(entity)] }
    func property(_ property: NSPropertyDescription) -> Int? { places[ObjectIdentifier(property)] }
}
