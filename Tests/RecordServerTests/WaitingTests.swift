import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// Requests whose answers are held back until something changes.
@Suite struct WaitingTests {
    /// A real service on the network, with one user and one zone.
    private final class Desk: Sendable {
        let service: RecordService
        let server: RecordServer
        let url: URL
        let folder: URL
        let credentials: Credentials
        let tokenID: String
        static let container = "iCloud.org.example"
        static let zone = ZoneID(zoneName: "notes")
        /// Seconds beyond any run of these tests: on a busy machine a test may stand still for
        /// minutes between two of its lines.
        static let long = 86_400

        init(_ change: (inout ServerConfiguration) -> Void = { _ in }) throws {
            folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("diptych-wait-\(UUID().uuidString)")
            service = try RecordService(platform: .system)
            try service.accounts.createContainer(Self.container)
            let user = try service.accounts.createUser(label: "owner").userRecordName
            let api = try service.accounts.issueAPIToken(container: Self.container, label: "test")
            let own = try service.accounts.issueUserToken(userRecordName: user, label: "test")
            tokenID = own.description.id
            credentials = Credentials(apiToken: api.secret, userToken: own.secret)
            var configuration = ServerConfiguration(tls: .automatic(folder: folder, hosts: []))
            configuration.port = 0
            configuration.http.held.secondsMax = Double(Self.long)
            configuration.http.drainSeconds = Self.long
            change(&configuration)
            server = RecordServer(service: service, configuration: configuration)
            url = try server.start()
            _ = try channel().sendBlocking(.modifyZones([ZoneOperation(.create, Self.zone)]))
        }

        deinit {
            server.stop()
            try? FileManager.default.removeItem(at: folder)
        }

        func channel(to other: URL? = nil) throws -> CurlChannel {
            var configuration = ChannelConfiguration(
                serviceURL: other ?? url, target: RecordTarget(container: Self.container),
                credentials: credentials)
            configuration.authorityFile = server.authorityFile
            configuration.totalSeconds = Double(Self.long)
            configuration.stallSeconds = Double(Self.long)
            return try CurlChannel(configuration: configuration)
        }

        func save(_ name: String) throws {
            var record = Record(recordName: name, recordType: "Note")
            record.fields["text"] = .string(name)
            _ = try channel().sendBlocking(
                .modifyRecords(
                    ModifyRecords(
                        operations: [RecordOperation(.forceUpdate, record)], zoneID: Self.zone)))
        }

        /// The zone's changes after a token, held back for at most so long.
        func changes(after token: String?, wait: Int?) -> RecordRequest {
            var request = ZoneChanges(zones: [.init(zoneID: Self.zone, syncToken: token)])
            request.waitSeconds = wait
            return .zoneChanges(request)
        }

        func page(_ request: RecordRequest) throws -> ZoneChangesReply {
            guard case .zoneChanges(let zones) = try channel().sendBlocking(request),
                let page = zones.first
            else { throw POSIXError(.EIO) }
            return page
        }
    }

    /// Sends a request on a thread of its own.
    private func later(
        _ desk: Desk, _ request: RecordRequest
    ) throws -> Task<RecordResponse, any Error> {
        let channel = try desk.channel()
        return Task { try await channel.send(request) }
    }

    /// Waits until so many requests have reached the server, whose answers may be held back. So
    /// long that only what never comes ends it.
    private func until(_ condition: () -> Bool) async throws {
        for _ in 0..<120_000 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(condition())
    }

    @Test func anAnswerComesWithTheChange() async throws {
        let desk = try Desk()
        let token = try desk.page(desk.changes(after: nil, wait: nil)).syncToken
        let waiting = try later(desk, desk.changes(after: token, wait: Desk.long))
        try await until { desk.server.heldRequests == 1 }
        try desk.save("a")
        guard case .zoneChanges(let zones) = try await waiting.value else {
            Issue.record("another answer")
            return
        }
        #expect(zones.first?.records.map(\.recordName) == ["a"])
        try await until { desk.server.heldRequests == 0 }
    }

