import Foundation
import RecordWire
import Testing

@Suite struct RoundTripTests {
    @Test(arguments: 0..<40 as Range<UInt64>)
    func anyRecordComesBackFromARequestAndAnAnswer(_ seed: UInt64) throws {
        var random = RandomRecords(seed: seed)
        let records = (0..<10).map { _ in random.record() }
        let kinds = RecordOperation.Kind.allCases
        var modify = ModifyRecords(
            operations: records.enumerated().map { RecordOperation(kinds[$0 % kinds.count], $1) },
            zoneID: records[0].zoneID, atomic: seed % 2 == 0)
        modify.numbersAsStrings = seed % 3 == 0
        let request = RecordRequest.modifyRecords(modify)
        let encoded = try WireCodec.encode(request)
        let decoded = try WireCodec.decodeRequest(
            path: encoded.path, method: encoded.method, body: encoded.body)
        #expect(decoded == request)
        let answer = RecordResponse.records(
            RecordsReply(results: records.map { .record($0) }, syncToken: "s"))
        let body = try WireCodec.encode(answer, to: request)
        #expect(try WireCodec.decodeResponse(to: request, body) == answer)
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func anyRecordComesBackFromItsArchive(_ seed: UInt64) throws {
        var random = RandomRecords(seed: seed &+ 1000)
        for _ in 0..<20 {
            let record = random.record()
            let data = RecordArchive.encode(record)
            #expect(try RecordArchive.decode(data) == record)
            #expect(RecordArchive.encode(try RecordArchive.decode(data)) == data)
            let fields = RecordArchive.encodeFields(record.fields)
            #expect(try RecordArchive.decodeFields(fields) == record.fields)
            let some = Set(record.fields.keys.prefix(2))
            #expect(
                try RecordArchive.decodeFields(fields, named: some)
                    == record.fields.filter { some.contains($0.key) })
        }
    }

    @Test func archivesKeepTheBitsOfANumberThatIsNone() throws {
        let odd = Double(bitPattern: 0x7FF8_0000_0000_1234)
        let record = Record(recordName: "r", recordType: "T", fields: ["d": .double(odd)])
        guard
            case .double(let back)?? = try RecordArchive.decode(RecordArchive.encode(record))
                .fields["d"]
        else { throw RecordError(.badRequest, "kind") }
        #expect(back.bitPattern == odd.bitPattern)
    }

    @Test func aListOfMixedElementsIsRefusedBeforeItTravels() throws {
        let record = Record(
            recordName: "r", recordType: "T",
            fields: ["l": .list(type: .int64, [.int64(1), .string("x")])])
        let error = #expect(throws: RecordError.self) {
            try WireCodec.encode(
                .modifyRecords(
                    ModifyRecords(operations: [RecordOperation(.create, record)], zoneID: nil)))
        }
        #expect(error?.reason.contains("INT64") == true)
    }
}
