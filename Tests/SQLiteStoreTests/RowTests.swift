import Foundation
import ObjectModel
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

@Suite struct RowTests {
    static let values: [String: AttributeValue] = [
        "int16": .integer(-7), "int32": .integer(70_000), "int64": .integer(.max),
        "flag": .integer(1), "real": .double(0.1), "single": .double(Double(Float(0.1))),
        "amount": .decimal(Decimal(string: "10.11") ?? 0), "text": .text("näme\u{0}end 🙂"),
        "when": .date(749_000_000), "uuid": .uuid(UUID()), "uri": .uri("https://example.org/a?b=c"),
        "bytes": .data(Data([0, 1, 255])), "thing": .data(Data("x".utf8)),
        "large": .data(Data([1, 2])), "point.x": .double(1.5), "point.y": .double(-2),
    ]

    @Test func everyKindOfValueReadsBackAsItWasWritten() throws {
        let fixture = try StoreFixture(TestModel.kinds())
        let id = try fixture.insert("Kinds", Self.values)
        for (name, value) in Self.values {
            #expect(try fixture.value(id, name) == value, "\(name)")
        }
        let empty = try fixture.insert("Kinds")
        let row = try #require(try fixture.store.row(empty))
        #expect(row.attributes.allSatisfy { $0.isNull } && row.version == 1)
    }

    @Test func valuesStandInTheFileAsApplesDo() throws {
        let fixture = try StoreFixture(TestModel.kinds())
        try fixture.insert("Kinds", Self.values)
        try fixture.store.read { transaction in
            let row = try #require(
                try transaction.connection.rows(
                    "SELECT ZFLAG, typeof(ZWHEN), ZAMOUNT, hex(ZLARGE), length(ZUUID), ZURI, "
                        + "typeof(ZX), Z_ENT, Z_OPT FROM ZKINDS"
                ).first)
            #expect(
                row == [
                    1, "integer", .real(10.11), "010102", 16, "https://example.org/a?b=c", "real",
                    1, 1,
                ])
        }
    }

    @Test func anUpdateWritesTheNamedSlotsAndCountsTheVersionUp() throws {
        let fixture = try StoreFixture(TestModel.kinds())
        let id = try fixture.insert("Kinds", Self.values)
        let outcome = try fixture.save {
            $0.updates = [
                try fixture.update(id, expecting: 1, ["text": .text("new"), "real": .null])
            ]
        }
        #expect(outcome.versions == [id: 2])
        #expect(try fixture.value(id, "text") == .text("new"))
        #expect(try fixture.value(id, "real") == .null)
        #expect(try fixture.value(id, "int64") == .integer(.max))
        let again = try fixture.save { $0.updates = [try fixture.update(id, ["text": .null])] }
        #expect(again.versions == [id: 3])
    }

    @Test func aValueOfAnotherTypeIsRefusedByName() throws {
        let fixture = try StoreFixture(TestModel.kinds())
        let error = #expect(throws: StoreError.self) {
            try fixture.insert("Kinds", ["when": .text("yesterday")])
        }
        #expect(error?.code == .invalidValue && error?.fields["attribute"] == "when")
        #expect(error?.description.contains("yesterday") == false)
    }

    @Test func largeValuesInFilesAreRead() throws {
        let scratch = try Scratch()
        let fixture = try StoreFixture(TestModel.kinds(), url: scratch.url("store.sqlite"))
        let id = try fixture.insert("Kinds", ["large": .data(Data([9]))])
        let folder = scratch.url(".store_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let name = UUID().uuidString
        let content = Data(repeating: 7, count: 300_000)
        try content.write(to: folder.appendingPathComponent(name))
        try fixture.store.write { transaction in
            let reference = Data([2]) + Data(name.utf8) + Data([0])
            try transaction.connection.run("UPDATE ZKINDS SET ZLARGE = ?", [.blob(reference)])
        }
        #expect(try fixture.value(id, "large") == .data(content))
        try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        #expect(try fixture.value(id, "large") == .null)
    }

    /// Keys that lie close together are read with one statement, others one by one.
    @Test func rowsComeInTheOrderInWhichTheyAreAskedFor() throws {
        let fixture = try StoreFixture(TestModel.society())
        var ids: [RowID] = []
        for number in 0..<60 {
            let entity = ["Person", "Employee", "Manager", "Tag"][number % 4]
            ids.append(try fixture.insert(entity))
        }
        let gone = [ids[8], ids[21], ids[22]]
        _ = try fixture.save { $0.deletes = gone.map { RowDelete(id: $0) } }
        let people = ids.filter { $0.entity != ids[3].entity }
        let declared = people.map { RowID(entity: ids[0].entity, key: $0.key) }
        let orders: [[RowID]] = [
            ids, ids.sorted { $0.key < $1.key }, people.reversed(), declared + declared,
            people.filter { $0.key.isMultiple(of: 3) }, [ids[0]], [],
            declared.filter { $0.key.isMultiple(of: 7) } + [declared[1]],
        ]
        for asked in orders {
            let found = try fixture.store.rows(asked)
            #expect(try found.map(\.id) == asked.compactMap { try fixture.store.row($0)?.id })
        }
        #expect(try fixture.store.rows(ids).count == 57)
    }

    @Test func keysGrowAndAreNeverGivenTwice() throws {
        let scratch = try Scratch()
        let url = scratch.url("store.sqlite")
        let model = TestModel.society()
        let first = try StoreFixture(model, url: url)
        let person = try first.layout("Person").number
        let manager = try first.layout("Manager").number
        #expect(try first.store.reserveKeys(entity: person, count: 2) == [1, 2])
        #expect(try first.store.reserveKeys(entity: manager, count: 1) == [3])
        let second = try StoreFixture(model, url: url)
        #expect(try second.store.reserveKeys(entity: person, count: 1) == [4])
        var row = Row(id: RowID(entity: person, key: 40), layout: try first.layout("Person"))
        row.attributes = row.attributes.map { _ in .null }
        _ = try first.save { $0.inserts = [row] }
        #expect(try second.store.reserveKeys(entity: person, count: 1) == [41])
    }
}