    @Test func whatIsThereAlreadyIsToldAtOnce() throws {
        let desk = try Desk()
        try desk.save("a")
        #expect(try desk.page(desk.changes(after: nil, wait: Desk.long)).records.count == 1)
        #expect(desk.server.heldRequests == 0)
    }

    @Test func anEmptyAnswerComesWhenTheTimeIsUp() throws {
        let desk = try Desk { $0.http.held.secondsMax = 0.2 }
        let token = try desk.page(desk.changes(after: nil, wait: nil)).syncToken
        let page = try desk.page(desk.changes(after: token, wait: Desk.long))
        #expect(page.records.isEmpty && page.syncToken == token && page.failure == nil)
    }

    @Test func aStopAnswersWhatIsHeldBack() async throws {
        let desk = try Desk()
        let token = try desk.page(desk.changes(after: nil, wait: nil)).syncToken
        let waiting = try later(desk, desk.changes(after: token, wait: Desk.long))
        try await until { desk.server.heldRequests == 1 }
        desk.server.stop()
        guard case .zoneChanges(let zones) = try await waiting.value else {
            Issue.record("another answer")
            return
        }
        #expect(zones.first?.records.isEmpty == true)
    }

    @Test func aServerThatStartsAgainHoldsAnswersBackAgain() async throws {
        let desk = try Desk()
        let token = try desk.page(desk.changes(after: nil, wait: nil)).syncToken
        desk.server.stop()
        let request = desk.changes(after: token, wait: Desk.long)
        // The second stop waits for its own requests, whatever the first one waited for.
        for _ in 0..<5 {
            let channel = try desk.channel(to: try desk.server.start())
            let waiting = Task { try await channel.send(request) }
            try await until { desk.server.heldRequests == 1 }
            desk.server.stop()
            _ = try await waiting.value
        }
    }

    /// Whoever puts another file in the place of the service's may do so when it has stopped: a
    /// connection that closes later takes the other file's log away.
    @Test func aStoppedServerLetsItsServiceGo() throws {
        for _ in 0..<10 {
            var service: RecordService? = try RecordService(platform: .system)
            weak let seen = service
            var configuration = ServerConfiguration(tls: .off)
            configuration.port = 0
            var server = service.map { RecordServer(service: $0, configuration: configuration) }
            _ = try server?.start()
            server?.stop()
            server = nil
            service = nil
            #expect(seen == nil)
        }
    }

    @Test func aUserHasSoManyAndOthersTheirOwn() async throws {
        let desk = try Desk { $0.http.held.perUserMax = 2 }
        let token = try desk.page(desk.changes(after: nil, wait: nil)).syncToken
        let waiting = try (0..<2).map { _ in
            try later(desk, desk.changes(after: token, wait: Desk.long))
        }
        try await until { desk.server.heldRequests == 2 }
        // A third is answered with what there is.
        #expect(try desk.page(desk.changes(after: token, wait: Desk.long)).records.isEmpty)
        try desk.save("a")
        for task in waiting {
            guard case .zoneChanges(let zones) = try await task.value else { continue }
            #expect(zones.first?.records.count == 1)
        }
    }

    @Test func whoseTokenIsRevokedMeanwhileHearsNothing() async throws {
        let desk = try Desk()
        let token = try desk.page(desk.changes(after: nil, wait: nil)).syncToken
        let waiting = try later(desk, desk.changes(after: token, wait: Desk.long))
        try await until { desk.server.heldRequests == 1 }
        try desk.service.accounts.revoke(tokenID: desk.tokenID)
        desk.server.stop()
        await #expect(throws: RecordError.self) { _ = try await waiting.value }
    }

    @Test func aRefusedZoneIsToldAtOnce() throws {
        let desk = try Desk()
        let request = ZoneChanges(zones: [.init(zoneID: ZoneID(zoneName: "none"), syncToken: nil)])
        var waiting = request
        waiting.waitSeconds = Desk.long
        #expect(try desk.page(.zoneChanges(waiting)).failure?.code == .zoneNotFound)
    }

    @Test func zeroSecondsAreRefused() throws {
        let desk = try Desk()
        #expect(throws: RecordError.self) {
            _ = try desk.page(desk.changes(after: nil, wait: 0))
        }
    }
}
