import ChildProcesses
import Foundation
import Testing

/// A folder for one test: stores, services and runs of the built command in it.
final class Workshop {
    let folder: URL
    private var services: [TestService] = []
    /// Settings of the caller's must not reach the command.
    var environment: [String: String]

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-command-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("runs"), withIntermediateDirectories: true)
        environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("DIPTYCH_") }
        environment["XDG_CONFIG_HOME"] = folder.appendingPathComponent("config").path
        environment["XDG_DATA_HOME"] = folder.appendingPathComponent("data").path
    }

    deinit {
        for service in services { service.kill() }
        try? FileManager.default.removeItem(at: folder)
    }

    static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    static let model = package.appendingPathComponent("Tools/demo-model/Library.xcdatamodel").path
    static let image = package.appendingPathComponent("Tools/demo-model/image.sql")

    /// The built command, which lies beside the test bundle.
    static let command: String = {
        let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: own ?? CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("diptych").path
    }()

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    @discardableResult
    func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
        let path = path(name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    // MARK: Runs

    func start(_ words: [String], input: String? = nil) throws -> Child {
        try start(Self.command, words, input: input)
    }

    func start(_ program: String, _ words: [String], input: String? = nil) throws -> Child {
        try Child(
            program, words, environment: environment,
            folder: folder.appendingPathComponent("runs"), input: input)
    }

    func run(_ words: String..., input: String? = nil) throws -> Run {
        try run(words, input: input)
    }

    func run(_ words: [String], input: String? = nil) throws -> Run {
        let child = try start(words, input: input)
        return Run(status: child.wait(), output: child.printed, complaint: child.complaint)
    }

    /// Runs it and expects success.
    @discardableResult
    func done(_ words: [String], input: String? = nil) throws -> Run {
        let run = try run(words, input: input)
        #expect(run.status == 0, "\(words.joined(separator: " ")): \(run.complaint)")
        return run
    }

    // MARK: Stores

    /// An empty library.
    func library(_ name: String = "Library.sqlite") throws -> String {
        let path = path(name)
        try done(["create", path, "--model", Self.model])
        return path
    }

    @discardableResult
    func edit(_ store: String, _ script: String) throws -> Run {
        try done(["edit", store, "-", "--json"], input: script)
    }

    /// What sqlite3 says, apart from any code of the project.
    func sql(_ store: String, _ text: String) throws -> String {
        let child = try start("/usr/bin/env", ["sqlite3", "-bail", store], input: text)
        #expect(child.wait() == 0, "\(child.complaint)")
        return child.printed.trimmingCharacters(in: .newlines)
    }

    /// The rows and pairs of a library by record name.
    func image(_ store: String) throws -> [String] {
        let text = try sql(store, String(contentsOf: Self.image, encoding: .utf8))
        return text.split(separator: "\n").map(String.init)
    }

    /// Expects that both libraries hold the same, each row with a record and no link into nothing.
    func expectEqual(_ one: String, _ other: String, rows: Int? = nil) throws {
        let (left, right) = (try image(one), try image(other))
        #expect(left == right)
        #expect(!left.isEmpty)
        #expect(!left.contains { $0.contains("\"nothing\"") || $0.contains("||") })
        if let rows { #expect(left.count == rows) }
    }

    // MARK: Services

    func service(_ words: String...) throws -> TestService {
        let service = try TestService(self, words)
        services.append(service)
        return service
    }
}

/// A `diptych serve` process.
final class TestService {
    // Not strongly: the workshop ends its services when it goes.
    private weak var workshop: Workshop?
    private let words: [String]
    private(set) var child: Child
    private(set) var ready: [String: Any] = [:]

    fileprivate init(_ workshop: Workshop, _ words: [String]) throws {
        self.workshop = workshop
        self.words = words
        child = try Self.launch(workshop, words, port: 0)
        ready = try Self.await(child)
    }

    private static func launch(_ workshop: Workshop, _ words: [String], port: Int) throws -> Child {
        let own = ["serve", "--json", "--listen", "127.0.0.1:\(port)"]
        let data = words.contains("--data") ? [] : ["--data", workshop.path("service")]
        return try workshop.start(own + data + words)
    }

    private static func await(_ child: Child) throws -> [String: Any] {
        for _ in 0..<12_000 {
            let line = child.printed.split(separator: "\n").first ?? ""
            if let ready = try? JSONSerialization.jsonObject(with: Data(line.utf8)) {
                return try #require(ready as? [String: Any])
            }
            usleep(50_000)
        }
        Issue.record("the service did not come up: \(child.complaint)")
        return [:]
    }

    func text(_ key: String) -> String { ready[key] as? String ?? "" }
    var port: Int { ready["port"] as? Int ?? 0 }

    /// How a store is put under sync with it.
    var settings: [String] {
        [
            "--service", text("url"), "--container", text("container"), "--token-file",
            text("tokenFile"), "--ca-file", text("caFile"),
        ]
    }

    /// Ends it without a word to anyone.
    func kill() {
        child.send(SIGKILL)
        child.wait()
    }

    /// Starts it again at the same place.
    func restart() throws {
        let workshop = try #require(workshop)
        child = try Self.launch(workshop, words, port: port)
        ready = try Self.await(child)
    }
}
