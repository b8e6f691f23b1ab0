import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// A service of the plain dialect, over TLS, and the client that finds it so. (SERVICE §10)
@Suite struct PlainServiceTests {
    private static let container = "iCloud.org.example"

    private final class World {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-plain-\(UUID().uuidString)")
        private(set) var server: RecordServer
        let url: URL
        let credentials: Credentials

        init(_ dialect: ServiceDialect) throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let service = try Self.service(in: folder, dialect)
            try service.accounts.createContainer(PlainServiceTests.container)
            let user = try service.accounts.createUser(label: "me").userRecordName
            credentials = Credentials(
                apiToken: try service.accounts.issueAPIToken(
                    container: PlainServiceTests.container, label: "test"
                ).secret,
                userToken: try service.accounts.issueUserToken(
                    userRecordName: user, label: "test"
                ).secret)
            server = Self.server(of: service, in: folder, port: 0)
            url = try server.start()
        }

        private static func service(
            in folder: URL, _ dialect: ServiceDialect
        ) throws -> RecordService {
            try RecordService(
                path: folder.appendingPathComponent("records.sqlite").path, platform: .system,
                dialect: dialect)
        }

        private static func server(
            of service: RecordService, in folder: URL, port: Int
        ) -> RecordServer {
            var configuration = ServerConfiguration(
                tls: .automatic(folder: folder.appendingPathComponent("tls"), hosts: []))
            configuration.port = UInt16(port)
            return RecordServer(service: service, configuration: configuration)
        }

        /// The same records at the same address, spoken for otherwise.
        func restart(_ dialect: ServiceDialect) throws {
            server.stop()
            server = Self.server(
                of: try Self.service(in: folder, dialect), in: folder, port: url.port ?? 0)
            _ = try server.start()
        }

        deinit {
            server.stop()
            try? FileManager.default.removeItem(at: folder)
        }

