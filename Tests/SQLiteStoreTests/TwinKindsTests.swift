import Foundation
import Predicates
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

/// Values of every kind, asked the same of the database and of memory.
@Suite struct TwinKindsTests {
    static let uuid = UUID(uuidString: "8C5B3C3A-98E9-4C40-8B29-1F6B0A3F4E11") ?? UUID()
    static let address = "https://example.org/a"

    private static func world() throws -> (fixture: StoreFixture, world: MemoryWorld) {
        let fixture = try StoreFixture(TestModel.kinds())
        for number in [1, 3, 7, 10] {
            try fixture.insert(
                "Kinds",
                [
                    "int16": .integer(Int64(number)), "int64": .integer(Int64(number * 2)),
                    "real": .double(Double(number)), "single": .double(Double(number) + 0.5),
                    "amount": .decimal(Decimal(number)), "when": .date(Double(number)),
                    "text": .text("\(number)"), "flag": .integer(1),
                    "uuid": .uuid(number == 3 ? uuid : UUID()),
                    "uri": .uri(number == 3 ? address : "https://example.org/\(number)"),
                ])
        }
        try fixture.insert("Kinds", ["amount": .decimal(Decimal(2.5)), "text": .text(address)])
        try fixture.insert("Kinds", ["text": .text(uuid.uuidString)])
        return (fixture, MemoryWorld(store: fixture.store))
    }

