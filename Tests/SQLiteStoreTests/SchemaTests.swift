import ObjectModel
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

@Suite struct SchemaTests {
    private func schema(_ model: NSManagedObjectModel) throws -> StoreSchema {
        try SchemaBuilder.schema(of: ModelLayout(model: model))
    }

    private func statements(_ entity: NSEntityDescription, _ others: NSEntityDescription...) throws
        -> [String]
    {
        try schema(TestModel.model([entity] + others)).statements
    }

    @Test func columnsStandInStorageGroups() throws {
        let made = try schema(TestModel.kinds()).tables.map(\.statement)
        #expect(
            made == [
                "CREATE TABLE ZKINDS ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
                    + "ZFLAG INTEGER, ZINT16 INTEGER, ZINT32 INTEGER, ZINT64 INTEGER, ZX FLOAT, "
                    + "ZY FLOAT, ZREAL FLOAT, ZSINGLE FLOAT, ZWHEN TIMESTAMP, ZAMOUNT DECIMAL, "
                    + "ZTEXT VARCHAR, ZUUID BLOB, ZURI VARCHAR, ZTHING BLOB, "
                    + "ZBYTES BLOB, ZLARGE BLOB )"
            ])
    }

    @Test func everyKindOfRelationshipHasItsColumnsTablesAndIndexes() throws {
        let schema = try schema(TestModel.society())
        #expect(
            schema.tables.map(\.statement) == [
                "CREATE TABLE ZNOTE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
                    + "Z2NOTES INTEGER, Z_FOK_2NOTES INTEGER, ZTEXT VARCHAR )",
                "CREATE TABLE ZPERSON ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
                    + "ZAGE INTEGER, ZHOME INTEGER, ZBOSS INTEGER, Z2_BOSS "
                    + "INTEGER, ZLEVEL INTEGER, "
                    + "Z_FOK_BOSS INTEGER, ZBORN TIMESTAMP, ZSALARY FLOAT, ZEMAIL "
                    + "VARCHAR, ZNAME VARCHAR )",
                "CREATE TABLE Z_2FAVORITES ( Z_2FANS INTEGER, Z_6FAVORITES INTEGER, "
                    + "Z_FOK_6FAVORITES INTEGER, PRIMARY KEY (Z_2FANS, Z_6FAVORITES) )",
                "CREATE TABLE Z_2FRIENDS ( Z_2FRIENDS INTEGER, REFLEXIVE INTEGER, "
                    + "PRIMARY KEY (Z_2FRIENDS, REFLEXIVE) )",
                "CREATE TABLE Z_2TAGS ( Z_2PEOPLE INTEGER, Z_6TAGS INTEGER, "
                    + "PRIMARY KEY (Z_2PEOPLE, Z_6TAGS) )",
                "CREATE TABLE ZPLACE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
                    + "ZMAYOR INTEGER, Z2_MAYOR INTEGER, ZNAME VARCHAR )",
                "CREATE TABLE ZTAG ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
                    + "ZRANK INTEGER, ZNAME VARCHAR )",
            ])
        #expect(
            schema.indexes == [
                "CREATE INDEX ZNOTE_Z2NOTES_INDEX ON ZNOTE (Z2NOTES)",
                "CREATE INDEX ZPERSON_ZHOME_INDEX ON ZPERSON (ZHOME)",
                "CREATE INDEX ZPERSON_ZBOSS_INDEX ON ZPERSON (ZBOSS)",
                "CREATE INDEX ZPERSON_Z_ENT_INDEX ON ZPERSON (Z_ENT)",
                "CREATE INDEX Z_2FAVORITES_Z_6FAVORITES_INDEX ON "
                    + "Z_2FAVORITES (Z_6FAVORITES, Z_2FANS)",
                "CREATE INDEX Z_2FRIENDS_REFLEXIVE_INDEX ON Z_2FRIENDS (REFLEXIVE, Z_2FRIENDS)",
                "CREATE INDEX Z_2TAGS_Z_6TAGS_INDEX ON Z_2TAGS (Z_6TAGS, Z_2PEOPLE)",
                "CREATE UNIQUE INDEX Z_Person_UNIQUE_email ON ZPERSON (ZEMAIL COLLATE BINARY ASC)",
                "CREATE INDEX ZPLACE_ZMAYOR_INDEX ON ZPLACE (ZMAYOR)",
            ])
    }

    @Test func equalNamesInOneTableAreNumbered() throws {
        let root = TestModel.entity("Base", [])
        let first = TestModel.entity("First", [TestModel.attribute("value", .stringAttributeType)])
        let second = TestModel.entity(
            "Second",
            [
                TestModel.attribute("value", .stringAttributeType),
                TestModel.attribute("_pk", .integer16AttributeType),
            ])
        root.subentities = [first, second]
        let schema = try schema(TestModel.model([root, first, second]))
        let layout = schema.layout
        let names = ["First", "Second"].map { name in
            layout.entity(named: name).flatMap { schema.columns(of: $0.number) }?.attributes
                .map(\.name) ?? []
        }
        #expect(names == [["ZVALUE"], ["Z_PK1", "ZVALUE1"]])
        let composite = NSCompositeAttributeDescription()
        composite.name = "author"
        composite.elements = [TestModel.attribute("id", .UUIDAttributeType)]
        let made = try statements(
            TestModel.entity("Book", [TestModel.attribute("id", .UUIDAttributeType), composite]))
        #expect(made[0].contains("ZID BLOB, ZID1 BLOB"))
    }

    @Test func theEndWithSubentitiesNamesTheJoinTable() throws {
        let asset = TestModel.entity("Asset", [])
        let album = TestModel.entity("Box", [])
        album.subentities = [TestModel.entity("SmallBox", [])]
        TestModel.relate(
            album, "assets", toMany: true, ordered: true, asset, inverse: "boxes",
            inverseToMany: true)
        let made = try statements(album, asset, album.subentities[0])
        #expect(
            made.contains(
                "CREATE TABLE Z_2ASSETS ( Z_2BOXES INTEGER, Z_1ASSETS "
                    + "INTEGER, Z_FOK_1ASSETS INTEGER, "
                    + "PRIMARY KEY (Z_2BOXES, Z_1ASSETS) )"))
    }

    @Test func fetchIndexesAreMadeForTheEntityThatDeclaresThem() throws {
        let car = TestModel.entity(
            "Car",
            [
                TestModel.attribute("maker", .stringAttributeType),
                TestModel.attribute("year", .integer16AttributeType),
            ])
        let owner = TestModel.entity("Owner", [])
        TestModel.relate(car, "owner", owner, inverse: "cars", inverseToMany: true)
        let fast = TestModel.entity("FastCar", [])
        car.subentities = [fast]
        func index(_ name: String, _ names: [String], _ predicate: String? = nil)
            -> NSFetchIndexDescription
        {
            let elements = names.map {
                NSFetchIndexElementDescription(propertyName: $0, collationType: .binary)
            }
            let made = NSFetchIndexDescription(name: name, elements: elements)
            made.partialIndexPredicateText = predicate
            return made
        }
        car.indexes = [
            index("by maker", ["maker"]), index("byOwner", ["owner"]),
            index("both", ["owner", "year"]),
            index("some", ["year"], "year != 0 AND (maker == nil OR maker == \"it's\")"),
            index("odd", ["year"], "maker BEGINSWITH 'x'"), index("lost", ["nope"]),
            // An index over fewer rows than it was declared for would miss some that are asked for.
            index("part", ["year"], "year != 0 AND maker BEGINSWITH 'x'"),
        ]
        car.indexes[2].elements[1].isAscending = false
        let schema = try schema(TestModel.model([car, fast, owner]))
        let made = schema.indexes.filter { $0.contains("Car_") }
        #expect(
            made.prefix(3) == [
                "CREATE INDEX \"Z_Car_by maker\" ON ZCAR (ZMAKER COLLATE BINARY ASC)",
                "CREATE INDEX Z_Car_both ON ZCAR (ZOWNER COLLATE BINARY "
                    + "ASC, ZYEAR COLLATE BINARY DESC)",
                "CREATE INDEX Z_Car_some ON ZCAR (ZYEAR COLLATE BINARY ASC) "
                    + "WHERE (ZYEAR <> 0 AND (ZMAKER IS NULL OR ZMAKER = 'it''s'))",
            ])
        #expect(made.count == 3)
        #expect(schema.notes.map(\.subject) == ["odd", "lost", "part"])
        _ = try SQLiteRowStore(url: nil, model: schema.layout.model)
    }

    @Test func anRTreeFollowsItsTable() throws {
        let place = TestModel.entity(
            "Spot",
            [
                TestModel.attribute("latitude", .doubleAttributeType),
                TestModel.attribute("longitude", .doubleAttributeType),
            ])
        place.indexes = [
            NSFetchIndexDescription(
                name: "byArea",
                elements: ["latitude", "longitude"].map {
                    NSFetchIndexElementDescription(propertyName: $0, collationType: .rTree)
                })
        ]
        let fixture = try StoreFixture(TestModel.model([place]))
        let id = try fixture.insert("Spot", ["latitude": .double(10), "longitude": .double(20)])
        #expect(
            try fixture.sql("SELECT Z_PK FROM Z_RT_Spot_byArea WHERE ZLATITUDE_MIN > 9") == [[1]])
        _ = try fixture.save { $0.updates = [try fixture.update(id, ["latitude": .double(5)])] }
        #expect(try fixture.sql("SELECT Z_PK FROM Z_RT_Spot_byArea WHERE ZLATITUDE_MIN > 9") == [])
        _ = try fixture.save { $0.deletes = [RowDelete(id: id)] }
        #expect(try fixture.sql("SELECT count(*) FROM Z_RT_Spot_byArea") == [[0]])
    }

    /// The numbers of the entities are in another order here than their names: a subentity follows
    /// its root.
    @Test func joinColumnsOfOneNameAreNumberedByTheEntityAtTheOtherEnd() throws {
        let message = TestModel.entity("Message", [])
        let system = TestModel.entity("SystemMessage", [])
        let reaction = TestModel.entity("Reaction", [])
        let user = TestModel.entity("User", [])
        message.subentities = [system]
        TestModel.relate(
            system, "users", toMany: true, user, inverse: "systemMessages", inverseToMany: true)
        TestModel.relate(
            reaction, "users", toMany: true, user, inverse: "reactions", inverseToMany: true)
        let made = try statements(message, system, reaction, user).filter {
            $0.hasPrefix("CREATE TABLE Z_")
        }
        #expect(
            made.prefix(2) == [
                "CREATE TABLE Z_2USERS ( Z_2SYSTEMMESSAGES INTEGER, Z_4USERS1 INTEGER, "
                    + "PRIMARY KEY (Z_2SYSTEMMESSAGES, Z_4USERS1) )",
                "CREATE TABLE Z_3USERS ( Z_3REACTIONS INTEGER, Z_4USERS INTEGER, "
                    + "PRIMARY KEY (Z_3REACTIONS, Z_4USERS) )",
            ])
    }

    @Test(arguments: [true, false]) func anIndexOfPlacesMayBeNotedAsTextOrAsList(
        isList: Bool
    ) throws {
        let spot = TestModel.attribute("spot", .undefinedAttributeType) { attribute in
            attribute.isTransient = true
            let note: Any = isList ? ["latitude", "longitude"] : "latitude, longitude"
            attribute.userInfo = ["_NSLocationAttributeDerivedComponents": note]
        }
        let place = TestModel.entity(
            "Place",
            [
                TestModel.attribute("latitude", .doubleAttributeType),
                TestModel.attribute("longitude", .doubleAttributeType), spot,
            ])
        let made = try statements(place)
        #expect(made.contains { $0.hasPrefix("CREATE VIRTUAL TABLE Z_RT_Place_spot USING RTREE") })
    }
}
