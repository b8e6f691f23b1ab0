import Foundation
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// A service whose writers, and those who look something up, stay until they are let go.
final class TurnDesk: Sendable {
    let asked = Lock<[String]>([])
    private let gate = DispatchSemaphore(value: 0)
    private let readersGate = DispatchSemaphore(value: 0)
    let server: RecordServer
    let port: UInt16

    /// So many write to one database at once.
    convenience init(writersMax: Int) throws {
        // A thread for each connection: one at work wakes no other of its own.
        try self.init(.ofDatabases(writersMax: writersMax), threads: 40)
    }

    init(
        _ order: WriterOrder, threads: Int,
        _ change: (inout ServerConfiguration) -> Void = { _ in }
    ) throws {
        let (asked, gate, readersGate) = (asked, gate, readersGate)
        var door = Authenticator { tokens, _ in
            let ask: Authenticator.Asking = { question, target in
                switch question {
                case .modifyRecords(let change):
                    asked.withLock { $0 += change.operations.map(\.record.recordName) }
                case .queryRecords(let query):
                    asked.withLock { $0.append(query.query.recordType) }
                case .lookupRecords(let lookup):
                    asked.withLock { $0 += lookup.recordNames }
                    readersGate.wait()
                    return .records(RecordsReply(results: []))
                default: return .caller(CallerReply(userRecordName: "_ann"))
                }
                if target.environment == "development" { gate.wait() }
                return .records(RecordsReply(results: []))
            }
            var admitted = Authenticator.Admitted(
                user: tokens.userToken ?? "ann", ask: ask)
            // Queries of "Known" find their index.
            admitted.askReading = { question, target in
                guard case .queryRecords(let query) = question else {
                    return try ask(question, target)
                }
                guard query.query.recordType == "Known" else {
                    throw RecordService.wantsToWrite
                }
                return .records(RecordsReply(results: []))
            }
            return admitted
        }
        door.writerOrder = order
        var configuration = ServerConfiguration(tls: .off)
        configuration.port = 0
        configuration.http.threads = threads
        change(&configuration)
        // Nobody's time in the line is up: on a busy machine a test may stand still for minutes
        // between two of its lines.
        var platform = Environment.system
        platform.clock = FixedClock(date: Date())
        server = RecordServer(
            door: door,
            capabilities: ServerCapabilities(limits: [:], extensions: []),
            configuration: configuration, platform: platform)
        port = UInt16(try #require(try server.start().port))
    }

    func open(for count: Int) { for _ in 0..<count { gate.signal() } }

    func openForReaders(_ count: Int) { for _ in 0..<count { readersGate.signal() } }

    func ask(
        _ operation: String, _ body: String, in environment: String = "development",
        of container: String = "iCloud.x", by user: String = "ann"
    ) throws -> RawClient {
        let client = try RawClient(port: port)
        client.send(
            "POST /database/1/\(container)/\(environment)/private/\(operation) HTTP/1.1\r\n"
                + "Host: h\r\nX-Diptych-User-Token: \(user)\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        return client
    }

    func write(_ name: String, in environment: String = "development") throws -> RawClient {
        try ask(
            "records/modify",
            #"{"operations":[{"operationType":"create","record":{"recordName":"\#(name)","#
                + #""recordType":"Note"}}]}"#, in: environment)
    }

    func lookUp(_ name: String) throws -> RawClient {
        try ask("records/lookup", #"{"records":[{"recordName":"\#(name)"}]}"#)
    }

    func query(_ type: String) throws -> RawClient {
        try ask("records/query", #"{"query":{"recordType":"\#(type)"}}"#)
    }

    /// Waits until so many ask the service, or have asked it, and so many sleep or slept
    /// before they asked.
    func settle(asked count: Int, asleep: Int? = nil) async throws {
        func isSettled() -> Bool {
            asked.withLock { $0.count } == count
                && (asleep == nil || server.heldRequests == asleep)
        }
        for _ in 0..<120_000 where !isSettled() {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(isSettled())
    }
}
