import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// What stands in the access log, and what never does.
@Suite struct AccessLogTests {
    private func entry(_ status: Int, _ operation: String = "records/modify") -> AccessLogEntry {
        var facts = RequestFacts()
        facts.operation = operation
        facts.user = "_0123456789abcdef"
        facts.container = "iCloud.org.example"
        facts.requestID = "11111111-2222-3333-4444-555555555555"
        facts.errorCode = status < 400 ? nil : "CONFLICT"
        return AccessLogEntry(
            time: Date(timeIntervalSince1970: 1_773_480_413.589), method: "POST",
            path: "/a?b", status: status, bytes: 20, receivedBytes: 10, milliseconds: 1.2345,
            wasHeld: false, facts: facts, round: "7C0E-1")
    }

    @Test func aLineIsJSONOrWords() {
        #expect(
            entry(409).line(.json)
                == #"{"time":"2026-03-14T09:26:53.589Z","level":"warning","method":"POST","#
                + #""operation":"records/modify","status":409,"milliseconds":1.235,"#
                + #""bytesIn":10,"bytesOut":20,"user":"01234567","#
                + #""container":"iCloud.org.example","#
                + #""id":"11111111-2222-3333-4444-555555555555","round":"7C0E-1","#
                + #""code":"CONFLICT"}"#)
        #expect(
            entry(200).line(.text)
                == "2026-03-14T09:26:53.589Z 200 POST \"records/modify\" 1.235ms in=10 out=20 "
                + "user=01234567 container=iCloud.org.example "
                + "id=11111111-2222-3333-4444-555555555555 round=7C0E-1")
    }

    @Test func levelsGrow() {
        #expect(entry(500).level == .error && entry(404).level == .warning)
        #expect(entry(200).level == .info && entry(200, "readyz").level == .debug)
        #expect(LogLevel.allCases == LogLevel.allCases.sorted())
    }

    @Test func noByteOfAStrangerStandsInALine() throws {
        var hostile = entry(400)
        hostile.method = "GET\r\n{\"x\":"
        hostile.facts.user = "_\"\u{1B}[31m\nAnn"
        hostile.facts.container = "a\"b\\c\u{0}ä\n"
        hostile.facts.errorCode = "X\"Y"
        hostile.round = "\u{1B}[0m\"\n"
        for format in LogFormat.allCases {
            let line = hostile.line(format)
            #expect(line.utf8.allSatisfy { (0x20...0x7E).contains($0) })
            #expect(!line.contains("GET") && line.contains("OTHER"))
        }
        let object = try JSONSerialization.jsonObject(with: Data(hostile.line(.json).utf8))
        let members = try #require(object as? [String: Any])
        #expect(members["container"] as? String == "a?b?c????")
        #expect(members["user"] as? String == "???31m?A")
    }

    @Test func requestsAreToldWithTheirUserAndTheirRefusal() throws {
        let entries = Lock<[AccessLogEntry]>([])
        let server = try WatchedServer { configuration in
            configuration.accessLog = { entry in entries.withLock { $0.append(entry) } }
        }
        let saved = try server.send("records/modify", .modifyRecords(server.saving("a")))
        let unknown = try server.get("/database/1/c/development/private/zones/list?ckAPIToken=x")
        _ = try server.get("/webcourier?token=secret")
        let all = entries.withLock { $0 }
        #expect(all.count == 3)
        #expect(all[0].facts.operation == "records/modify")
        #expect(all[0].facts.user?.hasPrefix("_") == true)
        #expect(all[0].facts.container == WatchedServer.container)
        #expect(all[0].facts.requestID == saved.headers["x-apple-request-uuid"])
        #expect(all[0].facts.errorCode == nil && all[0].receivedBytes > 10)
        #expect(all[1].facts.operation == "zones/list")
        #expect(all[1].facts.user == nil && all[1].facts.container == nil)
        #expect(all[1].facts.errorCode == "NOT_FOUND")
        #expect(all[1].facts.requestID == unknown.headers["x-apple-request-uuid"])
        #expect(all[2].facts.operation == "webcourier")
        for entry in all {
            for format in LogFormat.allCases {
                let line = entry.line(format)
                #expect(!line.contains("dpt_") && !line.contains("secret"))
            }
        }
    }

    // MARK: The file

    @Test func aFileThatWasMovedAwayIsLeftWhenToldTo() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-log-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("requests.log")
        let moved = folder.appendingPathComponent("requests.log.1")
        let log = try LogFile(file)
        log.write("one")
        try FileManager.default.moveItem(at: file, to: moved)
        log.write("two")
        try log.reopen()
        log.write("three")
        #expect(try String(contentsOf: moved, encoding: .utf8) == "one\ntwo\n")
        #expect(try String(contentsOf: file, encoding: .utf8) == "three\n")
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(((mode[.posixPermissions] as? NSNumber)?.intValue ?? 0o777) & 0o007 == 0)
        let error = #expect(throws: ServerError.self) {
            try LogFile(folder.appendingPathComponent("none/requests.log"))
        }
        #expect(error?.code == .cannotWrite)
    }

    @Test func whatADiskDoesNotTakeIsCounted() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-log-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("requests.log")
        try FileManager.default.createSymbolicLink(
            atPath: file.path, withDestinationPath: "/dev/full")
        let log = try LogFile(file)
        log.write("one")
        log.write("two")
        try FileManager.default.removeItem(at: file)
        try log.reopen()
        log.write("three")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.hasPrefix("# ") && text.contains("lines are missing here"))
        #expect(text.hasSuffix("\nthree\n"))
    }
}
