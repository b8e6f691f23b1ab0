import Foundation
import RecordService
import RecordWire
import Testing

@Suite(.everyBackend) struct SyncTokenTests {
    private func refused(_ fixture: ServiceFixture, _ token: String?) throws -> RecordError? {
        let reply = try fixture.changes(since: token)
        #expect(reply.records.isEmpty || reply.failure == nil)
        return reply.failure
    }

    @Test func tokensOfOtherPlacesHaveExpired() throws {
        let fixture = try ServiceFixture()
        let other = ZoneID(zoneName: "other")
        try fixture.createZone(other)
        let stranger = try ServiceFixture(seed: 2)
        let tokens = [
            try fixture.changes(since: nil, zone: other).syncToken,
            try fixture.databaseChanges(since: nil).syncToken,
            try stranger.changes(since: nil).syncToken,
        ]
        for token in tokens {
            let failure = try refused(fixture, token)
            #expect(failure?.code == .changeTokenExpired)
            #expect(failure?.zoneID == ServiceFixture.zone)
            #expect(failure?.reason.contains("without a token") == true)
        }
        let zoneToken = try fixture.changes(since: nil).syncToken
        let error = #expect(throws: RecordError.self) {
            try fixture.databaseChanges(since: zoneToken)
        }
        #expect(error?.code == .changeTokenExpired)
    }

    @Test func tokensOfAnotherUserHaveExpired() throws {
        var fixture = try ServiceFixture()
        let token = try fixture.changes(since: nil).syncToken
        fixture.caller = Caller(userRecordName: "_bo")
        try fixture.createZone(ServiceFixture.zone)
        #expect(try refused(fixture, token)?.code == .changeTokenExpired)
    }

    @Test func aTokenNewerThanTheServiceHasExpired() throws {
        try withDatabasePath { path in
            let fixture = try ServiceFixture(path: path)
            let backup = path + ".backup"
            try fixture.save(.note("a"))
            try copyDatabase(path, to: backup)
            try fixture.save(.note("b"))
            let token = try fixture.changes(since: nil).syncToken
            let restored = try ServiceFixture(path: backup)
            #expect(try refused(restored, token)?.code == .changeTokenExpired)
        }
    }

    private func copyDatabase(_ path: String, to copy: String) throws {
        for suffix in ["", "-wal", ".containers"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
    }

    @Test func damagedTokensHaveExpired() throws {
        let fixture = try ServiceFixture()
        try fixture.save(.note("a"))
        let good = try #require(try fixture.changes(since: nil).syncToken)
        #expect(good.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" })
        let random = SeededRandomness(seed: 5)
        var expired = 0
        for text in ["", "x", "é", String(repeating: "A", count: 1_000_000), good + "A"] {
            #expect(try refused(fixture, text)?.code == .changeTokenExpired)
        }
        for _ in 0..<300 {
            var letters = Array(good)
            letters[random.below(letters.count)] = Array("AZaz09-_=+")[random.below(10)]
            if let failure = try refused(fixture, String(letters)) {
                #expect(failure.code == .changeTokenExpired)
                expired += 1
            }
        }
        #expect(expired > 200)
    }
}
