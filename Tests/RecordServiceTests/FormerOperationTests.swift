import Foundation
import RecordService
import RecordWire
import Testing

/// The operations that others took the place of.
@Suite(.everyBackend) struct FormerOperationTests {
    private func answer(
        _ path: String, _ body: String, _ fixture: ServiceFixture
    ) throws -> [String: Any] {
        let request = try WireCodec.decodeRequest(
            path: path, method: "POST", body: Data(body.utf8))
        let answer = try WireCodec.encode(try fixture.send(request), to: request)
        // Clients of the same library read what they asked for.
        #expect(try WireCodec.encode(request).path == path)
        #expect(
            try WireCodec.encode(WireCodec.decodeResponse(to: request, answer), to: request)
                == answer)
        return try #require(try JSONSerialization.jsonObject(with: answer) as? [String: Any])
    }

    @Test func recordsChangesIsChangesZoneOfOneZone() throws {
        let fixture = try ServiceFixture()
        for name in ["a", "b", "c"] { try fixture.save(.note(name)) }
        let zone = #""zoneID":{"zoneName":"notes"}"#
        let first = try answer("records/changes", "{\(zone),\"resultsLimit\":2}", fixture)
        #expect((first["records"] as? [[String: Any]])?.count == 2)
        #expect(first["moreComing"] as? Bool == true && first["zones"] == nil)
        let token = try #require(first["syncToken"] as? String)
        let second = try answer(
            "records/changes", "{\(zone),\"syncToken\":\"\(token)\"}", fixture)
        let names = (second["records"] as? [[String: Any]])?.map { $0["recordName"] as? String }
        #expect(names == ["c"] && second["moreComing"] as? Bool == false)
        let new = try fixture.changes(since: token)
        #expect(new.syncToken == second["syncToken"] as? String)
    }

    @Test(arguments: [
        (#"{"zoneID":{}}"#, RecordError.Code.badRequest),
        (#"{"zoneID":{"zoneName":"none"}}"#, .zoneNotFound),
        (#"{"zoneID":{"zoneName":"notes"},"syncToken":"x"}"#, .changeTokenExpired),
        ("{}", .badRequest),
    ])
    func recordsChangesFailsAsAWhole(body: String, code: RecordError.Code) throws {
        let fixture = try ServiceFixture()
        let error = #expect(throws: RecordError.self) {
            try answer("records/changes", body, fixture)
        }
        #expect(error?.code == code)
    }

    @Test func zonesChangesCallsItsTokenAnother() throws {
        let fixture = try ServiceFixture()
        let first = try answer("zones/changes", "{}", fixture)
        #expect((first["zones"] as? [[String: Any]])?.count == 1)
        let token = try #require(first["metaSyncToken"] as? String)
        #expect(first["syncToken"] == nil && first["moreComing"] as? Bool == false)
        try fixture.createZone(ZoneID(zoneName: "more"))
        for key in ["metaSyncToken", "syncToken"] {
            for path in ["zones/changes", "changes/database"] {
                let request = try WireCodec.decodeRequest(
                    path: path, method: "POST", body: Data("{\"\(key)\":\"\(token)\"}".utf8))
                guard case .databaseChanges(let reply) = try fixture.send(request) else {
                    throw WrongAnswer()
                }
                #expect(reply.zones.map(\.zoneID.zoneName) == ["more"])
            }
        }
    }
}
