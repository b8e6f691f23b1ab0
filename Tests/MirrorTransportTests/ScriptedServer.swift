import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordWire

/// A real server over TLS on a free loopback port; what its service answers is the test's choice.
final class ScriptedServer {
    static let credentials = Credentials(apiToken: "api-4711", userToken: "user+/=4711")
    let server: RecordServer
    let url: URL
    private let folder: URL

    init(
        address: String = "127.0.0.1", change: (inout ServerConfiguration) -> Void = { _ in },
        answer: @escaping @Sendable (RecordRequest) throws -> RecordResponse
    ) throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-channel-\(UUID().uuidString)")
        var configuration = ServerConfiguration(tls: .automatic(folder: folder, hosts: []))
        configuration.address = address
        configuration.port = 0
        change(&configuration)
        let door = Authenticator { tokens, _ in
            guard tokens.apiToken == Self.credentials.apiToken,
                tokens.userToken == Self.credentials.userToken
            else { throw RecordError(.authenticationFailed, "Not these tokens.") }
            return Authenticator.Admitted(user: "_me") { request, _ in try answer(request) }
        }
        server = RecordServer(
            door: door, capabilities: ServerCapabilities(limits: [:], extensions: []),
            configuration: configuration, platform: .system)
        url = try server.start()
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    func channel(_ change: (inout ChannelConfiguration) -> Void = { _ in }) throws -> CurlChannel {
        var configuration = ChannelConfiguration(
            serviceURL: url, target: RecordTarget(container: "iCloud.org.example"),
            credentials: Self.credentials)
        configuration.authorityFile = server.authorityFile
        configuration.setLongTimes()
        configuration.dialect = .extended
        change(&configuration)
        return try CurlChannel(configuration: configuration)
    }
}

/// Answers connections with given bytes over plain TCP, and keeps what it was sent.
final class CannedServer: Sendable {
    let port: UInt16
    private let descriptor: Int32
    private let taken = Lock<[String]>([])

    /// `answer` nil: never answers, and keeps the connection.
    convenience init(_ answer: String?) throws { try self.init { _ in answer } }

    /// One answer after another; the last also to those that follow.
    convenience init(each answers: [String]) throws {
        try self.init { answers[min($0, answers.count - 1)] }
    }

    private init(_ answer: @escaping @Sendable (Int) -> String?) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let status = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(descriptor, name, size) + listen(descriptor, 8)
                    + getsockname(descriptor, name, &size)
            }
        }
        guard status == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: name.sin_port)
        let thread = Thread { [taken] in Self.serve(descriptor, answer, taken) }
        thread.start()
    }

    /// The thread closes what it listens at: closed here, the number might be another server's by
    /// the time it asks for the next connection.
    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    var url: URL? { URL(string: "http://127.0.0.1:\(port)") }
    var requests: [String] { taken.withLock { $0 } }
    var firstRequest: String { requests.first ?? "" }

    private static func serve(
        _ descriptor: Int32, _ answer: (Int) -> String?, _ requests: Lock<[String]>
    ) {
        var kept: [Int32] = []
        while true {
            let peer = accept(descriptor, nil, nil)
            guard peer >= 0 else { break }
            let text = request(from: peer)
            let number = requests.withLock { requests in
                requests.append(text)
                return requests.count - 1
            }
            guard let answer = answer(number) else {
                kept.append(peer)
                continue
            }
            _ = send(peer, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
            close(peer)
        }
        kept.forEach { close($0) }
        close(descriptor)
    }

    /// A request to its end: closing with a part of it unread would cut the answer off.
    private static func request(from peer: Int32) -> String {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(peer, &buffer, buffer.count, 0)
            guard count > 0 else { return text }
            text += String(decoding: buffer.prefix(count), as: UTF8.self)
            guard text.hasPrefix("GET ") || text.hasPrefix("POST ") else { return text }
            guard let head = text.range(of: "\r\n\r\n") else { continue }
            let announced = text[..<head.lowerBound].lowercased()
                .split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
            let bytes = announced.flatMap { Int($0.dropFirst(15).drop { $0 == " " }) } ?? 0
            if text[head.upperBound...].utf8.count >= bytes { return text }
        }
    }

    func channel(_ change: (inout ChannelConfiguration) -> Void = { _ in }) throws -> CurlChannel {
        guard let url else { throw POSIXError(.EINVAL) }
        var configuration = ChannelConfiguration(
            serviceURL: url,
            target: RecordTarget(container: "iCloud.org.example", deviceID: "mine"),
            credentials: ScriptedServer.credentials)
        configuration.setLongTimes()
        configuration.dialect = .extended
        change(&configuration)
        return try CurlChannel(configuration: configuration)
    }
}

extension ChannelConfiguration {
    /// Times beyond any run of the tests: on a busy machine a peer may stand still for minutes.
    mutating func setLongTimes() {
        connectSeconds = 86_400
        stallSeconds = 86_400
        totalSeconds = 86_400
    }
}
