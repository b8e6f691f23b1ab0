import Foundation
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// Changes of a zone as server-sent events.
@Suite struct ChangeEventsTests {
    /// A service on the network without TLS, so that a test reads what goes over the wire.
    private final class Stage {
        let service: RecordService
        let server: RecordServer
        let port: UInt16
        let tokenID: String
        private let caller: Caller
        let tokens: String
        static let container = "iCloud.org.example"
        static let zone = ZoneID(zoneName: "notes")

        init(_ change: (inout ServerConfiguration) -> Void = { _ in }) throws {
            service = try RecordService(platform: .system)
            try service.accounts.createContainer(Self.container)
            let user = try service.accounts.createUser(label: "owner").userRecordName
            let api = try service.accounts.issueAPIToken(container: Self.container, label: "test")
            let own = try service.accounts.issueUserToken(userRecordName: user, label: "test")
            tokenID = own.description.id
            caller = Caller(userRecordName: user)
            tokens =
                "X-Diptych-API-Token: \(api.secret)\r\nX-Diptych-User-Token: \(own.secret)\r\n"
            var configuration = ServerConfiguration(tls: .off)
            configuration.port = 0
            change(&configuration)
            server = RecordServer(service: service, configuration: configuration)
            port = UInt16(try server.start().port ?? 0)
            _ = try ask(.modifyZones([ZoneOperation(.create, Self.zone)]))
        }

        deinit { server.stop() }

        func ask(_ request: RecordRequest) throws -> RecordResponse {
            try service.handle(
                request, target: RecordTarget(container: Self.container), caller: caller)
        }

        func save(_ name: String) throws {
            var record = Record(recordName: name, recordType: "Note")
            record.fields["text"] = .string("two\nlines")
            _ = try ask(
                .modifyRecords(
                    ModifyRecords(
                        operations: [RecordOperation(.forceUpdate, record)], zoneID: Self.zone)))
        }

        /// Opens a stream and returns what came of it until `text` has.
        func open(
            _ query: String = "zoneName=notes", headers: String = "", until text: String
        ) throws -> (RawClient, String) {
            let client = try RawClient(port: port)
            client.send(
                "GET /database/1/\(Self.container)/development/private/changes/stream?\(query) "
                    + "HTTP/1.1\r\nHost: h\r\n\(tokens)\(headers)\r\n")
            return (client, client.read(until: text))
        }
    }

    private func lastID(in text: String) -> String? {
        text.matches(of: /id: ([^\r\n]+)/).last.map { String($0.1) }
    }

    @Test func eachChangeIsAnEvent() throws {
        let stage = try Stage()
        try stage.save("a")
        let (client, begun) = try stage.open(until: "\n\n")
        #expect(begun.hasPrefix("HTTP/1.1 200"))
        #expect(begun.contains("Content-Type: text/event-stream"))
        #expect(begun.contains("event: changes\ndata: {\"zones\":["))
        #expect(begun.contains(#""recordName":"a""#))
        try stage.save("b")
        let second = client.read(until: "\n\n")
        #expect(second.contains(#""recordName":"b""#) && !second.contains(#""recordName":"a""#))
        #expect(second.contains(#"two\nlines"#))
        let id = try #require(lastID(in: second))
        #expect(id != lastID(in: begun))
    }

    @Test func whoWasCutOffGoesOnBehindTheLastEvent() throws {
        let stage = try Stage()
        try stage.save("a")
        let id = try #require(lastID(in: stage.open(until: "\n\n").1))
        try stage.save("b")
        let (_, rest) = try stage.open(headers: "Last-Event-ID: \(id)\r\n", until: "\n\n")
        #expect(rest.contains(#""recordName":"b""#) && !rest.contains(#""recordName":"a""#))
        let escaped = try #require(
            id.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let (_, byQuery) = try stage.open(
            "zoneName=notes&syncToken=\(escaped)", until: "\n\n")
        #expect(byQuery.contains(#""recordName":"b""#) && !byQuery.contains(#""recordName":"a""#))
    }

