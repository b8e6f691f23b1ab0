import Foundation
import Testing

@testable import RecordWire

/// A record's fields beside a dictionary that is told the same.
@Suite struct RecordFieldsTests {
    private static let names = [
        "a", "ab", "b", "CD_title", "CD_titleIsLongerThanFifteen", "é", "e\u{301}", "漢", "",
        "___parent",
    ]

    @Test(arguments: 0..<60 as Range<UInt64>)
    func fieldsAnswerAsADictionaryDoes(_ seed: UInt64) throws {
        var random = RandomRecords(seed: seed &+ 500)
        var fields = RecordFields()
        var known: [String: FieldValue?] = [:]
        for step in 0..<60 {
            let name = Self.names[random.below(Self.names.count)]
            let value: FieldValue? =
                random.below(4) == 0 ? nil : .int64(Int64(random.below(9)))
            switch random.below(6) {
            case 0:
                #expect(fields.removeValue(forKey: name) == known.removeValue(forKey: name))
            case 1:
                fields[name] = value
                known[name] = value
            case 2:
                fields[name] = nil
                known[name] = nil
            case 3:
                fields = try RecordArchive.decodeFields(RecordArchive.encodeFields(fields))
            case 4:
                fields = try RecordArchive.passFields(RecordArchive.encodeFields(fields))
            default:
                #expect(
                    fields.updateValue(value, forKey: name)
                        == known.updateValue(value, forKey: name))
            }
            try #require(fields.count == known.count, "step \(step)")
            #expect(fields == RecordFields(known))
            #expect(fields.isEmpty == known.isEmpty)
            #expect(fields.keys == known.keys.sorted())
            #expect(fields.holdReserved == known.keys.contains { $0.hasPrefix("___") })
            for name in Self.names { #expect(fields[name] == known[name]) }
            #expect(
                fields.filter { $0.value == nil } == RecordFields(known.filter { $0.value == nil }))
        }
    }

    @Test func ofFieldsOfOneNameTheFirstCounts() {
        let fields = RecordFields([
            RecordFields.Entry(key: "b", value: .int64(1)),
            RecordFields.Entry(key: "a", value: .int64(2)),
            RecordFields.Entry(key: "b", value: .int64(3)),
        ])
        #expect(fields == ["a": .int64(2), "b": .int64(1)])
    }

    @Test func theBytesOfAnArchiveAreKeptUntilAFieldChanges() throws {
        let data = RecordArchive.encodeFields(["a": .string("x"), "b": .asset(RecordAsset())])
        for read in [try RecordArchive.decodeFields(data), try RecordArchive.passFields(data)] {
            var fields = read
            #expect(fields.archived == data.dropFirst())
            #expect(fields.holdAssets)
            #expect(fields.count == 2)
            fields["b"] = .int64(1)
            #expect(fields.archived == nil)
            #expect(fields == ["a": .string("x"), "b": .int64(1)])
            #expect(!fields.holdAssets)
        }
    }

    /// What a service sends on unread it has to have checked as closely as what it reads.
    @Test func fieldsAreRefusedUnreadAsTheyAreWhenRead() throws {
        var random = RandomRecords(seed: 77)
        var refused = 0
        for _ in 0..<4_000 {
            var data = RecordArchive.encodeFields(random.record().fields)
            for _ in 0...random.below(2) {
                data[random.below(data.count)] = UInt8(random.below(256))
            }
            let read = try? RecordArchive.decodeFields(data)
            let passed = try? RecordArchive.passFields(data)
            #expect((read == nil) == (passed == nil))
            if read == nil { refused += 1 }
            guard let read, let passed else { continue }
            #expect(read.count == passed.count)
            #expect(read.holdAssets == passed.holdAssets)
            #expect(read.holdReserved == passed.holdReserved)
            #expect(read.keys == passed.keys)
        }
        #expect(refused > 400)
    }
}