        func channel(_ change: (inout ChannelConfiguration) -> Void = { _ in }) throws
            -> CurlChannel
        {
            var configuration = ChannelConfiguration(
                serviceURL: url, target: RecordTarget(container: PlainServiceTests.container),
                credentials: credentials)
            configuration.authorityFile = server.authorityFile
            change(&configuration)
            return try CurlChannel(configuration: configuration)
        }
    }

    @Test(arguments: ServiceDialect.allCases)
    func theDialectIsWhatTheServicePublishes(dialect: ServiceDialect) async throws {
        let world = try World(dialect)
        let channel = try world.channel()
        #expect(try await channel.dialect() == dialect)
        _ = try await channel.send(.caller)
        _ = try await channel.send(.caller)
        // What it speaks is asked once.
        #expect(channel.byteCount.requests == 3)
    }

    @Test func eachAnswerCarriesTheTokenOfTheNextRequest() async throws {
        let world = try World(.plain)
        let kept = Lock<[String]>([])
        let token = RotatingToken(world.credentials.userToken) { new in
            kept.withLock { $0.append(new) }
        }
        let channel = try world.channel { $0.rotatingToken = token }
        for _ in 0..<3 { _ = try await channel.send(.caller) }
        let tokens = kept.withLock { $0 }
        #expect(Set(tokens).count == 3 && token.value == tokens.last)
        #expect(!tokens.contains(world.credentials.userToken ?? ""))
        // Another process begins with the token that was kept.
        let next = try world.channel { $0.credentials.userToken = tokens.last }
        _ = try await next.send(.caller)
        var text = "\(token)"
        dump(token, to: &text)
        #expect(tokens.allSatisfy { !text.contains($0) })
    }

    /// CloudKit's addresses leave a place for the name of the file.
    @Test func anAddressIsAskedForWithANameInIt() async throws {
        let server = try CannedServer("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody")
        var configuration = ChannelConfiguration(
            serviceURL: try #require(server.url), target: RecordTarget(container: "iCloud.x"),
            credentials: Credentials(apiToken: "api", userToken: "user"))
        configuration.dialect = .plain
        var asset = RecordAsset()
        asset.fileChecksum = Data(repeating: 1, count: 32).base64EncodedString()
        asset.size = 4
        asset.downloadURL = "\(configuration.serviceURL)/B/${f}?o=1"
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-named-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        // Its name is no digest of the content, however long it is.
        try await CurlChannel(configuration: configuration).download(asset, to: file)
        #expect(try Data(contentsOf: file) == Data("body".utf8))
        #expect(server.firstRequest.hasPrefix("GET /B/asset?o=1 "))
        withExtendedLifetime(server) {}
    }

    @Test func headersAreNoWayIntoAPlainService() async throws {
        let world = try World(.plain)
        let channel = try world.channel { $0.dialect = .extended }
        let error = await #expect(throws: RecordError.self) { try await channel.send(.caller) }
        #expect(error?.code == .authenticationRequired)
    }

    @Test(arguments: ["/capabilities", "/health"])
    func aPlainServicePublishesNothing(path: String) throws {
        let world = try World(.plain)
        var limits = CurlLimits()
        limits.authorityFile = world.server.authorityFile
        let handle = try CurlHandle(limits: limits)
        let answer = try handle.perform(CurlCall(url: world.url.absoluteString + path))
        #expect(answer.status == 404)
    }

    @Test func aServiceThatCannotBeReachedHasNoDialectYet() async throws {
        let world = try World(.plain)
        let channel = try world.channel()
        world.server.stop()
        let error = await #expect(throws: TransportError.self) { try await channel.dialect() }
        #expect(error?.isTransient == true)
    }

    /// What a gateway answers in the place of a service says nothing of the service.
    @Test(arguments: [
        "200 OK\r\nContent-Type: text/html", "302 Found\r\nLocation: /away", "403 Forbidden",
        "421 Misdirected Request",
    ])
    func aPageOfWhoStandsBeforeAServiceIsNoDialect(head: String) async throws {
        let names = ServiceDialect.neededExtensions.map { "\"\($0)\"" }.joined(separator: ",")
        let words = "{\"extensions\":[\(names)],\"limits\":{}}"
        let server = try CannedServer(each: [
            "HTTP/1.1 \(head)\r\nContent-Length: 6\r\n\r\n<html>",
            "HTTP/1.1 200 OK\r\nContent-Length: \(words.utf8.count)\r\n\r\n\(words)",
        ])
        let channel = try server.channel { $0.dialect = nil }
        await #expect(throws: (any Error).self) { try await channel.dialect() }
        #expect(try await channel.dialect() == .extended)
        withExtendedLifetime(server) {}
    }

    /// A service of the plain dialect has nothing at the address, or refuses it in its own words.
    @Test(arguments: [
        ("404 Not Found", "<p>nothing</p>"),
        ("401 Unauthorized", "{\"serverErrorCode\":\"AUTHENTICATION_FAILED\",\"uuid\":\"u\"}"),
        ("400 Bad Request", "{\"serverErrorCode\":\"BAD_REQUEST\",\"reason\":\"no\"}"),
    ])
    func whoPublishesNothingIsPlain(status: String, body: String) async throws {
        let server = try CannedServer(
            "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        let channel = try server.channel { $0.dialect = nil }
        #expect(try await channel.dialect() == .plain)
        withExtendedLifetime(server) {}
    }

    /// Who answers a request with a page may be another than who published.
    @Test(arguments: ["200 OK", "302 Found\r\nLocation: /away"])
    func aPageInPlaceOfAnAnswerHasTheServiceAskedAnew(head: String) async throws {
        let words = "{\"extensions\":[],\"limits\":{}}"
        let published = "HTTP/1.1 200 OK\r\nContent-Length: \(words.utf8.count)\r\n\r\n\(words)"
        let server = try CannedServer(each: [
            published, "HTTP/1.1 \(head)\r\nContent-Length: 6\r\n\r\n<html>", published,
        ])
        let channel = try server.channel { $0.dialect = nil }
        await #expect(throws: (any Error).self) { try await channel.send(.caller) }
        _ = try await channel.dialect()
        #expect(server.requests.filter { $0.hasPrefix("GET /capabilities ") }.count == 2)
        withExtendedLifetime(server) {}
    }

    @Test func aServiceThatSpeaksOtherwiseThanBeforeIsAskedAnew() async throws {
        let world = try World(.extended)
        let channel = try world.channel()
        _ = try await channel.send(.caller)
        try world.restart(.plain)
        await #expect(throws: RecordError.self) { try await channel.send(.caller) }
        _ = try await channel.send(.caller)
        #expect(try await channel.dialect() == .plain)
    }
}
