internal import Foundation

/// Archives a model in the shape of a `.mom`: each entity with the properties it declares itself.
struct ModelArchiver {
    private let model: NSManagedObjectModel
    private var builder = KeyedArchiveBuilder()
    private var references: [ObjectIdentifier: Int] = [:]
    private let root: Int

    /// The archive's bytes. The same model always gives the same bytes.
    static func data(of model: NSManagedObjectModel) throws -> Data {
        var archiver = ModelArchiver(model)
        try archiver.fill()
        return archiver.builder.data(root: archiver.root)
    }

    private init(_ model: NSManagedObjectModel) {
        self.model = model
        root = builder.reserve()
        for entity in model.entities {
            references[ObjectIdentifier(entity)] = builder.reserve()
            for property in entity.declaredProperties {
                references[ObjectIdentifier(property)] = builder.reserve()
            }
        }
    }

    private mutating func fill() throws {
        for entity in model.entities { try fill(entity) }
        let identifiers = model.versionIdentifiers.map { "\($0.base)" }.sorted()
        let names = identifiers.map { builder.string($0) }
        let requests = model.fetchRequestTemplates.sorted { $0.key < $1.key }.map {
            name, template in
            (
                key: name,
                value: RequestArchiver.request(template, references: references, into: &builder)
            )
        }
        var fields: [(String, KeyedArchiveBuilder.Field)] = [
            ("NSEntities", .reference(builder.dictionary(try namedEntities()))),
            ("NSVersionIdentifiers", .reference(builder.set(names))),
            (
                "NSFetchRequestTemplates",
                .reference(
                    requests.isEmpty ? KeyedArchiveBuilder.null : builder.dictionary(requests))
            ),
        ]
        if !model.configurationMembers.isEmpty {
            let byName = model.entitiesByName
            let lists = model.configurations.map { name in
                let members = (model.configurationMembers[name] ?? []).compactMap { byName[$0] }
                let places = members.compactMap { references[ObjectIdentifier($0)] }
                return (key: name, value: builder.array(places))
            }
            fields.append(("NSConfigurations", .reference(builder.dictionary(lists))))
        }
        builder.fill(root, ["NSManagedObjectModel", "NSObject"], fields)
    }

    private func namedEntities() throws -> [(key: String, value: Int)] {
        var names: Set<String> = []
        return try model.entities.compactMap { entity in
            guard let name = entity.name, !name.isEmpty, names.insert(name).inserted else {
                throw ModelFileError(
                    .missingName,
                    "The model has an entity without a name of its own; name it before writing.")
            }
            return references[ObjectIdentifier(entity)].map { (key: name, value: $0) }
        }
    }

    // MARK: Entities

    private mutating func fill(_ entity: NSEntityDescription) throws {
        guard let reference = references[ObjectIdentifier(entity)] else { return }
        let properties = PropertyArchiver(references: references)
        var named: [(key: String, value: Int)] = []
        for property in entity.declaredProperties {
            guard let place = references[ObjectIdentifier(property)] else { continue }
            try properties.fill(place, with: property, into: &builder)
            named.append((property.name, place))
        }
        let children = entity.subentities.compactMap { child in
            references[ObjectIdentifier(child)].map { (key: child.name ?? "", value: $0) }
        }
        let parent = entity.superentity.flatMap { references[ObjectIdentifier($0)] }
        var fields: [(String, KeyedArchiveBuilder.Field)] = [
            ("NSEntityName", .reference(builder.string(entity.name))),
            ("NSClassNameForEntity", .reference(builder.string(entity.managedObjectClassName))),
            ("NSManagedObjectModel", .reference(root)),
            ("NSProperties", .reference(builder.dictionary(named))),
            ("NSSubentities", .reference(builder.dictionary(children))),
            ("NSSuperentity", .reference(parent ?? KeyedArchiveBuilder.null)),
            ("NSVersionHashModifier", .reference(builder.string(entity.versionHashModifier))),
            (
                "NSRenamingIdentifier",
                .reference(builder.string(entity.renamingIdentifier ?? entity.name))
            ),
        ]
        let userInfo = try ValueArchiver.userInfo(
            entity.userInfo, of: entity.name ?? "", into: &builder)
        fields.append(("NSUserInfo", .reference(userInfo)))
        addGroups(of: entity, reference, to: &fields)
        builder.fill(reference, ["NSEntityDescription", "NSObject"], fields)
    }

    private mutating func addGroups(
        of entity: NSEntityDescription, _ reference: Int,
        to fields: inout [(String, KeyedArchiveBuilder.Field)]
    ) {
        if entity.isAbstract { fields.append(("NSIsAbstract", .bool(true))) }
        if !entity.isSyncable { fields.append((OwnKey.isLocal, .bool(true))) }
        if let name = entity.coreSpotlightDisplayNameExpressionText {
            fields.append((OwnKey.spotlightDisplayName, .reference(builder.string(name))))
        }
        for (key, groups) in [
            ("NSUniqueTuples", entity.uniquenessConstraintNames),
            ("NSCompoundIndexes", entity.marks.compoundIndexes),
        ] where !groups.isEmpty {
            let lists = groups.map { group in builder.array(group.map { builder.string($0) }) }
            fields.append((key, .reference(builder.array(lists))))
        }
        guard !entity.indexes.isEmpty else { return }
        let indexes = entity.indexes.map { archive($0, owner: reference) }
        fields.append(("NSFetchIndexDescriptions", .reference(builder.array(indexes))))
    }

    // MARK: Indexes

    private mutating func archive(_ index: NSFetchIndexDescription, owner: Int) -> Int {
        let reference = builder.reserve()
        let elements = index.elements.enumerated().map { place, element in
            archive(element, place: place, index: reference)
        }
        builder.fill(
            reference, ["NSFetchIndexDescription", "NSObject"],
            [
                ("NSIndexName", .reference(builder.string(index.name))),
                ("NSEntity", .reference(owner)),
                ("NSIndexElements", .reference(builder.array(elements))),
                ("NSPartialIndexPredicate", .reference(KeyedArchiveBuilder.null)),
                (OwnKey.predicate, .reference(builder.string(index.partialIndexPredicateText))),
            ])
        return reference
    }

    private mutating func archive(
        _ element: NSFetchIndexElementDescription, place: Int, index: Int
    ) -> Int {
        let name = element.propertyName ?? "expression\(place + 1)"
        var fields: [(String, KeyedArchiveBuilder.Field)] = [
            ("NSPropertyName", .reference(builder.string(name))),
            ("NSFetchIndexElementType", .integer(Int(element.collationType.rawValue))),
            ("NSFetchIndexDescription", .reference(index)),
            ("NSAscending", .bool(element.isAscending)),
        ]
        if let expression = element.expressionText {
            let description = builder.object(
                ["NSExpressionDescription", "NSPropertyDescription", "NSObject"],
                [
                    ("NSPropertyName", .reference(builder.string(name))),
                    ("NSExpressionType", .integer(Int(element.expressionResultType.rawValue))),
                    ("NSExpression", .reference(ExpressionArchiver.subject(&builder))),
                    ("NSIsOptional", .bool(true)), ("NSIsReadOnly", .bool(true)),
                    ("_P", .integer(0xF7)),
                    (OwnKey.expression, .reference(builder.string(expression))),
                ])
            fields.append(("NSIndexedProperty", .reference(description)))
        }
        return builder.object(["NSFetchIndexElementDescription", "NSObject"], fields)
    }
}
