import Foundation
import RecordWire
import Testing

/// Spellings of other clients that are taken for the usual ones.
@Suite struct TolerantReadingTests {
    private func record(_ member: String) throws -> Record {
        let record = #"{"recordName":"r",\#(member)}"#
        let text = #"{"operations":[{"operationType":"create","record":\#(record)}]}"#
        guard
            case .modifyRecords(let modify) = try WireCodec.decodeRequest(
                path: "records/modify", method: "POST", body: Data(text.utf8))
        else { throw RecordError(.badRequest, "kind") }
        return modify.operations[0].record
    }

    private func value(_ field: String) throws -> FieldValue? {
        try record(#""recordType":"T","fields":{"a":\#(field)}"#).fields["a"] ?? nil
    }

    @Test func aBooleanWithItsTypeIsAnInteger() throws {
        #expect(try value(#"{"value":true,"type":"BOOLEAN"}"#) == .int64(1))
        #expect(try value(#"{"type":"BOOLEAN","value":false}"#) == .int64(0))
        #expect(try value(#"{"value":1,"type":"BOOLEAN"}"#) == .int64(1))
        #expect(
            try value(#"{"value":[true,0],"type":"BOOLEAN_LIST"}"#)
                == .list(type: .int64, [.int64(1), .int64(0)]))
        #expect(
            try value(#"{"value":true,"type":"BOOLEAN","isEncrypted":true}"#)
                == .encrypted(.int64(1)))
        #expect(try value(#"{"value":null,"type":"BOOLEAN"}"#) == nil)
    }

    @Test(arguments: [
        #"{"value":true,"type":"INT64"}"#, #"{"value":"true","type":"BOOLEAN"}"#,
        #"{"value":2,"type":"BOOLEAN"}"#, #"{"value":true}"#, #"{"value":[],"type":"BOOLEAN"}"#,
    ])
    func whatIsNoBooleanIsRefused(field: String) throws {
        let error = #expect(throws: RecordError.self) { try value(field) }
        #expect(error?.code == .badRequest)
    }

    @Test func aShareIsOneHoweverItIsSpelled() throws {
        #expect(try record(#""recordType":"cloudKit.share""#).recordType == "cloudkit.share")
        #expect(try record(#""recordType":"cloudKit.shares""#).recordType == "cloudKit.shares")
    }

    private func request(_ path: String, _ body: String) throws -> RecordRequest {
        try WireCodec.decodeRequest(path: path, method: "POST", body: Data(body.utf8))
    }

    /// Clients that have Booleans as numbers write them so.
    @Test func oneAndZeroAreBooleansWhereClientsWriteThem() throws {
        #expect(
            try record(#""recordType":"T","createShortGUID":1"#)
                == record(#""recordType":"T","createShortGUID":true"#))
        for (number, flag) in [("1", true), ("0", false)] {
            let body = #"{"shortGUIDs":[{"value":"g","shouldFetchRootRecord":\#(number)}]}"#
            guard case .resolveShares(let lookup) = try request("records/resolve", body) else {
                throw RecordError(.badRequest, "kind")
            }
            #expect(lookup.entries.map(\.fetchesRoot) == [flag])
        }
        #expect(throws: RecordError.self) {
            try record(#""recordType":"T","createShortGUID":2"#)
        }
    }

    @Test func whatOtherClientsWriteBesideIsTaken() throws {
        let named = #"""
            {"operations":[{"operationType":"create","recordType":"T","record":{}},
            {"operationType":"create","recordType":"T","record":{"recordType":"U"}}]}
            """#
        guard case .modifyRecords(let modify) = try request("records/modify", named) else {
            throw RecordError(.badRequest, "kind")
        }
        #expect(modify.operations.map(\.record.recordType) == ["T", "U"])
        let once = #"""
            {"operations":[{"operationType":"create","subscription":{"subscriptionType":"zone",
            "zoneID":{"zoneName":"z"},"fireOnce":1}}]}
            """#
        guard case .modifySubscriptions(let made) = try request("subscriptions/modify", once) else {
            throw RecordError(.badRequest, "kind")
        }
        #expect(made[0].subscription.firesOnce)
    }
}