    private func compare(
        _ format: String, _ arguments: [Any?] = [], found count: Int? = nil
    ) throws {
        let (fixture, world) = try Self.world()
        var query = RowQuery(entity: try fixture.layout("Kinds").number)
        query.predicate = node(of: try NSPredicate.parse(format, arguments: arguments))
        let stored = try fixture.store.ids(matching: query)
        #expect(try world.ids(matching: query) == stored, "\(format) \(arguments)")
        if let count { #expect(stored.count == count, "\(format) \(arguments)") }
    }

    /// Whole decimals and dates stand in the file as whole numbers, and are divided as what they
    /// are all the same.
    @Test(arguments: [
        ("amount / 2 == 1.5", 1), ("amount / 2 > 1 AND amount / 2 < 2", 2), ("10 / amount == 4", 1),
        ("7 / amount > 2.3 AND amount == 3", 1), ("amount / int16 == 1", 4),
        ("(amount + 1) / 4 == 2", 1), ("(amount * 3) / 2 == 4.5", 1),
        ("(amount - 2) / 2 == 0.5", 1), ("abs:(amount) / 2 == 3.5", 1),
        ("int16 / 2 == 1", 1), ("int64 / 4 == 0", 1), ("real / 2 == 1.5", 1),
        ("single / 2 == 1.75", 1), ("int16 / 2.0 == 3.5", 1), ("flag / 2 == 0", 4),
        ("CAST(when, 'NSNumber') / 2 == 1.5", 1), ("(when - CAST(0, 'NSDate')) / 2 == 3.5", 1),
        ("(CAST(10, 'NSDate') - when) / 2 == 4.5", 1),
        ("CAST(int16, 'NSDecimalNumber') / 2 == 1.5", 1),
        ("floor:(amount) / 2 == 1.5", 1), ("ceiling:(amount) / 2 == 1.5", 2),
        ("int16 / amount == 1", 4), ("TERNARY(int16 > 2, amount, amount) / 2 == 1.5", 1),
        ("amount / 0 == nil", nil as Int?), ("noindex:(amount) / 2 == 1.5", 1),
        ("CAST('3', 'NSDecimalNumber') / int16 == 0.3", 1),
    ])
    func quotientsAreThoseOfMemory(format: String, count: Int?) throws {
        try compare(format, found: count)
    }

    /// Reals that no decimal can be, beside decimals.
    @Test func decimalsAreOrderedWithAnyReal() throws {
        for number in [1e200, -1e200, 1e-200, .infinity, -.infinity] {
            for format in ["amount < %@", "amount > %@", "amount == %@", "amount != %@"] {
                try compare("\(format) AND amount > 0", [number])
            }
        }
        try compare("amount < %@", [1e200], found: 5)
        try compare("amount > %@", [1e-200], found: 5)
    }

    @Test func constantDecimalsDivideAsDecimals() throws {
        try compare("%@ / int16 == 1.5", [Decimal(15)], found: 1)
        try compare("int16 / %@ == 1.5", [Decimal(2)], found: 1)
        try compare("%@ / amount == 1.5", [15], found: 1)
    }

    /// Numbers are the texts that spell them; an identifier is no text.
    @Test func listedValuesAreThoseOfMemory() throws {
        let url = try #require(URL(string: Self.address))
        for (format, arguments): (String, [Any?]) in [
            ("text IN %@", [[Self.uuid]]), ("text IN %@", [[Self.uuid.uuidString, Self.address]]),
            ("text == %@", [Self.uuid]), ("uuid IN %@", [[Self.uuid]]), ("uri IN %@", [[url]]),
            ("text IN %@", [[1, 3.0, "x"]]), ("int16 IN %@", [["3", "x"]]),
            ("when IN %@", [["3", 3]]), ("amount IN %@", [["3", 2.5, Decimal(7)]]),
            ("text IN %@", [[true]]), ("flag IN %@", [["1"]]), ("int16 IN %@", [[Self.uuid, url]]),
        ] { try compare(format, arguments) }
    }

    /// A text in the predicate is the identifier it spells, whatever its case; one that an object
    /// has is a text. An address is its text everywhere.
    @Test(arguments: [
        ("uuid == '8C5B3C3A-98E9-4C40-8B29-1F6B0A3F4E11'", 1),
        ("'8c5b3c3a-98e9-4c40-8b29-1f6b0a3f4e11' == uuid", 1), ("uuid == 'none'", 0),
        ("uuid IN {'8C5B3C3A-98E9-4C40-8B29-1F6B0A3F4E11', 'x'}", 1),
        (
            "uuid BETWEEN {'8C5B3C3A-98E9-4C40-8B29-1F6B0A3F4E11', "
                + "'8C5B3C3A-98E9-4C40-8B29-1F6B0A3F4E11'}", 1
        ),
        ("uuid != '8C5B3C3A-98E9-4C40-8B29-1F6B0A3F4E11' AND uuid != nil", 3),
        ("uuid == text AND uuid != nil", 0), ("uri == 'https://example.org/a'", 1),
        ("uri ==[c] 'HTTPS://example.ORG/a'", 1), ("uri BEGINSWITH 'https://example'", 4),
        ("uri CONTAINS[c] 'EXAMPLE.org/7'", 1), ("uri ENDSWITH '/10'", 1),
        ("uri LIKE '*/a'", 1), ("uri MATCHES '.*[0-9]'", 3), ("uri < 'https://example.org/2'", 2),
        ("uri IN {'https://example.org/1', 'x'}", 1), ("'/7' IN uri", 1),
        ("uppercase:(uri) == 'HTTPS://EXAMPLE.ORG/A'", 1), ("length:(uri) == 21", 3),
    ])
    func identifiersAndAddressesBesideTexts(format: String, count: Int) throws {
        try compare(format, found: count)
    }

    /// Integers to integers, where they fit: what SQLite computes of reals, and fails to.
    @Test(arguments: [
        ("(int16 ** 2) / 2 == 4", 1), ("(int16 ** 2) / 4 == 0", 1), ("int16 ** -1 < 1", 3),
        ("(int64 + 3037000498) ** 2 == 9223372030926249001", 0),
        ("3037000499 ** (int16 * 2) == 9223372030926249001", 1), ("10 ** (int64 * 10) > 1e20", 3),
        ("(0 - int16) ** 3 == -27", 1), ("int16 ** 0 == 1", 4), ("0 ** (0 - int16) > 1e300", 4),
        ("amount ** 2 == 9", 1), ("(amount ** 2) / 2 == 4.5", 1), ("real ** 2 == 49", 1),
        ("real ** 1000 > 1e300", 3), ("(0 - real) ** 0.5 == nil", nil as Int?),
        ("modulus:by:(int16, 4) / 2 == 1", 3), ("modulus:by:(0 - int16, 4) == -3", 2),
        ("modulus:by:(int16, -4) == 3", 2), ("modulus:by:(int16, 0) == nil", nil),
        ("modulus:by:(9007199254740993, int16 + 9007199254740988) == 2", 1),
        ("modulus:by:(real, 2.5) == 0.5", 1), ("modulus:by:(amount, 0.1) == 0", 5),
        ("modulus:by:(real, 0) == nil", nil), ("modulus:by:(1e999, int16) == nil", nil),
        ("modulus:by:(int16, 1e999) == int16 AND int16 > 0", 4),
        ("abs:(0 - int16 - 9223372036854775805) > 9e18", 4),
        ("abs:(0 - int16 - 9223372036854775807) > 9223372036854775807", 4),
        ("abs:(0 - int16) / 2 == 3", 1),
        ("sqrt:(0 - real) == nil", nil), ("ln:(real - 1) == nil", nil),
        ("log:(real - 3) < 0", 0), ("(1e999 - 1e999 * int16) == nil", nil),
    ])
    func powersAndRemaindersAreThoseOfMemory(format: String, count: Int?) throws {
        try compare(format, found: count)
    }

    /// In a list that is computed nothing is what it only spells.
    @Test(arguments: [
        ("3 IN {3, int16}", 6), ("3 IN {4, int16}", 1), ("'3' IN {'x', text}", 1),
        ("3 IN {'3', int16}", 1), ("3 IN {'x', text}", 0), ("'3' IN {9, int16}", 0),
        ("3 IN {4, 5}", 0), ("'3' IN {3, 5}", 6), ("nil IN {1, int16}", 2),
        ("int16 IN {3, text}", 1), ("text IN {'x', int16}", 0),
        ("int16 IN {'3', int64} AND int16 > 0", 0), ("NOT 3 IN {3, int16}", 0),
        ("text IN {int16, uuid}", nil as Int?), ("{4, int16} CONTAINS 3", 1),
        ("{3, int16} CONTAINS 3", 6), ("uuid IN {text, 'x'}", nil),
        ("'a' IN[c] {'A', text}", 6), ("nil IN {nil, int16}", 6),
    ])
    func constantsInComputedLists(format: String, count: Int?) throws {
        try compare(format, found: count)
    }

    /// SQLite computes infinities, and another program may have written anything into a column.
    @Test(arguments: ["9e999", "-9e999", "1e200", "1e-200", "'inf'", "'1e999'", "''", "x'00'"])
    func whatNoDecimalCanBeIsReadAllTheSame(_ value: String) throws {
        let fixture = try StoreFixture(TestModel.kinds())
        let id = try fixture.insert("Kinds", ["amount": .decimal(1)])
        _ = try fixture.store.write { transaction in
            try transaction.connection.run("UPDATE ZKINDS SET ZAMOUNT = \(value)")
        }
        let found = try #require(try fixture.value(id, "amount"))
        #expect(!found.isNull)
        if value.hasPrefix("9") { #expect(found == .double(.infinity)) }
        if value.hasPrefix("-") { #expect(found == .double(-.infinity)) }
        if value == "1e200" { #expect(found == .double(1e200)) }
        #expect(try fixture.store.packs([id])?.first?.attributes(of: 0).isEmpty != true)
        guard case .double = found else { return }
        _ = try fixture.save {
            $0.updates = [try fixture.update(id, ["text": .text("x"), "amount": found])]
        }
        #expect(try fixture.value(id, "amount") == found)
    }
}
