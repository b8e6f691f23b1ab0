import Foundation
import Predicates
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

/// Predicates on values that may have files.
@Suite struct ExternalQueryTests {
    private let scratch: Scratch
    private let fixture: StoreFixture
    private let rows: [String: RowID]

    private static func bytes(_ count: Int, _ seed: UInt8) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0) ^ seed })
    }

    private let small = bytes(20, 1)
    private let large = bytes(500, 2)
    private let equallyLong = bytes(500, 3)
    /// As long as a reference is.
    private let treacherous = Data([2]) + Data(repeating: 65, count: 37)

    init() throws {
        scratch = try Scratch()
        var options = SQLiteStoreOptions()
        options.externalBytesMin = 100
        fixture = try StoreFixture(
            TestModel.kinds(), url: scratch.url("store.sqlite"), options: options)
        var rows: [String: RowID] = [:]
        let values: [(String, Data?)] = [
            ("small", small), ("large", large), ("other", equallyLong), ("none", nil),
            ("treacherous", treacherous), ("empty", Data()),
        ]
        for (name, value) in values {
            rows[name] = try fixture.insert(
                "Kinds",
                [
                    "text": .text(name), "large": value.map { .data($0) } ?? .null,
                    "bytes": value.map { .data($0) } ?? .null,
                ])
        }
        self.rows = rows
        // As a program without the marker writes it.
        rows["raw"] = try fixture.insert("Kinds", ["text": .text("raw")])
        try fixture.store.write {
            _ = try $0.connection.run(
                "UPDATE ZKINDS SET ZLARGE = x'414243' WHERE ZTEXT = 'raw'")
        }
    }

    private func find(_ format: String, _ arguments: Any?...) throws -> [String] {
        var query = RowQuery(entity: try fixture.layout("Kinds").number)
        query.predicate = node(of: try NSPredicate.parse(format, arguments: arguments))
        let found = try fixture.store.rows(matching: query)
        #expect(try fixture.store.count(matching: query) == found.count)
        #expect(try Set(fixture.store.ids(matching: query)) == Set(found.map(\.id)))
        let slot = try #require(try fixture.layout("Kinds").attributeSlot("text"))
        return found.compactMap {
            if case .text(let text) = $0.attributes[slot] { text } else { nil }
        }.sorted()
    }

    @Test func equalityLooksIntoFiles() throws {
        #expect(try find("large == %@", large) == ["large"])
        #expect(try find("%@ == large", equallyLong) == ["other"])
        #expect(try find("large == %@", small) == ["small"])
        #expect(try find("large == %@", treacherous) == ["treacherous"])
        #expect(try find("large == %@", Data()) == ["empty"])
        #expect(try find("large == %@", Data("ABC".utf8)) == ["raw"])
        #expect(try find("large == %@", Self.bytes(500, 9)) == [])
        #expect(try find("large == nil") == ["none"])
        let present = ["empty", "large", "other", "raw", "small", "treacherous"]
        #expect(try find("large != nil") == present)
        #expect(try find("large != %@", large) == present.filter { $0 != "large" })
        #expect(try find("NOT (large == %@)", large) == present.filter { $0 != "large" })
    }

    @Test func membershipLooksIntoFiles() throws {
        let list: [Any] = [large, small, Self.bytes(300, 1)]
        #expect(try find("large IN %@", list) == ["large", "small"])
        #expect(try find("large IN %@", list + [NSNull()]) == ["large", "none", "small"])
        #expect(
            try find("NOT (large IN %@)", list) == ["empty", "other", "raw", "treacherous"])
        let long: [Any] = (0..<600).map { Self.bytes(8, UInt8($0 % 256)) } + [large]
        #expect(try find("large IN %@", long) == ["large"])
        #expect(try find("large IN {%@, bytes}", Data("x".utf8)).count == 5)
    }

    @Test func columnsWithFilesCompareWithOthers() throws {
        let both = ["empty", "large", "other", "small", "treacherous"]
        #expect(try find("large == bytes") == both)
        #expect(try find("bytes == large") == both)
        #expect(try find("large == large") == (both + ["raw"]).sorted())
        #expect(try find("large != bytes") == [])
        #expect(try find("TERNARY(text == \"large\", large, bytes) == %@", large) == ["large"])
    }

    @Test func orderLooksIntoFiles() throws {
        // Both begin with their seed, and 2 comes before 3.
        #expect(
            try find("large < %@ AND large > %@", equallyLong, small) == ["large", "treacherous"])
        var query = RowQuery(entity: try fixture.layout("Kinds").number)
        query.predicate = node(
            of: try NSPredicate.parse("large != nil AND text != \"raw\"", arguments: []))
        query.sort = [NSSortDescriptor(key: "large", ascending: true)]
        let names = ["empty", "small", "large", "treacherous", "other"]
        let sorted = try fixture.store.ids(matching: query)
        #expect(sorted.map { id in rows.first { $0.value == id }?.key } == names)
    }

    @Test func theHolderOfAKeyIsFoundByItsFile() throws {
        let entity = try fixture.layout("Kinds").number
        func holder(_ value: Data) throws -> RowID? {
            try fixture.store.read {
                try $0.holder(of: ["large"], values: [.data(value)], in: entity)
            }
        }
        for (name, value) in [
            ("small", small), ("large", large), ("treacherous", treacherous), ("empty", Data()),
        ] {
            #expect(try holder(value) == rows[name], "\(name)")
        }
        #expect(try holder(Self.bytes(500, 8)) == nil)
        let both = try fixture.store.read {
            try $0.holder(
                of: ["text", "large"], values: [.text("other"), .data(equallyLong)], in: entity)
        }
        #expect(both == rows["other"])
    }

    @Test func aValueWhoseFileIsGoneEqualsNothing() throws {
        let folder = scratch.url(".store_SUPPORT/_EXTERNAL_DATA")
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            try FileManager.default.removeItem(at: folder.appendingPathComponent(file))
        }
        #expect(try find("large == %@", large) == [])
        #expect(try find("large IN %@", [large, small]) == ["small"])
        #expect(try !find("large != %@", large).contains("large"))
    }
}
