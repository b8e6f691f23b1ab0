import Foundation
import ObjectModel
import Stores

@testable import SQLiteStore

/// The store types that one random course runs over.
enum StoreKind: String, CaseIterable, Sendable {
    case memory, sqlite, xml, binary

    func open(_ url: URL, _ model: NSManagedObjectModel) throws -> any RowStore {
        switch self {
        case .memory: MemoryRowStore(layout: ModelLayout(model: model))
        case .sqlite: try SQLiteRowStore(url: url, model: model)
        case .xml: try XMLRowStore(url: url, model: model)
        case .binary: try BinaryRowStore(url: url, model: model)
        }
    }

    var hasFile: Bool { self != .memory }
}

/// Three levels of inheritance, every kind of relationship, single and compound unique keys.
enum OracleModel {
    static func make() -> NSManagedObjectModel {
        let asset = TestModel.entity("Asset", assetAttributes) {
            $0.uniquenessConstraints = [["code"]]
        }
        let movie = TestModel.entity("Movie", [TestModel.attribute("title", .stringAttributeType)])
        let clip = TestModel.entity("Clip", [kept("length", .integer32AttributeType)])
        let trailer = TestModel.entity("Trailer", [])
        asset.subentities = [movie]
        movie.subentities = [clip]
        clip.subentities = [trailer]
        let person = TestModel.entity(
            "Person",
            [
                kept("nick", .stringAttributeType),
                TestModel.attribute("age", .integer64AttributeType),
            ]
        ) { $0.uniquenessConstraints = [["nick", "age"]] }
        let tag = TestModel.entity(
            "Tag",
            [
                TestModel.attribute("word", .stringAttributeType),
                TestModel.attribute("rank", .integer32AttributeType),
            ])
        let ticket = TestModel.entity(
            "Ticket", [TestModel.attribute("seat", .integer16AttributeType)]
        ) { $0.uniquenessConstraints = [["holder", "seat"]] }
        TestModel.relate(
            asset, "owner", person, inverse: "assets", inverseToMany: true, inverseOrdered: true)
        TestModel.relate(
            movie, "tags", toMany: true, ordered: true, tag, inverse: "movies",
            inverseToMany: true)
        TestModel.relate(
            person, "friends", toMany: true, person, inverse: "friends",
            inverseToMany: true)
        TestModel.relate(person, "pins", toMany: true, ordered: true, asset)
        TestModel.relate(clip, "star", person, inverse: "clip")
        TestModel.relate(ticket, "holder", person, inverse: "tickets", inverseToMany: true)
        return TestModel.model([asset, movie, clip, trailer, person, tag, ticket])
    }

    private static func kept(
        _ name: String, _ type: NSAttributeType
    ) -> NSAttributeDescription {
        TestModel.attribute(name, type) { $0.preservesValueInHistoryOnDeletion = true }
    }

    private static var assetAttributes: [NSAttributeDescription] {
        [
            kept("name", .stringAttributeType), kept("price", .decimalAttributeType),
            kept("at", .dateAttributeType), TestModel.attribute("size", .integer64AttributeType),
            TestModel.attribute("ratio", .doubleAttributeType),
            TestModel.attribute("single", .floatAttributeType),
            TestModel.attribute("flag", .booleanAttributeType),
            TestModel.attribute("uid", .UUIDAttributeType),
            TestModel.attribute("address", .URIAttributeType),
            TestModel.attribute("blob", .binaryDataAttributeType),
            TestModel.attribute("code", .stringAttributeType),
        ]
    }

    /// The entities of which objects are made, and how deep each stands below its root.
    static let entities = ["Asset", "Movie", "Clip", "Trailer", "Person", "Tag", "Ticket"]
    static let trees = [["Asset", "Movie", "Clip", "Trailer"], ["Person"], ["Tag"], ["Ticket"]]

    static let texts = [
        "", "a", "A", "ab", "aB", "\u{E9}", "e\u{301}", "\u{C9}", "ß", "SS", "Ångström", "ÅNGSTRÖM",
        "angstrom", "o*", "a?b", "x%y", "naïve", "NAÏVE", "日本", "👩‍👩‍👧", "Ωmega", "ωMEGA", "İ",
    ]
    static let dates = [-63_114_076_800.5, -0.125, 0, 0.1, 784_111_777.000001, 784_111_778]
    static let decimals = [
        "-12.34", "0.001", "-99999.99", "-7", "0", "3", "12.5", "123456789.125", "-0.5",
    ].compactMap { Decimal(string: $0) }
    static let doubles = [-1.5, -0.1, 0, 0.1, 2, 1e300, -1e-300]
}
