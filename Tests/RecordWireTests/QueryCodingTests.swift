import Foundation
import RecordWire
import Testing

/// Queries as clients spell them; the texts are written from the protocol page.
@Suite struct QueryCodingTests {
    private func read(_ text: String) throws(RecordError) -> RecordRequest {
        try WireCodec.decodeRequest(path: "records/query", method: "POST", body: Data(text.utf8))
    }

    @Test func aQueryTravelsWhole() throws {
        var request = QueryRecords(
            RecordQuery(
                recordType: "Note",
                filters: [
                    RecordFilter(.field("title"), .beginsWith, .string("a")),
                    RecordFilter(.system(.modifiedTimestamp), .greaterThan, .timestamp(12)),
                    RecordFilter(
                        .field("place"), .near,
                        .location(RecordLocation(latitude: 1.5, longitude: 2)), distance: 100),
                    RecordFilter(.field("n"), .isIn, .list(type: .int64, [.int64(1)])),
                    RecordFilter(.anyText, .containsAllTokens, .string("b")),
                ],
                sorts: [
                    RecordSort(.field("title"), ascending: false),
                    RecordSort(
                        .field("place"),
                        relativeLocation: RecordLocation(latitude: 1, longitude: 2)),
                ]), zoneID: ZoneID(zoneName: "notes"))
        request.resultsLimit = 7
        request.continuationMarker = "m"
        request.desiredKeys = ["title"]
        let text = """
            {"query":{"recordType":"Note","filterBy":[\
            {"comparator":"BEGINS_WITH","fieldName":"title",\
            "fieldValue":{"value":"a","type":"STRING"}},\
            {"comparator":"GREATER_THAN","systemFieldName":"modifiedTimestamp",\
            "fieldValue":{"value":12,"type":"TIMESTAMP"}},\
            {"comparator":"NEAR","fieldName":"place",\
            "fieldValue":{"value":{"latitude":1.5,"longitude":2.0},"type":"LOCATION"},\
            "distance":100.0},\
            {"comparator":"IN","fieldName":"n","fieldValue":{"value":[1],"type":"INT64_LIST"}},\
            {"comparator":"CONTAINS_ALL_TOKENS","fieldValue":{"value":"b","type":"STRING"}}],\
            "sortBy":[{"fieldName":"title","ascending":false},\
            {"fieldName":"place","ascending":true,\
            "relativeLocation":{"latitude":1.0,"longitude":2.0}}]},\
            "zoneID":{"zoneName":"notes"},"resultsLimit":7,"continuationMarker":"m",\
            "desiredKeys":["title"]}
            """
        let encoded = try WireCodec.encode(.queryRecords(request))
        #expect(String(decoding: encoded.body, as: UTF8.self) == text)
        #expect(encoded.path == "records/query" && encoded.method == "POST")
        #expect(try read(text) == .queryRecords(request))
    }

    /// Apple's own clients leave lists out, send one filter alone, and name schema fields.
    @Test(arguments: [
        #"{"query":{"recordType":"T"}}"#, #"{"query":{"recordType":"T","filterBy":[]}}"#,
        #"{"zoneWide":false,"query":{"recordType":"T","filterBy":null,"sortBy":[]}}"#,
    ])
    func whatIsNotAskedIsLeftOut(text: String) throws {
        let plain = QueryRecords(RecordQuery(recordType: "T"), zoneID: nil)
        #expect(try read(text) == .queryRecords(plain))
    }

    @Test(arguments: [
        #""systemFieldName":"createdTimestamp""#, #""fieldName":"___createTime""#,
        #""systemFieldName":"___createTime""#,
    ])
    func systemFieldsHaveTwoNames(field: String) throws {
        let request = try read(
            #"{"query":{"recordType":"T","sortBy":{\#(field),"ascending":true}}}"#)
        guard case .queryRecords(let query) = request else { throw RecordError(.badRequest, "") }
        #expect(query.query.sorts == [RecordSort(.system(.createdTimestamp))])
    }

    @Test func containsAnyIsTakenForTheListsComparator() throws {
        let request = try read(
            """
            {"query":{"recordType":"T","filterBy":{"comparator":"CONTAINS_ANY","fieldName":"l",
            "fieldValue":{"value":["a"],"type":"STRING_LIST"}}},"zoneWide":true}
            """)
        guard case .queryRecords(let query) = request else { throw RecordError(.badRequest, "") }
        #expect(query.query.filters.map(\.comparator) == [.listContainsAny])
        #expect(query.zoneWide && query.zoneID == nil)
    }

    @Test(arguments: [
        (#"{}"#, "query is missing"), (#"{"query":{}}"#, "query.recordType is missing"),
        (#"{"query":{"recordType":"T","filterBy":[{"comparator":"LIKE"}]}}"#, "comparator is LIKE"),
        (
            #"{"query":{"recordType":"T","filterBy":[{"comparator":"EQUALS","fieldName":"a"}]}}"#,
            "fieldValue is missing"
        ),
        (
            #"{"query":{"recordType":"T","filterBy":[{"comparator":"EQUALS","fieldValue":"#
                + #"{"value":1}}]}}"#, "fieldName is missing"
        ),
        (
            #"{"query":{"recordType":"T","filterBy":[{"comparator":"EQUALS","fieldName":"a","#
                + #""fieldValue":{"value":null}}]}}"#, "fieldValue is missing"
        ),
        (
            #"{"query":{"recordType":"T","sortBy":[{"systemFieldName":"share"}]}}"#,
            "systemFieldName is share"
        ),
        (#"{"query":{"recordType":"T"},"resultsLimit":0}"#, "resultsLimit must be at least 1"),
        (#"{"query":{"recordType":"T","sort":[]}}"#, "query.sort is not a key"),
    ])
    func whatIsWrongIsNamed(text: String, reason: String) throws {
        let error = #expect(throws: RecordError.self) { try read(text) }
        #expect(error?.code == .badRequest && error?.reason.contains(reason) == true)
    }

    @Test func theAnswerCarriesTheMarker() throws {
        let request = RecordRequest.queryRecords(
            QueryRecords(RecordQuery(recordType: "T"), zoneID: nil))
        var reply = RecordsReply(results: [.record(Record(recordName: "r", recordType: "T"))])
        reply.continuationMarker = "m"
        reply.damagedRecords = ["d"]
        let body = try WireCodec.encode(.records(reply), to: request)
        #expect(
            String(decoding: body, as: UTF8.self) == """
                {"records":[{"recordName":"r","recordType":"T","fields":{}}],\
                "continuationMarker":"m","damagedRecords":["d"]}
                """)
        #expect(try WireCodec.decodeResponse(to: request, body) == .records(reply))
    }
}
