import Foundation
import RecordWire
import Testing

@Suite struct ResponseGoldenTests {
    private let zone = ZoneID(zoneName: "notes", ownerRecordName: "_anna")
    private let zoneText = #"{"zoneName":"notes","ownerRecordName":"_anna"}"#

    private func expect(
        _ response: RecordResponse, to request: RecordRequest, text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let encoded = try WireCodec.encode(response, to: request)
        #expect(String(decoding: encoded, as: UTF8.self) == text, sourceLocation: sourceLocation)
        let decoded = try WireCodec.decodeResponse(to: request, Data(text.utf8))
        #expect(decoded == response, sourceLocation: sourceLocation)
    }

    private func record() -> Record {
        var record = Record(
            recordName: "r1", recordType: "Note", recordChangeTag: "2",
            fields: ["n": .int64(.max), "d": .double(1e300)])
        record.created = RecordStamp(timestamp: 1, userRecordName: "_anna", deviceID: "D")
        record.modified = RecordStamp(timestamp: 2)
        record.zoneID = zone
        return record
    }

    @Test func recordsWithErrorsAndDeletions() throws {
        var gone = Record(recordName: "r2", recordType: "Note")
        gone.deleted = true
        var conflict = RecordError(.conflict, "stale", recordName: "r1")
        conflict.serverRecord = record()
        conflict.uuid = "U"
        var later = RecordError(.tryAgainLater, "busy", recordName: "r3", zoneID: zone)
        later.retryAfterSeconds = 2
        let text = """
            {"records":[{"recordName":"r2","recordType":"Note","deleted":true},\
            {"uuid":"U","recordName":"r1","serverErrorCode":"CONFLICT","reason":"stale",\
            "serverRecord":{"recordName":"r1","recordType":"Note","recordChangeTag":"2",\
            "fields":{"d":{"value":1e+300,"type":"DOUBLE"},\
            "n":{"value":"9223372036854775807","type":"INT64"}},\
            "created":{"timestamp":1,"userRecordName":"_anna","deviceID":"D"},\
            "modified":{"timestamp":2},"zoneID":\(zoneText)}},\
            {"recordName":"r3","zoneID":\(zoneText),"serverErrorCode":"TRY_AGAIN_LATER",\
            "reason":"busy","retryAfter":2}],"syncToken":"S"}
            """
        var request = LookupRecords(recordNames: [], zoneID: nil)
        request.numbersAsStrings = true
        let results: [RecordResult] = [.record(gone), .failure(conflict), .failure(later)]
        try expect(
            .records(RecordsReply(results: results, syncToken: "S")), to: .lookupRecords(request),
            text: text)
    }

    @Test func zoneChangesWithAFailedZone() throws {
        var good = ZoneChangesReply(zoneID: zone)
        good.syncToken = "S"
        good.moreComing = true
        good.records = [Record(recordName: "r", recordType: "T", recordChangeTag: "1")]
        var bad = ZoneChangesReply(zoneID: ZoneID(zoneName: "x"))
        bad.failure = RecordError(
            .changeTokenExpired, "Start again.", zoneID: ZoneID(zoneName: "x"))
        try expect(
            .zoneChanges([good, bad]), to: .zoneChanges(ZoneChanges(zones: [])),
            text: """
                {"zones":[{"zoneID":\(zoneText),"syncToken":"S","moreComing":true,"records":[\
                {"recordName":"r","recordType":"T","recordChangeTag":"1","fields":{}}]},\
                {"zoneID":{"zoneName":"x"},"serverErrorCode":"CHANGE_TOKEN_EXPIRED",\
                "reason":"Start again."}]}
                """)
    }

    @Test func zonesDatabaseChangesAndCaller() throws {
        try expect(
            .databaseChanges(
                DatabaseChangesReply(
                    zones: [.init(zoneID: zone, deleted: true)], syncToken: "T",
                    moreComing: false)),
            to: .databaseChanges(DatabaseChanges(syncToken: nil)),
            text:
                """
                {"zones":[{"zoneID":\(zoneText),"deleted":true}],"syncToken":"T",\
                "moreComing":false}
                """
        )
        try expect(
            .zones([
                .zone(ZoneDescription(zoneID: zone, syncToken: "Z")),
                .failure(RecordError(.zoneNotFound, "gone", zoneID: zone)),
            ]), to: .listZones,
            text: """
                {"zones":[{"zoneID":\(zoneText),"syncToken":"Z","atomic":true},\
                {"zoneID":\(zoneText),"serverErrorCode":"ZONE_NOT_FOUND","reason":"gone"}]}
                """)
        try expect(
            .caller(CallerReply(userRecordName: "_u")), to: .caller,
            text: #"{"userRecordName":"_u"}"#)
    }

    /// Clients read a whole number, as CloudKit's service sends it.
    @Test func secondsToWaitAreWholeAndNotLess() throws {
        var error = RecordError(.throttled, "Wait.")
        error.retryAfterSeconds = 2.1
        let text = #"{"serverErrorCode":"THROTTLED","reason":"Wait.","retryAfter":3}"#
        #expect(try String(decoding: WireCodec.encode(error), as: UTF8.self) == text)
    }

    @Test func errorsTravelAsBodies() throws {
        var error = RecordError(.authenticationRequired, "Sign in.")
        error.uuid = "U"
        error.redirectURL = "https://x/"
        error.retryAfterSeconds = 3
        let text = """
            {"uuid":"U","serverErrorCode":"AUTHENTICATION_REQUIRED","reason":"Sign in.",\
            "retryAfter":3,"redirectURL":"https://x/"}
            """
        #expect(try String(decoding: WireCodec.encode(error), as: UTF8.self) == text)
        #expect(try WireCodec.decodeError(Data(text.utf8)) == error)
    }

    @Test func answersMaySayMoreThanWeKnow() throws {
        let text = """
            {"records":[{"recordName":"r","recordType":"T","recordChangeTag":"1","pluginFields":{},
            "shortGUID":"g","parent":{"recordName":"p"},"fields":{
            "e":{"value":"x","type":"STRING","isEncrypted":true},
            "u":{"value":[],"type":"UNKNOWN_LIST"},
            "b":{"value":"AA==","type":"ENCRYPTED_BYTES"}},
            "created":{"timestamp":1,"user":"_u"},"zoneID":{"zoneName":"z","zoneType":"REGULAR"}}],
            "more":1}
            """
        let response = try WireCodec.decodeResponse(
            to: .lookupRecords(LookupRecords(recordNames: ["r"], zoneID: nil)), Data(text.utf8))
        guard case .records(let reply) = response, case .record(let record)? = reply.results.first
        else { throw RecordError(.badRequest, "kind") }
        #expect(record.fields["e"] == .encrypted(.string("x")))
        #expect(record.fields["u"] == .list(type: .string, []))
        #expect(record.fields["b"] == .bytes(Data([0])))
        #expect(record.created == RecordStamp(timestamp: 1, userRecordName: "_u"))
    }

    @Test(arguments: ["<html>502</html>", "{}", "[]", "", #"{"serverErrorCode":7}"#, "null"])
    func aPageOfAProxyIsNoError(_ text: String) throws {
        let error = #expect(throws: RecordError.self) {
            try WireCodec.decodeError(Data(text.utf8))
        }
        #expect(error?.code == .unexpectedServerResponse)
        #expect(error?.reason.isEmpty == false)
    }
}
