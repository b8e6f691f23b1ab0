import Foundation
import RecordWire
import Testing

@Suite struct EpochCodingTests {
    private let client: ClientState = {
        var client = ClientState(instance: "i", round: 7, nonce: "n", witness: "1e.zz")
        client.wantsWriteIDs = true
        return client
    }()
    private let line = EpochLine(
        incarnation: .max, floor: 3, newest: 40,
        epochs: [.init(id: 0, first: 1), .init(id: .max, first: 20)])

    @Test func requestsCarryTheClient() throws {
        var record = Record(recordName: "r", recordType: "T", recordChangeTag: "1")
        record.writeID = "w"
        record.replays = [Replay(tag: "5.a")]
        var modify = ModifyRecords(operations: [RecordOperation(.update, record)], zoneID: nil)
        modify.client = client
        var lookup = LookupRecords(recordNames: ["r"], zoneID: nil)
        lookup.client = client
        var zone = ZoneChanges.Zone(zoneID: ZoneID(zoneName: "z"), syncToken: nil)
        zone.client = client
        let requests: [RecordRequest] = [
            .modifyRecords(modify), .lookupRecords(lookup),
            .zoneChanges(ZoneChanges(zones: [zone])),
        ]
        for request in requests {
            let encoded = try WireCodec.encode(request)
            let decoded = try WireCodec.decodeRequest(
                path: encoded.path, method: encoded.method, body: encoded.body)
            #expect(decoded == request)
        }
    }

    @Test func answersCarryTheLineAndWhatARecordContains() throws {
        var record = Record(recordName: "r", recordType: "T", recordChangeTag: "1.2")
        record.recentWriteIDs = ["a", "b"]
        record.replays = [Replay(tag: "5.a", version: "1.2")]
        var page = ZoneChangesReply(zoneID: ZoneID(zoneName: "z"))
        page.records = [record]
        page.epochs = line
        page.echoesWriteIDs = true
        let changes = RecordRequest.zoneChanges(ZoneChanges(zones: []))
        let pages = RecordResponse.zoneChanges([page])
        #expect(
            try WireCodec.decodeResponse(to: changes, WireCodec.encode(pages, to: changes)) == pages
        )
        var reply = RecordsReply(results: [.record(record)])
        reply.epochs = line
        let modify = RecordRequest.modifyRecords(ModifyRecords(operations: [], zoneID: nil))
        let records = RecordResponse.records(reply)
        #expect(
            try WireCodec.decodeResponse(to: modify, WireCodec.encode(records, to: modify))
                == records)
    }

    @Test func aRequestWhoseClientIsIncompleteIsRefused() throws {
        let body = #"{"zones":[{"zoneID":{"zoneName":"z"},"client":{"instance":"i"}}]}"#
        let error = #expect(throws: RecordError.self) {
            try WireCodec.decodeRequest(
                path: "changes/zone", method: "POST", body: Data(body.utf8))
        }
        #expect(error?.code == .badRequest && error?.reason.contains("client") == true)
    }

    @Test(arguments: [ChangeTag(epoch: 0, change: 5), ChangeTag(epoch: .max, change: .max)])
    func tagsReadBack(tag: ChangeTag) { #expect(ChangeTag(text: tag.text) == tag) }

    @Test(arguments: ["", ".", "1.", ".1", "1.0", "-1", "1.2.3", "é", "1 ", "zzzzzzzzzzzzzzz"])
    func whatIsNoTagIsNotReadAsOne(text: String) { #expect(ChangeTag(text: text) == nil) }

    @Test func aLineKnowsItsOwnTagsOnly() {
        #expect(line.contains(ChangeTag(epoch: 0, change: 19)))
        #expect(!line.contains(ChangeTag(epoch: 0, change: 20)))
        #expect(line.contains(ChangeTag(epoch: .max, change: 20)))
        #expect(line.contains(ChangeTag(epoch: .max, change: 40)))
        #expect(!line.contains(ChangeTag(epoch: .max, change: 41)))
        #expect(!line.contains(ChangeTag(epoch: 9, change: 30)))
        #expect(line.tag(of: 19).epoch == 0 && line.tag(of: 20).epoch == .max)
    }

    @Test func twoLinesShareWhatTheyWroteTogether() {
        func line(_ newest: Int64, _ epochs: [(UInt64, Int64)], zone: UInt64 = 1) -> EpochLine {
            EpochLine(
                incarnation: zone, floor: 0, newest: newest,
                epochs: epochs.map { .init(id: $0.0, first: $0.1) })
        }
        let older = line(100, [(1, 1), (2, 81)])
        #expect(line(60, [(1, 1)]).lastCommonChange(with: older) == 60)
        #expect(line(90, [(1, 1), (3, 61)]).lastCommonChange(with: older) == 60)
        #expect(line(120, [(1, 1), (2, 81), (3, 96)]).lastCommonChange(with: older) == 95)
        #expect(line(120, [(1, 1), (2, 81), (3, 111)]).lastCommonChange(with: older) == 100)
        #expect(line(50, [(4, 1)]).lastCommonChange(with: older) == 0)
        #expect(line(100, [(1, 1)], zone: 2).lastCommonChange(with: older) == nil)
    }

    /// A broken service may tell numbers that nothing comes before.
    @Test func aLineOfImpossibleNumbersIsReadAllTheSame() {
        let broken = EpochLine(
            incarnation: 1, floor: 3, newest: 40,
            epochs: [.init(id: 1, first: 1), .init(id: 2, first: .min)])
        #expect(!broken.contains(ChangeTag(epoch: 1, change: 5)))
        #expect(broken.contains(ChangeTag(epoch: 2, change: 5)))
        #expect(broken.lastCommonChange(with: broken) == 40)
    }
}
