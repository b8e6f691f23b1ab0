import Foundation
import RecordWire
import Testing

/// Bodies with archived records beside the same in JSON.
@Suite struct ArchivedBodyTests {
    private func archived(_ request: RecordRequest) throws -> Data {
        let sent = try WireCodec.encode(request, as: .archived)
        #expect(sent.format == .archived)
        #expect(sent.method == "POST")
        return sent.body
    }

    private func request(_ body: Data) throws(RecordError) -> RecordRequest {
        try WireCodec.decodeRequest(
            path: "records/modify", method: "POST", body: body, format: .archived)
    }

    private func records(_ seed: UInt64, _ count: Int = 10) -> [Record] {
        var random = RandomRecords(seed: seed)
        return (0..<count).map { index in
            var record = random.record()
            if index % 3 == 0 { record.writeID = "w\(index)" }
            if index % 4 == 0 { record.recentWriteIDs = ["x", "y"] }
            if index % 5 == 0 {
                record.replays = [Replay(tag: "t"), Replay(tag: "u", version: "v")]
            }
            switch index % 7 {
            case 1: record.parent = "above"
            case 2: record.parent = nil
            case 3: record.createsShortGUID = true
            default: break
            }
            if index > 4 { record.modified = record.created }
            return record
        }
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func anArchivedRequestSaysWhatOneInJSONSays(_ seed: UInt64) throws {
        let kinds = RecordOperation.Kind.allCases
        var modify = ModifyRecords(
            operations: records(seed &+ 3).enumerated().map {
                RecordOperation(kinds[$0 % kinds.count], $1)
            }, zoneID: ZoneID(zoneName: "notes"), atomic: seed % 2 == 0)
        modify.desiredKeys = seed % 3 == 0 ? [] : nil
        modify.client = ClientState(instance: "i", round: 3, nonce: "n", witness: "5.a")
        let asked = RecordRequest.modifyRecords(modify)
        let plain = try WireCodec.encode(asked)
        let inJSON = try WireCodec.decodeRequest(
            path: plain.path, method: plain.method, body: plain.body)
        #expect(try request(archived(asked)) == inJSON)
        #expect(inJSON == asked)
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func anArchivedAnswerSaysWhatOneInJSONSays(_ seed: UInt64) throws {
        let some = records(seed &+ 900)
        var conflict = RecordError(.conflict, "changed since", recordName: "r")
        conflict.serverRecord = some[0]
        var full = RecordError(.tryAgainLater, "full", recordName: "s")
        full.retryAfterSeconds = 2
        var reply = RecordsReply(
            results: some.map { .record($0) } + [.failure(conflict), .failure(full)],
            syncToken: "s", previousSyncToken: "p")
        reply.epochs = EpochLine(
            incarnation: 9, floor: 1, newest: 7, epochs: [.init(id: 5, first: 1)])
        let modify = RecordRequest.modifyRecords(ModifyRecords(operations: [], zoneID: nil))
        try expectSame(.records(reply), to: modify)
        var page = ZoneChangesReply(zoneID: ZoneID(zoneName: "a", ownerRecordName: "_o"))
        page.records = some
        page.syncToken = "t"
        page.moreComing = true
        page.echoesWriteIDs = true
        page.damagedRecords = ["broken"]
        var refused = ZoneChangesReply(zoneID: ZoneID(zoneName: "b"))
        refused.failure = RecordError(.zoneNotFound, "gone", zoneID: ZoneID(zoneName: "b"))
        var other = ZoneChangesReply(zoneID: ZoneID(zoneName: "c"))
        other.records = records(seed &+ 5_000, 3)
        try expectSame(
            .zoneChanges([page, refused, other]), to: .zoneChanges(ZoneChanges(zones: [])))
        page.zoneID = ZoneID(zoneName: "a")
        try expectSame(
            .recordChanges(page),
            to: .recordChanges(RecordChanges(zone: .init(zoneID: page.zoneID, syncToken: nil))))
    }

    private func expectSame(_ answer: RecordResponse, to request: RecordRequest) throws {
        let inJSON = try WireCodec.decodeResponse(
            to: request, WireCodec.encode(answer, to: request))
        let (body, format) = try WireCodec.encode(answer, to: request, as: .archived)
        #expect(format == .archived)
        let read = try WireCodec.decodeResponse(to: request, body, format: format)
        #expect(read == inJSON)
        #expect(read == answer)
    }

    /// A page goes from the rows into the answer without a value being made.
    @Test func storedFieldsAreSentAsTheyAreStored() throws {
        let fields: RecordFields = ["title": .string("x"), "when": .timestamp(7)]
        let stored = RecordArchive.encodeFields(fields)
        var page = ZoneChangesReply(zoneID: ZoneID(zoneName: "a"))
        page.records = [
            Record(
                recordName: "r", recordType: "T", fields: try RecordArchive.passFields(stored))
        ]
        let (body, _) = try WireCodec.encode(.zoneChanges([page]), as: .archived)
        #expect(body.range(of: stored.dropFirst()) != nil)
        let asked = RecordRequest.zoneChanges(ZoneChanges(zones: []))
        guard
            case .zoneChanges(let pages) = try WireCodec.decodeResponse(
                to: asked, body, format: .archived)
        else { throw RecordError(.badRequest, "another answer") }
        let came = try #require(pages.first?.records.first?.fields)
        #expect(came == fields)
        #expect(RecordArchive.encodeFields(came) == stored)
    }

    // MARK: Strangers

    private var whole: Data {
        get throws {
            try archived(
                .modifyRecords(
                    ModifyRecords(
                        operations: records(4, 6).map { RecordOperation(.create, $0) }, zoneID: nil)
                ))
        }
    }

    @Test func everyShorterBodyIsRefused() throws {
        let body = try whole
        for count in 0..<body.count {
            #expect(throws: RecordError.self) { try request(body.prefix(count)) }
        }
        #expect(throws: RecordError.self) { try request(body + [0]) }
    }

    @Test func damagedBodiesAreReadOrRefusedButNeverTrap() throws {
        let body = try whole
        var random = RandomRecords(seed: 31)
        var refused = 0
        for _ in 0..<6_000 {
            var damaged = body
            for _ in 0...random.below(3) {
                damaged[random.below(damaged.count)] = UInt8(random.below(256))
            }
            do throws(RecordError) {
                let read = try request(damaged)
                // What was taken can be sent on.
                guard case .modifyRecords = read else { throw RecordError(.badRequest, "kind") }
                _ = try? archived(read)
            } catch {
                #expect(error.code == .badRequest || error.code == .limitExceeded)
                refused += 1
            }
        }
        #expect(refused > 1_000)
    }

    /// A body of one record without fields, up to the count of its fields.
    private func head(parts: UInt8 = 0, name: String = "n") -> [UInt8] {
        let envelope = Array(#"{"operations":[]}"#.utf8)
        return Array("DPRB".utf8) + [1, UInt8(envelope.count)] + envelope + [
            1, 0, parts, UInt8(name.utf8.count),
        ] + Array(name.utf8) + [1, 1, 0x54, 0, 0, 0]
    }

    private func reason(_ bytes: [UInt8]) throws -> String {
        try #require(throws: RecordError.self) { try request(Data(bytes)) }.reason
    }

    @Test func whatNoRecordHasIsRefusedInWords() throws {
        #expect(try request(Data(head() + [0])) != .listZones)
        // One field `f` with the given bytes.
        func field(_ bytes: [UInt8]) -> [UInt8] { head() + [1, 1, 0x66] + bytes }
        #expect(try reason(field([9, 1, 1, 2, 0])).contains("mixed list"))
        #expect(try reason(field([10, 6, 1, 0x72, 0, 0])).contains("not encrypted"))
        #expect(try reason(field([10, 10, 2, 0])).contains("not encrypted"))
        #expect(try reason(field([8, 0, 0, 0, 0, 0, 0])).contains("asset that is none"))
        #expect(try reason(field([11])).contains("unknown type"))
        #expect(try reason(field([1, 1, 0xFF])).contains("UTF-8"))
        #expect(try reason(head(parts: 64) + [0]).contains("unknown parts"))
        #expect(
            try reason(head() + [1, 9] + Array("___parent".utf8) + [0]).contains("of the system"))
        #expect(try reason(head() + [2, 1, 0x66, 0, 1, 0x66, 0]).contains("out of order"))
        #expect(try reason(Array(#"{"operations":[]}"#.utf8)).contains("begin"))
        var newer = head() + [0]
        newer[4] = 2
        #expect(try reason(newer).contains("version 2"))
    }

    @Test func aBodyWithMoreThanOneTakesIsRefusedBeforeItIsMade() throws {
        func counted(_ bytes: [UInt8]) throws -> RecordError {
            try #require(throws: RecordError.self) { try request(Data(bytes)) }
        }
        let manyFields = (0...1_024).flatMap { index -> [UInt8] in
            [4] + Array(String(10_000 + index).utf8.dropFirst()) + [0]
        }
        #expect(try counted(head() + [0x81, 0x08] + manyFields).code == .limitExceeded)
        let manyElements = Array(repeating: [2, 0] as [UInt8], count: 20_001).flatMap { $0 }
        #expect(
            try counted(head() + [1, 1, 0x66, 9, 2, 0xA1, 0x9C, 0x01] + manyElements).code
                == .badRequest)
        let huge: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]
        #expect(try counted(head() + huge).code == .badRequest)
    }

