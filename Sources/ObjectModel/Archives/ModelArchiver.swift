internal import Foundation

/// Archives a model in the shape of a `.mom`, or in that of a store's model cache.
struct ModelArchiver {
    private let model: NSManagedObjectModel
    private let shape: ModelArchiveShape
    private let predicates: any PredicateArchiving
    private var builder = KeyedArchiveBuilder()
    private var references: ArchiveReferences
    private var archivers: [(place: Int, name: String, archiver: EntityArchiver)] = []

    /// The archive's bytes. The same model always gives the same bytes.
    static func data(
        of model: NSManagedObjectModel, as shape: ModelArchiveShape,
        _ predicates: any PredicateArchiving
    ) throws -> Data {
        var archiver = ModelArchiver(model, shape, predicates)
        try archiver.reserve()
        try archiver.fill()
        return archiver.builder.data(root: archiver.references.model)
    }

    private init(
        _ model: NSManagedObjectModel, _ shape: ModelArchiveShape,
        _ predicates: any PredicateArchiving
    ) {
        self.model = model
        self.shape = shape
        self.predicates = predicates
        references = ArchiveReferences(model: builder.reserve())
    }

    /// Makes room for every entity and property, since they refer to each other.
    private mutating func reserve() throws {
        var lists: [[(property: NSPropertyDescription, reference: Int)]] = []
        for entity in model.entities {
            references.set(builder.reserve(), of: entity)
            let properties = shape == .cache ? entity.properties : entity.declaredProperties
            lists.append(properties.map { ($0, builder.reserve()) })
            for (property, place) in lists[lists.count - 1] where property.entity === entity {
                references.set(place, of: property)
            }
        }
        var names: Set<String> = []
        archivers = try zip(model.entities, lists).map { entity, properties in
            guard let name = entity.name, !name.isEmpty, names.insert(name).inserted else {
                throw ModelFileError(
                    .missingName,
                    "The model has an entity without a name of its own; name it before writing.")
            }
            let archiver = EntityArchiver(
                entity: entity, properties: properties, references: references,
                predicates: predicates)
            return (references.entity(entity) ?? KeyedArchiveBuilder.null, name, archiver)
        }
    }

    private mutating func fill() throws {
        for (place, _, archiver) in archivers { try archiver.fill(place, into: &builder) }
        let identifiers = model.versionIdentifiers.map { "\($0.base)" }.sorted()
        let names = identifiers.map { builder.string($0) }
        var fields: [(String, KeyedArchiveBuilder.Field)] = [
            ("NSEntities", .reference(entities())),
            ("NSVersionIdentifiers", .reference(builder.set(names))),
            ("NSFetchRequestTemplates", .reference(requests())),
        ]
        if !model.configurationMembers.isEmpty {
            fields.append(("NSConfigurations", .reference(configurations())))
        }
        builder.fill(references.model, ["NSManagedObjectModel", "NSObject"], fields)
    }

    private mutating func entities() -> Int {
        guard shape == .cache else {
            return builder.mutableDictionary(archivers.map { (key: $0.name, value: $0.place) })
        }
        let inOrder = archivers.sorted { VersionHashing.precedes($0.name, $1.name) }
        let keys = builder.array(inOrder.map { builder.string($0.name) })
        let mapping = builder.object(
            ["NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy", "NSObject"],
            [
                ("keys", .reference(keys)), ("length", .integer(inOrder.count)),
                ("version", .integer(1)),
            ])
        let values = builder.array(inOrder.map(\.place))
        return builder.object(
            [
                "NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary",
                "NSDictionary", "NSObject",
            ],
            [
                ("searchMapping", .reference(mapping)), ("values", .reference(values)),
                ("emptyToken", .reference(builder.string(Self.emptySlot))),
                ("version", .integer(1)),
            ])
    }

    /// What stands in a model cache for a missing value; every file has it.
    private static let emptySlot = "__empty_slot_token_4c24_98dc_ac1e_b773__"

    private mutating func requests() -> Int {
        let templates = model.fetchRequestTemplates.sorted { $0.key < $1.key }
        guard !templates.isEmpty else { return KeyedArchiveBuilder.null }
        let archiver = RequestArchiver(entities: references.entities, predicates: predicates)
        let entries = templates.map { name, template in
            (key: name, value: archiver.request(template, known: name, into: &builder))
        }
        return builder.mutableDictionary(entries)
    }

    private mutating func configurations() -> Int {
        let lists = model.configurations.map { name in
            let members = model.configurationMembers[name] ?? []
            return (key: name, value: builder.set(members.compactMap { references.entities[$0] }))
        }
        return builder.mutableDictionary(lists)
    }
}
