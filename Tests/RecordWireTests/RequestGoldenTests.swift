import Foundation
import RecordWire
import Testing

/// The texts are written from the protocol page, not from what the code writes.
@Suite struct RequestGoldenTests {
    private let zone = ZoneID(zoneName: "notes", ownerRecordName: "_anna")

    private func expect(
        _ request: RecordRequest, path: String, method: String = "POST", text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let encoded = try WireCodec.encode(request)
        #expect(encoded.path == path, sourceLocation: sourceLocation)
        #expect(encoded.method == method, sourceLocation: sourceLocation)
        #expect(
            String(decoding: encoded.body, as: UTF8.self) == text, sourceLocation: sourceLocation)
        let decoded = try WireCodec.decodeRequest(
            path: path, method: method, body: Data(text.utf8))
        #expect(decoded == request, sourceLocation: sourceLocation)
    }

    @Test func modifyRecordsSpellsEveryFieldType() throws {
        var record = Record(
            recordName: "r1", recordType: "Note", recordChangeTag: "1e",
            fields: [
                "a": .string("tea \"green\"\n"), "b": .int64(9_007_199_254_740_993),
                "c": .double(3), "d": .timestamp(1_700_000_000_123), "e": .bytes(Data([0, 255])),
                "f": .reference(RecordReference(recordName: "r2", zoneID: zone, action: .validate)),
                "g": .location(RecordLocation(latitude: 1.5, longitude: -2.25)),
                "i": .list(type: .int64, []),
                "j": .list(type: .double, [.double(0.5), .double(.nan)]),
                "k": .double(-.infinity),
            ])
        record.fields.updateValue(nil, forKey: "l")
        var asset = RecordAsset()
        asset.receipt = "R"
        asset.size = 7
        record.fields["h"] = .asset(asset)
        var modify = ModifyRecords(
            operations: [
                RecordOperation(.update, record),
                RecordOperation(
                    .delete, Record(recordName: "r3", recordType: "", recordChangeTag: "2")),
            ], zoneID: zone, atomic: true)
        modify.desiredKeys = []
        let encoded = try WireCodec.encode(.modifyRecords(modify))
        let text = """
            {"operations":[{"operationType":"update","record":{"recordName":"r1",\
            "recordType":"Note",\
            "recordChangeTag":"1e","fields":{"a":{"value":"tea \\"green\\"\\n","type":"STRING"},\
            "b":{"value":9007199254740993,"type":"INT64"},"c":{"value":3.0,"type":"DOUBLE"},\
            "d":{"value":1700000000123,"type":"TIMESTAMP"},"e":{"value":"AP8=","type":"BYTES"},\
            "f":{"value":{"recordName":"r2",\
            "zoneID":{"zoneName":"notes","ownerRecordName":"_anna"},\
            "action":"VALIDATE"},"type":"REFERENCE"},\
            "g":{"value":{"latitude":1.5,"longitude":-2.25},"type":"LOCATION"},\
            "h":{"value":{"size":7,"receipt":"R"},"type":"ASSETID"},\
            "i":{"value":[],"type":"INT64_LIST"},"j":{"value":[0.5,"NaN"],"type":"DOUBLE_LIST"},\
            "k":{"value":"-Infinity","type":"DOUBLE"},"l":{"value":null}}}},\
            {"operationType":"delete","record":{"recordName":"r3","recordChangeTag":"2",\
            "fields":{}}}],\
            "zoneID":{"zoneName":"notes","ownerRecordName":"_anna"},"atomic":true,"desiredKeys":[]}
            """
        #expect(String(decoding: encoded.body, as: UTF8.self) == text)
        #expect(encoded.path == "records/modify")
        let decoded = try WireCodec.decodeRequest(
            path: "/records/modify", method: "POST", body: Data(text.utf8))
        guard case .modifyRecords(let back) = decoded else {
            throw RecordError(.badRequest, "kind")
        }
        guard case .list(.double, let doubles)?? = back.operations[0].record.fields["j"],
            case .double(let last)? = doubles.last
        else { throw RecordError(.badRequest, "j") }
        #expect(last.isNaN)
        for name in record.fields.keys where name != "j" {
            #expect(back.operations[0].record.fields[name] == record.fields[name])
        }
        #expect(back.operations[1] == modify.operations[1])
        #expect(back.atomic && back.desiredKeys == [] && back.zoneID == zone)
    }

    @Test func lookupRecords() throws {
        var lookup = LookupRecords(recordNames: ["a", "b"], zoneID: zone)
        lookup.desiredKeys = ["title"]
        lookup.desiredKeysByName = ["b": ["body"]]
        lookup.numbersAsStrings = true
        try expect(
            .lookupRecords(lookup), path: "records/lookup",
            text: """
                {"records":[{"recordName":"a"},{"recordName":"b","desiredKeys":["body"]}],\
                "zoneID":{"zoneName":"notes","ownerRecordName":"_anna"},"desiredKeys":["title"],\
                "numbersAsStrings":true}
                """)
    }

    @Test func zoneChanges() throws {
        var entry = ZoneChanges.Zone(zoneID: zone, syncToken: "AQ", resultsLimit: 50)
        entry.desiredKeys = ["title"]
        entry.desiredRecordTypes = ["Note"]
        let other = ZoneChanges.Zone(zoneID: ZoneID(zoneName: "tags"), syncToken: nil)
        try expect(
            .zoneChanges(ZoneChanges(zones: [entry, other])), path: "changes/zone",
            text: """
                {"zones":[{"zoneID":{"zoneName":"notes","ownerRecordName":"_anna"},\
                "syncToken":"AQ",\
                "resultsLimit":50,"desiredKeys":["title"],"desiredRecordTypes":["Note"]},\
                {"zoneID":{"zoneName":"tags"}}]}
                """)
    }

    @Test func zoneChangesThatWait() throws {
        var changes = ZoneChanges(zones: [.init(zoneID: ZoneID(zoneName: "tags"), syncToken: nil)])
        changes.waitSeconds = 25
        try expect(
            .zoneChanges(changes), path: "changes/zone",
            text: #"{"zones":[{"zoneID":{"zoneName":"tags"}}],"waitSeconds":25}"#)
        #expect(RecordRequest.zoneChanges(changes).waitSeconds == 25)
        #expect(RecordRequest.caller.waitSeconds == 0)
    }

    @Test func databaseChanges() throws {
        try expect(
            .databaseChanges(DatabaseChanges(syncToken: "t", resultsLimit: 9)),
            path: "changes/database", text: #"{"syncToken":"t","resultsLimit":9}"#)
        try expect(
            .databaseChanges(DatabaseChanges(syncToken: nil)), path: "changes/database", text: "{}")
    }

    @Test func zoneOperations() throws {
        try expect(
            .modifyZones([
                ZoneOperation(.create, ZoneID(zoneName: "a")), ZoneOperation(.delete, zone),
            ]),
            path: "zones/modify",
            text: """
                {"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"a"}}},\
                {"operationType":"delete","zone":{"zoneID":{"zoneName":"notes",\
                "ownerRecordName":"_anna"}}}]}
                """)
        try expect(
            .lookupZones([ZoneID(zoneName: "a"), zone]), path: "zones/lookup",
            text: """
                {"zones":[{"zoneName":"a"},{"zoneName":"notes","ownerRecordName":"_anna"}]}
                """)
        try expect(.listZones, path: "zones/list", method: "GET", text: "")
    }

    @Test func listsTakeGetAndPost() throws {
        try expect(.caller, path: "users/caller", method: "GET", text: "")
        try expect(.currentUser, path: "users/current", method: "GET", text: "")
        for (path, body) in [("zones/list", "{}"), ("zones/list", ""), ("users/caller", "{}")] {
            let request = try WireCodec.decodeRequest(
                path: path, method: "POST", body: Data(body.utf8))
            #expect(request == (path == "zones/list" ? .listZones : .caller))
        }
    }

    @Test func keysAtTheTopAreDefaultsOfEachZone() throws {
        let request = try WireCodec.decodeRequest(
            path: "changes/zone", method: "POST",
            body: Data(
                """
                {"zones":[{"zoneID":{"zoneName":"a","ownerName":"_bo"},"numberAsStrings":true},
                {"zoneID":{},"resultsLimit":3,"syncToken":null}],
                "resultsLimit":7,"desiredKeys":["k"],"reverse":false}
                """.utf8))
        guard case .zoneChanges(let changes) = request else { throw RecordError(.badRequest, "") }
        #expect(changes.zones.map(\.resultsLimit) == [7, 3])
        #expect(changes.zones.map(\.desiredKeys) == [["k"], ["k"]])
        #expect(changes.zones[0].zoneID == ZoneID(zoneName: "a", ownerRecordName: "_bo"))
        #expect(changes.zones[1].zoneID == ZoneID(zoneName: "_defaultZone"))
        #expect(changes.numbersAsStrings)
    }

    @Test func untaggedValuesAreGuessedByTheDocumentedRule() throws {
        let request = try WireCodec.decodeRequest(
            path: "records/modify", method: "POST",
            body: Data(
                """
                {"operations":[{"operationType":"create","record":{"recordType":"T","fields":{
                "s":{"value":"2024"},"i":{"value":-9223372036854775808},"d":{"value":0.5},
                "r":{"value":{"recordName":"x","action":"NONE"}},"li":{"value":[1,2]},
                "ld":{"value":[1,2.5]},"ls":{"value":["a"]},"n":null,"n2":{"value":null},
                "n3":{"value":null,"type":"STRING"},
                "big":{"value":"9223372036854775807","type":"INT64"},
                "a":{"value":{"fileChecksum":"c"}},"p":{"value":{"latitude":1,"longitude":2}},
                "id":{"value":"7","type":"DOUBLE"},
                "as":{"value":{"size":1,"receipt":"r"},"type":"ASSET"}
                }}}]}
                """.utf8))
        guard case .modifyRecords(let modify) = request else { throw RecordError(.badRequest, "") }
        let fields = modify.operations[0].record.fields
        #expect(modify.operations[0].record.recordName.isEmpty)
        #expect(fields["s"] == .string("2024"))
        #expect(fields["i"] == .int64(.min))
        #expect(fields["d"] == .double(0.5))
        #expect(
            fields["r"]
                == .reference(RecordReference(recordName: "x", action: RecordReference.Action.none))
        )
        #expect(fields["li"] == .list(type: .int64, [.int64(1), .int64(2)]))
        #expect(fields["ld"] == .list(type: .double, [.double(1), .double(2.5)]))
        #expect(fields["ls"] == .list(type: .string, [.string("a")]))
        for name in ["n", "n2", "n3"] { #expect(fields[name] == .some(.some(nil))) }
        #expect(fields["big"] == .int64(.max))
        #expect(fields["p"] == .location(RecordLocation(latitude: 1, longitude: 2)))
        #expect(fields["id"] == .double(7))
        guard case .asset(let asset)?? = fields["as"] else { throw RecordError(.badRequest, "as") }
        #expect(asset.size == 1)
    }
}
