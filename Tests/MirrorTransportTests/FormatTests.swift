import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// One service, asked in both formats of records: the answers say the same.
@Suite struct FormatTests {
    private let zone = ZoneID(zoneName: "notes")

    private func record(_ name: String, _ fields: RecordFields, tag: String? = nil) -> Record {
        Record(recordName: name, recordType: "Note", recordChangeTag: tag, fields: fields)
    }

    private func results(
        _ operations: [RecordOperation], _ channel: CurlChannel
    ) throws -> [RecordResult] {
        var modify = ModifyRecords(operations: operations, zoneID: zone)
        modify.client = ClientState(instance: "device", round: 1, nonce: "n")
        guard case .records(let reply) = try channel.sendBlocking(.modifyRecords(modify)) else {
            throw RecordError(.badRequest, "another answer")
        }
        return reply.results
    }

    private func page(_ channel: CurlChannel, keys: [String]? = nil) throws -> ZoneChangesReply {
        var asked = ZoneChanges.Zone(zoneID: zone, syncToken: nil)
        asked.desiredKeys = keys
        asked.client = ClientState(instance: "device", round: 1, nonce: "n")
        asked.client?.wantsWriteIDs = true
        guard
            case .zoneChanges(let pages) = try channel.sendBlocking(
                .zoneChanges(ZoneChanges(zones: [asked])))
        else { throw RecordError(.badRequest, "another answer") }
        return try #require(pages.first)
    }

    /// The answer without the times and addresses that each answer has of its own.
    private func timeless(_ results: [RecordResult]) -> [RecordResult] {
        results.map { result in
            switch result {
            case .record(let record): .record(timeless(record))
            case .failure(var error):
                .failure(
                    {
                        error.serverRecord = error.serverRecord.map(timeless)
                        return error
                    }())
            }
        }
    }

    private func timeless(_ record: Record) -> Record {
        var record = record
        for (name, value) in record.fields {
            guard case .asset(var asset)? = value else { continue }
            #expect(asset.downloadURL?.hasPrefix("https://") == true)
            asset.downloadURL = nil
            record.fields[name] = .asset(asset)
        }
        return record
    }

    private var fields: RecordFields {
        get throws {
            var place = RecordLocation(latitude: 47.5, longitude: -8.25)
            place.altitude = 400
            return [
                "text": .string("hällo \u{1F600}"), "count": .int64(.min), "part": .double(-0.1),
                "when": .timestamp(1_700_000_000_123), "data": .bytes(Data([0, 255, 7])),
                "place": .location(place),
                "other": .reference(RecordReference(recordName: "b", action: .some(.none))),
                "list": .list(type: .double, [.double(1.5), .double(.infinity)]),
                "none": .list(type: .string, []), "secret": .encrypted(.string("s")),
            ]
        }
    }

    @Test func bothFormatsSayTheSame() async throws {
        let world = try ChannelWorld()
        let archived = try world.channel()
        let json = try world.channel { $0.sendsJSON = true }
        _ = try archived.sendBlocking(.modifyZones([ZoneOperation(.create, zone)]))
        // An asset, named by its receipt.
        guard
            case .assetUploads(let places) = try archived.sendBlocking(
                .uploadAssets(
                    UploadAssets(tokens: [.init(fieldName: "picture")], zoneID: zone)))
        else { throw RecordError(.badRequest, "another answer") }
        let asset = try await archived.upload(
            Data("a picture".utf8), to: try #require(places.first?.url))
        var whole = record("a", try fields)
        whole.fields["picture"] = .asset(asset)
        whole.writeID = "w1"
        var child = record("b", ["text": .string("below")])
        child.parent = "a"
        let made = try results([.init(.create, whole), .init(.create, child)], archived)
        #expect(made.allSatisfy { if case .record = $0 { true } else { false } })
        // The same requests in both formats, none of which changes anything.
        let refused: [RecordOperation] = [
            .init(.create, whole), .init(.update, record("a", ["text": nil], tag: "1")),
            .init(.update, record("c", [:], tag: "1")),
            .init(.forceUpdate, record("a", ["count": .string("of another type")])),
        ]
        let one = timeless(try refused.flatMap { try results([$0], archived) })
        #expect(one == timeless(try refused.flatMap { try results([$0], json) }))
        #expect(one.allSatisfy { if case .failure = $0 { true } else { false } })
        for keys in [nil, ["text", "picture"], []] as [[String]?] {
            let (one, other) = (try page(archived, keys: keys), try page(json, keys: keys))
            #expect(one.records.map(timeless) == other.records.map(timeless))
            #expect(one.records.map(\.recordName) == ["a", "b"])
            #expect(one.epochs == other.epochs && one.syncToken == other.syncToken)
            #expect(one.records[0].recentWriteIDs == ["w1"])
            #expect(keys == [] || one.records[1].parent == "a")
        }
        let lookup = RecordRequest.lookupRecords(
            LookupRecords(recordNames: ["a", "b", "nobody"], zoneID: zone))
        guard case .records(let here) = try archived.sendBlocking(lookup),
            case .records(let there) = try json.sendBlocking(lookup)
        else { throw RecordError(.badRequest, "another answer") }
        #expect(timeless(here.results) == timeless(there.results))
        // What one format wrote, the other changes: the same bytes are kept.
        let written = try results([.init(.forceReplace, record("x", try fields))], archived)
        let again = try results([.init(.forceReplace, record("y", try fields))], json)
        guard case .record(let x)? = written.first, case .record(let y)? = again.first else {
            throw RecordError(.badRequest, "refused")
        }
        #expect(x.fields == y.fields)
        #expect(RecordArchive.encodeFields(x.fields) == RecordArchive.encodeFields(y.fields))
        #expect(archived.byteCount.sent < json.byteCount.sent + 4_000)
    }
}
