import Foundation
import MirrorTransport
import Platform
import RecordWire
import Testing

/// Downloads from a service of the plain dialect, whose entity tags are its own.
@Suite struct ForeignDownloadTests {
    private let folder: URL
    private let body = "0123456789"

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-foreign-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private var file: URL { folder.appendingPathComponent("asset") }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    /// Breaks off after four bytes.
    private func broken(_ tag: String?) -> String {
        let line = tag.map { "ETag: \($0)\r\n" } ?? ""
        return "HTTP/1.1 200 OK\r\n\(line)Content-Length: 10\r\n\r\n0123"
    }

    private func whole(_ tag: String, _ body: String) -> String {
        "HTTP/1.1 200 OK\r\nETag: \(tag)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private func rest(_ tag: String, from: Int = 4) -> String {
        let bytes = body.dropFirst(from)
        return "HTTP/1.1 206 Partial Content\r\nETag: \(tag)\r\nContent-Length: \(bytes.count)\r\n"
            + "Content-Range: bytes \(from)-9/10\r\n\r\n\(bytes)"
    }

    private func download(_ server: CannedServer, size: Int64? = 10) async throws {
        var configuration = ChannelConfiguration(
            serviceURL: try #require(server.url), target: RecordTarget(container: "iCloud.x"),
            credentials: Credentials(apiToken: "api", userToken: "user"))
        configuration.dialect = .plain
        configuration.setLongTimes()
        var asset = RecordAsset()
        asset.fileChecksum = "foreign"
        asset.size = size
        asset.downloadURL = "\(configuration.serviceURL)/asset"
        try await CurlChannel(configuration: configuration).download(asset, to: file)
    }

    private func breakOff(_ answers: [String], size: Int64? = 10) async throws -> CannedServer {
        let server = try CannedServer(each: answers)
        await #expect(throws: TransportError.self) { try await download(server, size: size) }
        return server
    }

    private func lines(_ request: String) -> [String] {
        request.split(separator: "\r\n").map(String.init).filter { $0.contains("ange: ") }.sorted()
    }

    @Test func aBrokenDownloadGoesOnByTheServicesOwnTag() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await breakOff([broken("\"own-1\""), rest("\"own-1\"")])
        try await download(server)
        #expect(lines(server.requests[1]) == ["If-Range: \"own-1\"", "Range: bytes=4-"])
        #expect(try Data(contentsOf: file) == Data(body.utf8))
        #expect(try names() == ["asset"])
    }

    /// A weak one says not that the bytes are the same. (RFC 9110 §13.1.5)
    @Test(arguments: ["W/\"own-1\"", "own-1", "\"a\"b\"", nil])
    func withoutAStrongTagADownloadBeginsAnew(_ tag: String?) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await breakOff([broken(tag), whole("\"own-2\"", body)])
        try await download(server)
        #expect(lines(server.requests[1]) == [])
        #expect(try Data(contentsOf: file) == Data(body.utf8))
        #expect(try names() == ["asset"])
    }

    /// The tag of what began anew goes on, not the first one's.
    @Test func anotherFileBeginsAnew() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await breakOff([
            broken("\"own-1\""), broken("\"own-2\""), broken(nil), whole("\"own-4\"", body),
        ])
        for _ in 0..<2 {
            await #expect(throws: TransportError.self) { try await download(server) }
        }
        try await download(server)
        #expect(lines(server.requests[1]).first == "If-Range: \"own-1\"")
        #expect(lines(server.requests[2]).first == "If-Range: \"own-2\"")
        #expect(lines(server.requests[3]) == [])
        #expect(try Data(contentsOf: file) == Data(body.utf8))
        #expect(try names() == ["asset"])
    }

    /// An answer without a body says as much as one with it.
    @Test func anEmptyFileBeginsAnewToo() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await breakOff([broken("\"own-1\""), whole("\"own-2\"", "")], size: nil)
        try await download(server, size: nil)
        #expect(try Data(contentsOf: file).isEmpty)
        #expect(try names() == ["asset"])
    }

    /// Of another file, or from another place.
    @Test(arguments: [("\"own-2\"", 4), ("\"own-1\"", 5)])
    func aRestThatDoesNotFitIsNotTaken(_ tag: String, _ from: Int) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await breakOff(
            [broken("\"own-1\""), rest(tag, from: from), whole("\"own-2\"", body)], size: nil)
        await #expect(throws: TransportError.self) { try await download(server, size: nil) }
        #expect(try names() == [])
        try await download(server, size: nil)
        #expect(lines(server.requests[2]) == [])
        #expect(try Data(contentsOf: file) == Data(body.utf8))
    }

    @Test func aRangeThatIsNotThereThrowsAllAway() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await breakOff([
            broken("\"own-1\""),
            "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\n\r\n",
        ])
        await #expect(throws: (any Error).self) { try await download(server) }
        #expect(try names() == [])
    }
}
