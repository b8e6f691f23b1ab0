import Foundation
import Testing

@testable import ObjectModel

/// Archives of this package's first releases, which kept predicates as texts of their own.
@Suite struct EarlierArchiveTests {
    private typealias Field = KeyedArchiveBuilder.Field

    private func property(
        _ name: String, _ ancestry: [String], _ fields: [(String, Field)],
        _ builder: inout KeyedArchiveBuilder
    ) -> (key: String, value: Int) {
        let common: [(String, Field)] = [
            ("NSPropertyName", .reference(builder.string(name))), ("NSIsOptional", .bool(true)),
        ]
        let reference = builder.object(
            ancestry + ["NSPropertyDescription", "NSObject"], common + fields)
        return (name, reference)
    }

    private func request(_ text: String, _ builder: inout KeyedArchiveBuilder) -> Int {
        builder.object(
            ["NSFetchRequest", "NSPersistentStoreRequest", "NSObject"],
            [
                ("NSEntity", .reference(KeyedArchiveBuilder.null)),
                ("_NSFetchRequestEntityName", .reference(builder.string("Page"))),
                ("NSPredicate", .reference(KeyedArchiveBuilder.null)),
                ("DiptychRequestName", .reference(builder.string("recent"))),
                ("DiptychPredicate", .reference(builder.string(text))),
            ])
    }

    private func properties(
        _ builder: inout KeyedArchiveBuilder
    ) -> [(key: String, value: Int)] {
        let evaluated = ExpressionArchiver.evaluatedObject(&builder)
        let bound = ExpressionArchiver.constant(builder.plain(.integer(3)), &builder)
        let predicate = ExpressionArchiver.comparison(evaluated, bound, type: 3, &builder) ?? 0
        let warning = builder.string("The value is out of bounds.")
        let rules = [builder.string("SELF != 7"), builder.string("not seven")]
        let words = property(
            "words", ["NSAttributeDescription"],
            [
                ("NSAttributeType", .integer(200)),
                ("NSValidationPredicates", .reference(builder.array([predicate]))),
                ("NSValidationWarnings", .reference(builder.array([warning]))),
                ("DiptychValidationRules", .reference(builder.array(rules))),
            ], &builder)
        let made = property(
            "made", ["NSDerivedAttributeDescription", "NSAttributeDescription"],
            [
                ("NSAttributeType", .integer(900)),
                ("NSDerivationExpression", .reference(KeyedArchiveBuilder.null)),
                ("DiptychDerivation", .reference(builder.string("now()"))),
            ], &builder)
        let fetched = property(
            "recent", ["NSFetchedPropertyDescription"],
            [
                ("NSFetchRequest", .reference(request("words > 1", &builder))),
                ("_NSFetchRequestEntityName", .reference(builder.string("Page"))),
            ], &builder)
        return [words, made, fetched]
    }

    /// An index over an expression, whose object stood for its text.
    private func index(_ builder: inout KeyedArchiveBuilder) -> Int {
        let described = builder.object(
            ["NSExpressionDescription", "NSPropertyDescription", "NSObject"],
            [
                ("NSExpressionType", .integer(300)),
                ("NSExpression", .reference(ExpressionArchiver.evaluatedObject(&builder))),
                ("DiptychExpression", .reference(builder.string("length:(title)"))),
            ])
        let element = builder.object(
            ["NSFetchIndexElementDescription", "NSObject"],
            [
                ("NSPropertyName", .reference(builder.string("expression1"))),
                ("NSFetchIndexElementType", .integer(0)), ("NSAscending", .bool(true)),
                ("NSIndexedProperty", .reference(described)),
            ])
        return builder.object(
            ["NSFetchIndexDescription", "NSObject"],
            [
                ("NSIndexName", .reference(builder.string("long"))),
                ("NSIndexElements", .reference(builder.array([element]))),
                ("NSPartialIndexPredicate", .reference(KeyedArchiveBuilder.null)),
                ("DiptychPredicate", .reference(builder.string("words > 2"))),
            ])
    }

    @Test func everyTextIsRead() throws {
        var builder = KeyedArchiveBuilder()
        let properties = builder.mutableDictionary(properties(&builder))
        let indexes = builder.array([index(&builder)])
        let page = builder.object(
            ["NSEntityDescription", "NSObject"],
            [
                ("NSEntityName", .reference(builder.string("Page"))),
                ("NSProperties", .reference(properties)),
                ("NSFetchIndexDescriptions", .reference(indexes)),
            ])
        let requests = builder.mutableDictionary([("ten", request("words = $W", &builder))])
        let root = builder.object(
            ["NSManagedObjectModel", "NSObject"],
            [
                ("NSEntities", .reference(builder.mutableDictionary([("Page", page)]))),
                ("NSFetchRequestTemplates", .reference(requests)),
            ])
        let model = try NSManagedObjectModel.load(fromArchive: builder.data(root: root))
        let entity = try #require(model.entitiesByName["Page"])
        let words = try #require(entity.attributesByName["words"])
        #expect(words.validation.minimum == "3")
        #expect(words.validation.rules == [.init(predicate: "SELF != 7", warning: "not seven")])
        let made = entity.attributesByName["made"] as? NSDerivedAttributeDescription
        #expect(made?.derivationExpressionText == "now()")
        let fetched = entity.propertiesByName["recent"] as? NSFetchedPropertyDescription
        #expect(fetched?.template?.predicateText == "words > 1")
        #expect(fetched?.template?.name == "recent")
        #expect(entity.indexes.first?.partialIndexPredicateText == "words > 2")
        #expect(entity.indexes.first?.elements.first?.expressionText == "length:(title)")
        #expect(model.fetchRequestTemplates["ten"]?.predicateText == "words = $W")
        #expect(model.fetchRequestTemplates["ten"]?.entityName == "Page")
    }
}
