import Foundation
import ObjectModel
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

/// Columns that are worked out entity by entity are those that the whole schema gives.
@Suite struct SchemaPiecesTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test(arguments: 1...12)
    func eachPieceIsThatOfTheWhole(seed: UInt64) throws {
        let model = Self.model(seed: seed)
        let layout = ModelLayout(model: model)
        let whole = try SchemaBuilder.schema(of: layout)
        let connection = try Connection(path: ":memory:")
        for statement in whole.tables.map(\.statement) { try connection.script(statement) }
        let resolver = try SchemaResolver(connection: connection, path: "", layout: layout)
        let reach = try #require(SchemaReach(layout))
        var differing: [String] = []
        for entity in layout.entities {
            // Each alone, of a layout that knows no other yet.
            let pieces = try #require(
                SchemaPieces(ModelLayout(model: model), resolver) {
                    throw StoreError(.failed, "The whole is not to be asked for.")
                })
            let made = pieces.columns(of: entity.number)
            guard reach.entities(for: entity.number).count * 2 < layout.count else {
                #expect(made == nil && pieces.failure(of: entity.number)?.code == .failed)
                continue
            }
            let expected = try #require(whole.columns(of: entity.number))
            if made.map(Self.text) != Self.text(expected) { differing.append(entity.name) }
        }
        #expect(differing == [])
    }

    @Test func mostEntitiesOfAWideModelNeedFewOthers() throws {
        let model = Self.model(seed: 3)
        let layout = ModelLayout(model: model)
        let reach = try #require(SchemaReach(layout))
        let few = layout.entities.filter { reach.entities(for: $0.number).count * 2 < layout.count }
        #expect(few.count > layout.count / 2)
        for entity in layout.entities {
            #expect(reach.entities(for: entity.number).contains(entity.number))
        }
    }

    @Test func namesThatMeetOthersAreWorkedOutTogether() {
        func reach(_ change: (NSManagedObjectModel) -> Void) -> SchemaReach? {
            let model = Self.model(seed: 1)
            change(model)
            return SchemaReach(ModelLayout(model: model))
        }
        #expect(reach { _ in } != nil)
        #expect(reach { $0.entities[0].name = "_5TAGS" } == nil)
        #expect(
            reach { TestModel.relate($0.entities[0], "1a", toMany: true, $0.entities[1]) } == nil)
        #expect(
            reach {
                let kept = TestModel.attribute("kept", .stringAttributeType)
                kept.preservesValueInHistoryOnDeletion = true
                $0.entities[0].declaredProperties.append(kept)
            } == nil)
    }

    @Test func columnsOfPlainTablesAreReadFromTheirTexts() throws {
        let plain = TableSchema.plainColumns(ofStatement:)
        for model in [TestModel.society(), TestModel.kinds(), TestModel.library()] {
            let tables = try SchemaBuilder.schema(of: ModelLayout(model: model)).tables
            for table in tables where table.virtual == nil {
                #expect(plain(table.statement) == Set(table.columns.map(\.name)))
                #expect(isPlain(table.statement))
            }
        }
        #expect(plain("CREATE TABLE ZA ( Z_PK INTEGER PRIMARY KEY, ZB VARCHAR(255) )")?.count == 2)
        for odd in [
            "CREATE TABLE ZA ( \"ZB\" INTEGER )", "CREATE TABLE ZA ( ZB INTEGER DEFAULT 3 )",
            "CREATE TABLE ZA ( ZB INTEGER GENERATED ALWAYS AS (1) )",
            "CREATE TABLE ZA ( ZB INTEGER AS (ZC) )", "CREATE TABLE ZA ( ZB )",
            "CREATE TABLE ZA ( ZB INTEGER ) STRICT", "CREATE TABLE ZA ( ZB INTEGER /* ZC */ )",
            "CREATE TABLE ZA ( ZB INTEGER, UNIQUE (ZB) )", "CREATE TABLE ZA AS SELECT 1",
            "CREATE TABLE ZA ( ZB INTEGER, ZB INTEGER )", "",
            "CREATE TABLE ZA ( ZB INTEGER, )", "CREATE TABLE ZA ( ZB INTEGER) x )",
            "CREATE TABLE ZA ( ZB INTEGER, PRIMARY KEY )", "CREATE TABLE ZA ( ZB INTEGER",
            "CREATE TABLE ZA ( ZB INTEGER PRIMARY KEY DESC )", "CREATE TABLE ZA ()",
            "CREATE TABLE ZA ( PRIMARY KEY (ZB) )", "CREATE TABLE ZA ( ZB VARCHAR(255 )",
        ] { #expect(plain(odd) == nil, "\(odd)") }
    }

    private func isPlain(_ statement: String) -> Bool {
        var statement = statement
        return statement.withUTF8 { TableSchema.isPlain(statement: $0) }
    }

    /// The hashes say what the file was made for; what is gone since is told when it is needed.
    @Test func aColumnThatIsGoneIsMissedWhenItsEntityIsUsed() throws {
        let url = scratch.url("store.sqlite")
        let model = Self.model(seed: 2)
        let entity = try #require(model.entities.first { $0.superentity == nil })
        let name = try #require(entity.name)
        _ = try StoreFixture(model, url: url)
        try Connection(path: url.path).script(
            "ALTER TABLE Z\(name.uppercased()) RENAME COLUMN ZTITLE TO ZOTHER")
        let store = try SQLiteRowStore(url: url, model: Self.model(seed: 2))
        let number = try #require(store.layout.entity(named: name)).number
        let error = #expect(throws: StoreError.self) {
            try store.rows(matching: RowQuery(entity: number))
        }
        #expect(error?.code == .modelMismatch && error?.fields["missing"] == "ZTITLE")
    }

    @Test func aStoreOfManyEntitiesWorksFromItsPieces() throws {
        let url = scratch.url("store.sqlite")
        let first = try StoreFixture(Self.model(seed: 4), url: url)
        var ids: [RowID] = []
        for entity in first.store.layout.entities {
            ids.append(try first.insert(entity.name, ["title": .text(entity.name)]))
        }
        for round in 0..<2 {
            let again = try StoreFixture(Self.model(seed: 4), url: url)
            for id in round == 0 ? ids : ids.reversed() {
                let entity = try #require(again.store.layout.entity(id.entity))
                var query = RowQuery(entity: id.entity)
                query.includesSubentities = false
                #expect(try again.store.ids(matching: query) == [id])
                #expect(try again.value(id, "title") == .text(entity.name))
            }
            var changes = ChangeSet()
            changes.deletes = round == 0 ? [] : ids.map { RowDelete(id: $0) }
            _ = try again.store.save(changes)
        }
        #expect(try first.store.count(matching: RowQuery(entity: ids[0].entity)) == 0)
    }

    // MARK: Models

    /// Thirty entities, some of them in trees, with relationships of all kinds and few names.
    private static func model(seed: UInt64) -> NSManagedObjectModel {
        var random = SeededRandom(seed: seed)
        let entities = (0..<30).map { number in
            TestModel.entity(
                "Kind\(number)", [TestModel.attribute("title", .stringAttributeType)])
        }
        for number in 1..<30 where Int.random(in: 0..<4, using: &random) == 0 {
            let parent = entities[Int.random(in: 0..<number, using: &random)]
            entities[number].declaredProperties = []
            parent.subentities.append(entities[number])
        }
        var used: Set<String> = []
        func free(_ name: String, _ entity: NSEntityDescription) -> Bool {
            // Trees share a table of names, so that no entity inherits one twice.
            used.insert("\(entity.rootEntity.name ?? "") \(name)").inserted
        }
        let names = ["tags", "items", "parts", "owner", "next", "links"]
        for _ in 0..<26 {
            guard let one = entities.randomElement(using: &random),
                let other = entities.randomElement(using: &random),
                let name = names.randomElement(using: &random),
                let back = names.randomElement(using: &random),
                name != back || one.rootEntity !== other.rootEntity
            else { continue }
            let kind = Int.random(in: 0..<5, using: &random)
            let hasInverse = kind < 3
            guard free(name, one), !hasInverse || free(back, other) else { continue }
            TestModel.relate(
                one, name, toMany: kind < 4, ordered: kind < 4 && Bool.random(using: &random),
                other,
                inverse: hasInverse ? back : "", inverseToMany: kind < 2,
                inverseOrdered: kind < 2 && Bool.random(using: &random))
        }
        return TestModel.model(entities)
    }

    private static func text(_ columns: EntityColumns) -> String {
        "\(columns.number) \(columns.root) \(columns.table) \(columns.condition ?? "-") "
            + "\(columns.attributes) \(columns.toOnes) \(columns.toManys) "
            + "\(columns.externalColumns) \(columns.written.map(\.slot))"
    }
}
