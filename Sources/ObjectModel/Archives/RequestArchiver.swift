internal import Foundation

/// Archives stored fetch requests, as model caches have those of fetched properties.
struct RequestArchiver {
    private typealias Field = KeyedArchiveBuilder.Field

    /// The references of the entities by their names.
    let entities: [String: Int]
    let predicates: any PredicateArchiving

    /// Archives a request; `name` is the one that readers will take it by.
    func request(
        _ template: FetchRequestTemplate, known name: String,
        into builder: inout KeyedArchiveBuilder
    ) -> Int {
        var fields = Self.unused
        let entity = entities[template.entityName]
        fields += [
            ("NSEntity", .reference(entity ?? KeyedArchiveBuilder.null)),
            ("NSSortDescriptors", .reference(sorts(of: template, &builder))),
            ("NSFetchLimit", .integer(template.fetchLimit)),
            ("NSBatchSize", .integer(template.fetchBatchSize)),
            ("NSResultType", .integer(Int(template.resultType))),
        ]
        if entity == nil {
            let name = builder.string(template.entityName)
            fields.append(("_NSFetchRequestEntityName", .reference(name)))
        }
        if template.name != name {
            fields.append((OwnKey.requestName, .reference(builder.string(template.name))))
        }
        addPredicate(of: template, to: &fields, &builder)
        fields += Self.ownFlags(of: template)
        return builder.object(["NSFetchRequest", "NSPersistentStoreRequest", "NSObject"], fields)
    }

    /// What stored requests leave as it is. The flags are those of a new request; the order of the
    /// bits is not known, so other settings stand under keys of our own.
    private static let unused: [(String, Field)] = [
        ("NSAllocationType", .integer(0)), ("NSFetchOffset", .integer(0)),
        ("NSHasFetchRequestFlags", .bool(true)), ("NSFetchRequestFlags", .integer(30)),
        ("NSHavingPredicate", .reference(KeyedArchiveBuilder.null)),
        ("NSRelationshipKeyPathsForPrefetching", .reference(KeyedArchiveBuilder.null)),
        ("NSValuesToFetch", .reference(KeyedArchiveBuilder.null)),
        ("NSValuesToGroupBy", .reference(KeyedArchiveBuilder.null)),
    ]

    private func addPredicate(
        of template: FetchRequestTemplate, to fields: inout [(String, Field)],
        _ builder: inout KeyedArchiveBuilder
    ) {
        let text = template.predicateText
        let predicate = text.flatMap { predicates.archive(predicate: $0, into: &builder) }
        fields.append(("NSPredicate", .reference(predicate ?? KeyedArchiveBuilder.null)))
        if predicate == nil, let text {
            fields.append((OwnKey.predicate, .reference(builder.string(text))))
        }
    }

    private func sorts(
        of template: FetchRequestTemplate, _ builder: inout KeyedArchiveBuilder
    ) -> Int {
        guard !template.sortKeys.isEmpty else { return KeyedArchiveBuilder.null }
        let sorts = template.sortKeys.map { sort in
            builder.object(
                ["NSSortDescriptor", "NSObject"],
                [
                    ("NSKey", .reference(builder.string(sort.key))),
                    ("NSAscending", .bool(sort.isAscending)),
                    ("NSReverseNullOrder", .bool(false)),
                    ("NSSelector", .reference(builder.string(sort.selector ?? "compare:"))),
                ])
        }
        return builder.array(sorts)
    }

    private static func ownFlags(of template: FetchRequestTemplate) -> [(String, Field)] {
        let flags = [
            (OwnKey.excludesSubentities, !template.includesSubentities),
            (OwnKey.excludesPropertyValues, !template.includesPropertyValues),
            (OwnKey.excludesPendingChanges, !template.includesPendingChanges),
            (OwnKey.returnsFullObjects, !template.returnsObjectsAsFaults),
            (OwnKey.returnsDistinctResults, template.returnsDistinctResults),
        ]
        return flags.filter(\.1).map { ($0.0, .bool(true)) }
    }
}