    @Test func pagesFollowOneAnother() throws {
        let stage = try Stage()
        for number in 0..<5 { try stage.save("n\(number)") }
        // A token may have these letters, too.
        let (_, text) = try stage.open(
            "zoneName=notes&resultsLimit=2", until: #""recordName":"n4""#)
        #expect(text.matches(of: /event: changes/).count == 3)
    }

    @Test func aRefusalBeforeTheFirstEventIsAnAnswer() throws {
        let stage = try Stage()
        #expect(try stage.open("zoneName=nowhere", until: "}").1.hasPrefix("HTTP/1.1 404"))
        #expect(try stage.open("resultsLimit=x", until: "}").1.hasPrefix("HTTP/1.1 400"))
        #expect(
            try stage.open("zoneName=notes&syncToken=none", until: "}").1.contains(
                "CHANGE_TOKEN_EXPIRED"))
        #expect(stage.server.heldRequests == 0)
    }

    @Test func whoMayNoMoreHearsNoMore() throws {
        let stage = try Stage()
        let (client, _) = try stage.open(until: "\n\n")
        #expect(stage.server.heldRequests == 1)
        try stage.service.accounts.revoke(tokenID: stage.tokenID)
        try stage.save("secret")
        let end = client.read()
        #expect(end.contains("event: error") && end.contains("AUTHENTICATION_FAILED"))
        #expect(!end.contains("secret"))
    }

    @Test func silenceIsBrokenNowAndThen() throws {
        let stage = try Stage { $0.http.held.heartbeatSeconds = 0.1 }
        let (client, _) = try stage.open(until: "\n\n")
        #expect(client.read(until: ":\n\n").contains(":\n\n"))
        try stage.save("a")
        #expect(client.read(until: #""recordName":"a""#).contains(#""recordName":"a""#))
    }

    @Test func anAnswerEndsWhenItsTimeIsUp() throws {
        let stage = try Stage {
            $0.http.held.heartbeatSeconds = 0.1
            $0.http.held.streamSecondsMax = 0.2
        }
        let (client, _) = try stage.open(until: "\n\n")
        #expect(client.read(until: "0\r\n\r\n").hasSuffix("0\r\n\r\n"))
    }

    @Test func aServerThatStopsEndsThem() throws {
        let stage = try Stage { $0.http.drainSeconds = 86_400 }
        let (client, _) = try stage.open(until: "\n\n")
        stage.server.stop()
        #expect(client.read().hasSuffix("0\r\n\r\n"))
        #expect(client.wasClosed)
    }

    @Test func thereIsNoRoomForAllOfOneUser() throws {
        let stage = try Stage { $0.http.held.perUserMax = 1 }
        let (client, _) = try stage.open(until: "\n\n")
        let (_, refused) = try stage.open(until: "}")
        #expect(refused.hasPrefix("HTTP/1.1 503") && refused.contains("Retry-After: 5"))
        withExtendedLifetime(client) {}
    }

    /// A page that is loaded anew again and again is one listener.
    @Test func whoGoesAwayLeavesItsPlaceAtOnce() throws {
        let stage = try Stage {
            $0.http.held.perUserMax = 1
            $0.http.held.heartbeatSeconds = 1_000_000
            $0.http.held.secondsMax = 1_000_000
        }
        for _ in 0..<3 {
            var answer = ""
            for _ in 0..<3_000 where !answer.hasPrefix("HTTP/1.1 200") {
                Thread.sleep(forTimeInterval: 0.02)
                answer = try stage.open(until: "\n\n").1
            }
            #expect(answer.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func onlyGETOpensOne() throws {
        let stage = try Stage()
        let client = try RawClient(port: stage.port)
        client.send(
            "POST /database/1/\(Stage.container)/development/private/changes/stream HTTP/1.1\r\n"
                + "Host: h\r\n\(stage.tokens)Content-Length: 0\r\n\r\n")
        let answer = client.read(until: "}")
        #expect(answer.hasPrefix("HTTP/1.1 405") && answer.contains("Allow: GET\r\n"))
    }
}
