internal import Foundation
internal import Platform
internal import RecordServer
internal import RecordService

/// A record service over TLS on a free port, until the input closes.
enum ServiceRole {
    static let container = "iCloud.local.bench"

    static func play(_ arguments: RoleArguments) throws {
        let folder = try arguments.url(0)
        let service = try RecordService(
            path: folder.appendingPathComponent("records.sqlite").path, platform: .system)
        try service.accounts.createContainer(container)
        let user = try service.accounts.createUser(label: "bench")
        let api = try service.accounts.issueAPIToken(container: container, label: "bench").secret
        let own = try service.accounts.issueUserToken(
            userRecordName: user.userRecordName, label: "bench"
        ).secret
        let tls = folder.appendingPathComponent("tls")
        var configuration = ServerConfiguration(tls: .automatic(folder: tls, hosts: []))
        configuration.port = 0
        // One user asks for all of it.
        var throttle = ThrottleLimits()
        throttle.unitsPerSecond = 10_000_000
        throttle.unitsSavedMax = 100_000_000
        configuration.throttle = throttle
        let server = RecordServer(service: service, configuration: configuration)
        let url = try server.start()
        try Ready(
            url: url.absoluteString, authority: server.authorityFile?.path ?? "", api: api,
            user: own
        ).write(to: folder)
        InputEnd.wait()
        var found = Findings()
        found["requests"] = Double(server.statistics.requests)
        server.stop()
        found.send()
    }
}

/// How to reach a server; written once it listens.
struct Ready: Codable {
    var url: String
    var authority: String
    var api: String
    var user: String

    private static func file(_ folder: URL) -> URL { folder.appendingPathComponent("ready.json") }

    func write(to folder: URL) throws {
        try JSONEncoder().encode(self).write(to: Self.file(folder), options: .atomic)
    }

    static func read(_ folder: URL) throws -> Ready {
        try JSONDecoder().decode(Ready.self, from: Data(contentsOf: file(folder)))
    }

    /// Waits for a server to listen.
    static func wait(_ folder: URL) throws {
        for _ in 0..<600 {
            if FileManager.default.fileExists(atPath: file(folder).path) { return }
            Thread.sleep(forTimeInterval: 0.05)
        }
        throw BenchmarkError("The server did not come up in 30 seconds.")
    }
}

enum InputEnd {
    /// Waits until the standard input closes.
    static func wait() { while readLine() != nil {} }
}
