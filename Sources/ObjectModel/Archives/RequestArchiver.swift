internal import Foundation

/// Archives stored fetch requests. Predicates are kept as their text, under a key of our own.
enum RequestArchiver {
    static func request(
        _ template: FetchRequestTemplate, references: [ObjectIdentifier: Int],
        into builder: inout KeyedArchiveBuilder
    ) -> Int {
        let sorts = template.sortKeys.map { sort in
            builder.object(
                ["NSSortDescriptor", "NSObject"],
                [
                    ("NSKey", .reference(builder.string(sort.key))),
                    ("NSAscending", .bool(sort.isAscending)),
                    ("NSSelector", .reference(builder.string("compare:"))),
                ])
        }
        var fields: [(String, KeyedArchiveBuilder.Field)] = [
            ("NSEntity", .reference(KeyedArchiveBuilder.null)),
            ("_NSFetchRequestEntityName", .reference(builder.string(template.entityName))),
            ("NSPredicate", .reference(KeyedArchiveBuilder.null)),
            ("NSSortDescriptors", .reference(sorts.isEmpty ? 0 : builder.array(sorts))),
            ("NSFetchLimit", .integer(template.fetchLimit)),
            ("NSBatchSize", .integer(template.fetchBatchSize)),
            ("NSResultType", .integer(Int(template.resultType))),
            (OwnKey.requestName, .reference(builder.string(template.name))),
            (OwnKey.predicate, .reference(builder.string(template.predicateText))),
        ]
        let flags = [
            (OwnKey.excludesSubentities, !template.includesSubentities),
            (OwnKey.excludesPropertyValues, !template.includesPropertyValues),
            (OwnKey.excludesPendingChanges, !template.includesPendingChanges),
            (OwnKey.returnsFullObjects, !template.returnsObjectsAsFaults),
            (OwnKey.returnsDistinctResults, template.returnsDistinctResults),
        ]
        fields += flags.filter(\.1).map { ($0.0, .bool(true)) }
        return builder.object(["NSFetchRequest", "NSPersistentStoreRequest", "NSObject"], fields)
    }
}