    @Test func recordsInTheJSONOfAnArchivedBodyAreRefused() throws {
        let envelope = Array(
            #"{"operations":[{"operationType":"delete","record":{"recordName":"a"}}]}"#.utf8)
        let body = Array("DPRB".utf8) + [1, UInt8(envelope.count)] + envelope + [0]
        #expect(try reason(body).contains("archive them all"))
    }

    @Test func otherOperationsTakeJSON() throws {
        let error = #expect(throws: RecordError.self) {
            try WireCodec.decodeRequest(
                path: "zones/list", method: "POST", body: Data(), format: .archived)
        }
        #expect(error?.code == .badRequest)
        #expect(try WireCodec.encode(.listZones, as: .archived).format == .json)
    }

    /// A number with more bytes than it needs is read; its bytes are not kept.
    @Test func fieldsInAnotherSpellingAreSpelledAnew() throws {
        let padded: [UInt8] = [1, 1, 0x66, 2, 0x82, 0x00]
        guard case .modifyRecords(let read) = try request(Data(head() + padded)) else {
            throw RecordError(.badRequest, "kind")
        }
        let fields = try #require(read.operations.first?.record.fields)
        #expect(fields == ["f": .int64(1)])
        #expect(RecordArchive.encodeFields(fields) == RecordArchive.encodeFields(["f": .int64(1)]))
    }

    // MARK: Negotiation

    @Test func theFormatIsWhatHeadersSay() {
        let type = "application/vnd.diptych.records"
        for text in [type, type.uppercased(), "\(type); a=b", " \(type) "] {
            #expect(WireFormat(contentType: text) == .archived)
        }
        for text in [nil, "", "application/json", "text/plain", "*/*"] {
            #expect(WireFormat(contentType: text) == .json)
            #expect(WireFormat(acceptedBy: text) == .json)
        }
        for text in [type, "application/json;q=0.5, \(type)", "\(type); q=0.1", "a/b,\(type)"] {
            #expect(WireFormat(acceptedBy: text) == .archived)
        }
        #expect(WireFormat(acceptedBy: "\(type);q=0, application/json") == .json)
    }
}
