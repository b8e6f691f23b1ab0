import Foundation
import RecordWire
import Testing

/// A body, and the words that its refusal must hold.
struct Malformed: Sendable, CustomTestStringConvertible {
    let path: String
    let body: String
    let words: String
    var testDescription: String { words }

    init(_ path: String, _ body: String, _ words: String) {
        self.path = path
        self.body = body
        self.words = words
    }

    /// A records/modify whose only field `f` is `field`.
    static func field(_ field: String, _ words: String) -> Malformed {
        Malformed(
            "records/modify",
            """
            {"operations":[{"operationType":"create",
            "record":{"recordName":"r","recordType":"T","fields":{"f":\(field)}}}]}
            """, words)
    }

    static func record(_ members: String, _ words: String) -> Malformed {
        Malformed(
            "records/modify",
            #"{"operations":[{"operationType":"create","record":{\#(members)}}]}"#, words)
    }
}

@Suite struct MalformedBodyTests {
    private static let place = "operations[0].record.fields.f"

    @Test func brokenTextIsToldAsBrokenText() throws {
        var body = Data(
            #"{"operations":[{"operationType":"create","record":{"recordName":""#.utf8)
        let place = body.count + 1
        body += [0x78, 0xC3, 0x28]
        body += Data(#"","recordType":"T"}}]}"#.utf8)
        let error = #expect(throws: RecordError.self) {
            try WireCodec.decodeRequest(path: "records/modify", method: "POST", body: body)
        }
        #expect(error?.code == .badRequest)
        #expect(error?.reason.contains("no UTF-8 from byte \(place)") == true)
    }

    static let bodies: [Malformed] = [
        Malformed("records/modify", "", "operations is missing"),
        Malformed("records/modify", "{", "not valid JSON"),
        Malformed("records/modify", "[]", "The body has a wrong type"),
        Malformed("records/modify", "nul", "not valid JSON"),
        Malformed("records/modify", #"{"operations":{}}"#, "operations has a wrong type"),
        Malformed("records/modify", #"{"operations":[7]}"#, "operations[0] has a wrong type"),
        Malformed("records/modify", #"{"operations":[],"atomc":true}"#, "atomc is not a key"),
        Malformed("records/modify", #"{"operations":[],"atomic":1}"#, "atomic has a wrong type"),
        Malformed(
            "records/modify", #"{"operations":[{"record":{}}]}"#,
            "operations[0].operationType is missing"),
        Malformed(
            "records/modify", #"{"operations":[{"operationType":"upsert","record":{}}]}"#,
            "operations[0].operationType is upsert"),
        Malformed(
            "records/modify", #"{"operations":[{"operationType":"create"}]}"#,
            "operations[0].record is missing"),
        .field(#"{"value":1,"value":2}"#, "names value twice"),
        .record("\"fields\":{\"caf\u{E9}\":null,\"cafe\u{301}\":null}", "twice in one object"),
        .record(#""fields":{"a":null,"\u0061":null}"#, "names a twice"),
        .record(
            #""fields":{\#((0..<40).map { "\"f\($0 % 39)\":null" }.joined(separator: ","))}"#,
            "names f0 twice"),
        .field(#"{"value":1e999}"#, "operations[0].record.fields.f.value is past the range"),
        .field(#"{"value":"\ud800"}"#, "fields.f.value is text with an escape"),
        .field(#"{"value":true}"#, "spell a Boolean as INT64"),
        .record(#""recordName":5"#, "operations[0].record.recordName has a wrong type; a string"),
        .record(#""name":"x""#, "operations[0].record.name is not a key"),
        .record(#""parent":{"zoneID":{}}"#, "record.parent.recordName is missing"),
        .record(#""publicPermission":"ALL""#, "record.publicPermission is ALL; known are"),
        .record(
            #""participants":[{"type":"GUEST"}]"#, "record.participants[0].type is GUEST; known"),
        .record(#""fields":{"___parent":{"value":1}}"#, "fields.___parent is not a key"),
        .record(#""fields":[]"#, "record.fields has a wrong type"),
        .record(#""zoneID":{"zone":"x"}"#, "record.zoneID.zone is not a key"),
        .record(#""created":{"timestamp":1.5}"#, "record.created.timestamp is no whole number"),
        .field("7", "\(place) has a wrong type"),
        .field("{}", "\(place).value is missing"),
        .field(#"{"value":1,"kind":"INT64"}"#, "\(place).kind is not a key"),
        .field(#"{"value":1,"type":"NUMBER"}"#, "\(place).type is NUMBER; known are STRING"),
        .field(#"{"value":1,"type":"STRING"}"#, "\(place).value has a wrong type; a string"),
        .field(#"{"value":1.5,"type":"INT64"}"#, "\(place).value is no whole number"),
        .field(#"{"value":[1.5],"type":"INT64_LIST"}"#, "\(place).value holds an element that"),
        .field(#"{"value":"1.5","type":"INT64"}"#, "\(place).value is text that spells no"),
        .field(#"{"value":1.5,"type":"TIMESTAMP"}"#, "\(place).value is no whole number"),
        .field(#"{"value":"?","type":"BYTES"}"#, "\(place).value is no base64"),
        .field(
            #"{"value":"many","type":"DOUBLE"}"#, "\(place).value is text that spells no number"),
        .field(
            #"{"value":"1e999","type":"DOUBLE"}"#, "\(place).value is text that spells no number"),
        .field(#"{"value":1e999,"type":"DOUBLE"}"#, "\(place).value is past the range"),
        .field(#"{"value":true}"#, "\(place).value has no type of this protocol"),
        .field(#"{"value":9223372036854775808}"#, "\(place).value does not fit INT64"),
        .field(#"{"value":[]}"#, "\(place).value does not tell its type"),
        .field(#"{"value":[[1]],"type":"INT64_LIST"}"#, "\(place).value[0] has a wrong type"),
        .field(
            #"{"value":[1,"x"],"type":"INT64_LIST"}"#,
            "\(place).value holds an element that is text that spells no"),
        .field(#"{"value":[1,null],"type":"INT64_LIST"}"#, "\(place).value[1] is null"),
        .field(#"{"value":{"a":1}}"#, "\(place).value does not tell its type"),
        .field(#"{"value":{"recordName":"r","action":"KEEP"}}"#, "\(place).value.action is KEEP"),
        .field(#"{"value":{"latitude":1}}"#, "\(place).value.longitude is missing"),
        .field(#"{"value":"x","isEncrypted":true}"#, "\(place).type is missing"),
        Malformed("records/lookup", #"{"records":["a"]}"#, "records[0] has a wrong type"),
        Malformed("records/lookup", #"{"records":[{}]}"#, "records[0].recordName is missing"),
        Malformed("changes/zone", #"{"zones":[{}]}"#, "zones[0].zoneID is missing"),
        Malformed(
            "changes/zone", #"{"zones":[{"zoneID":{},"reverse":2}]}"#,
            "zones[0].reverse has a wrong type"),
        Malformed(
            "changes/zone", #"{"zones":[{"zoneID":{},"resultsLimit":0}]}"#,
            "zones[0].resultsLimit must be at least 1"),
        Malformed(
            "changes/database", #"{"metaSyncToken":"x","syncToken":"y"}"#,
            "metaSyncToken is another token"),
        Malformed(
            "zones/modify", #"{"operations":[{"operationType":"create"}]}"#, "zone is missing"),
        Malformed("zones/lookup", #"{"zones":[{"name":"x"}]}"#, "zones[0].name is not a key"),
        Malformed("zones/list", #"{"zones":[]}"#, "zones is not a key"),
        Malformed("assets/upload", #"{"tokens":[{}]}"#, "tokens[0].fieldName is missing"),
        Malformed("assets/upload", #"{"zoneID":{}}"#, "tokens is missing"),
        Malformed(
            "assets/rereference", #"{"assets":[{"recordName":"r"}]}"#,
            "assets[0].fieldName is missing"),
        Malformed(
            "records/modify",
            #"{"operations":[{"operationType":"create","record":{"fields":{"a":{"value":"#
                + #"{"size":1},"type":"ASSETID"}}}}]}"#,
            "fields.a.value.receipt is missing"),
        Malformed(
            "records/modify",
            #"{"operations":[{"operationType":"create","record":{"fields":{"a":{"value":"#
                + #"{"receipt":"r","size":-1},"type":"ASSETID"}}}}]}"#,
            "fields.a.value.size is less than nothing"),
    ]

    @Test(arguments: bodies)
    func theRefusalNamesThePlace(_ malformed: Malformed) throws {
        let error = #expect(throws: RecordError.self) {
            try WireCodec.decodeRequest(
                path: malformed.path, method: "POST", body: Data(malformed.body.utf8))
        }
        #expect(error?.code == .badRequest)
        #expect(error?.reason.contains(malformed.words) == true, "\(error?.reason ?? "")")
    }

    @Test(arguments: [
        "assets/delete", "records/share", "",
        "records", "records/modify/x",
    ])
    func operationsThatAreNotOfferedAreNotFound(_ path: String) throws {
        let error = #expect(throws: RecordError.self) {
            try WireCodec.decodeRequest(path: path, method: "POST", body: Data())
        }
        #expect(error?.code == .notFound)
        #expect(error?.reason.contains("does not offer \(path)") == true)
    }

    @Test func onlyListsTakeGet() throws {
        let error = #expect(throws: RecordError.self) {
            try WireCodec.decodeRequest(path: "records/modify", method: "GET", body: Data())
        }
        #expect(error?.reason == "records/modify takes POST, not GET.")
    }

    @Test func deepAndHugeBodiesAreRefusedQuickly() throws {
        let depth = 1_000_000
        let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let hugeArray = "{\"operations\":[" + String(repeating: "0,", count: 30_000) + "0]}"
        let hugeBody = "{\"operations\":[" + String(repeating: "0,", count: 3_000_000) + "0]}"
        let fields = (0...WireLimits.fieldsMax).map { "\"f\($0)\":null" }.joined(separator: ",")
        let wide = Malformed.record("\"fields\":{\(fields)}", "").body
        let cases: [(String, RecordError.Code)] = [
            ("{\"operations\":\(deep)}", .badRequest), (hugeArray, .limitExceeded),
            (hugeBody, .limitExceeded), (wide, .limitExceeded),
        ]
        for (text, code) in cases {
            let body = Data(text.utf8)
            var error: RecordError?
            let time = processorSeconds {
                error = #expect(throws: RecordError.self) {
                    try WireCodec.decodeRequest(path: "records/modify", method: "POST", body: body)
                }
            }
            #expect(error?.code == code)
            #expect(time < 2)
        }
    }

    @Test func damagedBodiesAreReadOrRefusedButNeverTrap() throws {
        var random = RandomRecords(seed: 11)
        let pieces = Array("{}[]\",:0.e-nul\\u".utf8)
        for round in 0..<2000 {
            let modify = ModifyRecords(
                operations: [RecordOperation(.create, random.record())], zoneID: nil)
            var body = try WireCodec.encode(.modifyRecords(modify)).body
            for _ in 0...random.below(3) {
                body[random.below(body.count)] =
                    round % 2 == 0 ? UInt8(random.below(256)) : pieces[random.below(pieces.count)]
            }
            do {
                _ = try WireCodec.decodeRequest(path: "records/modify", method: "POST", body: body)
            } catch {
                #expect(!error.reason.isEmpty)
            }
        }
    }
}
