import ChildProcesses
import Foundation
import Testing

/// The service as whoever runs it sees it: its log, its figures, its signals.
@Suite struct ServeOperationsTests {
    private let workshop: Workshop

    init() throws { workshop = try Workshop() }

    private func wait(_ what: String, until isDone: () -> Bool) {
        for _ in 0..<12_000 {
            if isDone() { return }
            usleep(50_000)
        }
        Issue.record("\(what) did not come")
    }

    private func text(_ path: String) -> String {
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }

    private func fetch(_ words: String...) throws -> String {
        let child = try workshop.start(
            "/usr/bin/env", ["curl", "-s", "--max-time", "60"] + words)
        child.wait()
        return child.printed
    }

    @Test func eachRequestIsALineAndTheLogMayBeMovedAway() throws {
        let log = workshop.path("requests.log")
        workshop.environment["DIPTYCH_LOG"] = "debug"
        let service = try workshop.service("--log", log, "--log-format", "json")
        func ask(_ path: String) throws -> String {
            try fetch("--cacert", service.text("caFile"), service.text("url") + path)
        }
        #expect(try ask("/healthz") == #"{"status":"ok"}"#)
        #expect(try ask("/nothing?token=secret").contains("NOT_FOUND"))
        wait("two lines") { text(log).split(separator: "\n").count == 2 }
        let lines = try text(log).split(separator: "\n").map {
            try #require(
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(lines[0]["operation"] as? String == "healthz")
        #expect(lines[0]["status"] as? Int == 200 && lines[0]["level"] as? String == "debug")
        #expect(lines[1]["code"] as? String == "NOT_FOUND" && lines[1]["id"] is String)
        #expect(!text(log).contains("secret"))
        // Rotated: the file that has the name is written from the signal on.
        #expect(rename(log, log + ".1") == 0)
        service.child.send(SIGHUP)
        wait("the log anew") { FileManager.default.fileExists(atPath: log) }
        _ = try ask("/healthz")
        wait("a line in it") { text(log).contains("healthz") }
        #expect(text(log + ".1").split(separator: "\n").count == 2)
        service.child.send(SIGTERM)
        #expect(service.child.wait() == 0)
    }

    /// Else the first user who sends a picture is the first to hear of it.
    @Test func aBucketThatCannotBeReachedIsToldAtTheStart() throws {
        workshop.environment["AWS_ACCESS_KEY_ID"] = "x"
        workshop.environment["AWS_SECRET_ACCESS_KEY"] = "y"
        let service = try workshop.service(
            "--assets", "s3://shelf/assets", "--assets-endpoint", "http://127.0.0.1:1")
        wait("a word") { service.child.complaint.contains("store of objects") }
    }

    // MARK: Settings

    private func settings(_ text: String) throws {
        try FileManager.default.createDirectory(
            atPath: workshop.path("config/diptych"), withIntermediateDirectories: true)
        try workshop.write(text, to: "config/diptych/diptych.conf")
    }

    /// Whoever wrote the line sees elsewhere what it says.
    @Test func aLineThatAVariableGoesBeforeIsTold() throws {
        try settings("data = elsewhere\nconsole = off\nlog-level = info\n")
        workshop.environment["DIPTYCH_DATA"] = workshop.path("kept")
        // These say the same, or are not asked.
        workshop.environment["DIPTYCH_CONSOLE"] = "off"
        workshop.environment["DIPTYCH_LOG"] = "debug"
        let child = try workshop.start([
            "serve", "--listen", "127.0.0.1:0", "--tls", "off", "--log-level", "error",
        ])
        wait("its address") { !child.printed.isEmpty }
        let told = child.complaint
        #expect(told.contains("DIPTYCH_DATA") && told.contains("'data' of "), "\(told)")
        #expect(!told.contains("DIPTYCH_CONSOLE") && !told.contains("DIPTYCH_LOG"), "\(told)")
        child.send(SIGTERM)
        child.wait()
    }

    @Test(arguments: ["container", "data", "log", "hosts", "trusted-proxy"])
    func aLineWithoutAValueIsRefusedAsSuch(name: String) throws {
        for line in ["\(name) =", "\(name)"] {
            try settings("tls = off\n\(line)\n")
            let run = try workshop.run("serve", "--listen", "127.0.0.1:0", "--json")
            #expect(run.status == 2 && run.errorCode == "badConfiguration")
            let message = run.error["message"] as? String ?? ""
            #expect(
                message.contains("line 2: '\(name)' has no value"), "\(message)")
        }
    }

    @Test func aSettingThatStandsTwiceIsTold() throws {
        try settings("log-level = info\nlog-level = error\n")
        let service = try workshop.service()
        wait("a word") { service.child.complaint.contains("'log-level' stands twice") }
    }

    /// Nobody has to know how many listeners there are unless told.
    @Test func fewConnectionsAreTakenAlone() throws {
        try settings("connections = 300\n")
        _ = try workshop.service()
        let refused = try workshop.run(
            "serve", "--data", workshop.path("other"), "--connections", "300", "--listeners", "300")
        #expect(refused.status == 2 && refused.complaint.contains("no room"))
    }

    @Test func levelsLeaveOut() throws {
        let log = workshop.path("requests.log")
        let service = try workshop.service("--log", log, "--log-level", "warning")
        for path in ["/capabilities", "/nothing", "/healthz"] {
            _ = try fetch("--cacert", service.text("caFile"), service.text("url") + path)
        }
        wait("a line") { !text(log).isEmpty }
        #expect(text(log).split(separator: "\n").count == 1)
        #expect(text(log).contains(" 404 GET \"other\" "))
    }

    @Test func figuresAreOnAnAddressOfTheirOwn() throws {
        let service = try workshop.service("--metrics", "0")
        let address = service.text("metrics")
        #expect(address.hasPrefix("http://127.0.0.1:"))
        let page = try fetch(address)
        #expect(page.contains("diptych_build_info{version=\"") && page.contains("diptych_ready 1"))
        #expect(try fetch(address.replacing("/metrics", with: "/readyz")).contains("ready"))
        // On the service's own address there are none.
        let public_ = try fetch(
            "--cacert", service.text("caFile"), service.text("url") + "/metrics")
        #expect(public_.contains("NOT_FOUND"))
    }

    @Test func aCertificateIsExchangedByTheSignal() throws {
        let first = workshop.path("first")
        try workshop.service("--data", first).kill()
        let pem = first + "/tls/server.pem"
        let second = try workshop.service("--tls", "\(pem),\(pem)")
        func serial() throws -> String {
            let script = "openssl s_client -connect 127.0.0.1:\(second.port) </dev/null "
            let child = try workshop.start(
                "/usr/bin/env", ["sh", "-c", script + "| openssl x509 -noout -serial"])
            child.wait()
            return child.printed
        }
        let before = try serial()
        #expect(before.hasPrefix("serial="))
        // For another host it writes another certificate into the same file.
        try workshop.service("--data", first, "--hosts", "other.example.org").kill()
        second.child.send(SIGHUP)
        var after = before
        wait("another certificate") {
            after = (try? serial()) ?? before
            return after != before && after.hasPrefix("serial=")
        }
    }

    @Test(arguments: [
        ["--metrics", "x"], ["--metrics", "1.2.3.4:99999"], ["--log-format", "xml"],
        ["--log-level", "loud"], ["--trusted-proxy", "10.0.0.0/33"], ["--quota-records", "-1"],
        ["--connections", "0"], ["--listeners", "1000"], ["--rate", "0"],
    ])
    func aSettingThatIsNoneIsSaid(words: [String]) throws {
        let run = try workshop.run(
            ["serve", "--data", workshop.path("none"), "--listen", "127.0.0.1:0"] + words)
        #expect(run.status == 2 && run.complaint.contains(words[0]), "\(run.complaint)")
        #expect(!FileManager.default.fileExists(atPath: workshop.path("none")))
    }

    @Test func aLogThatCannotBeOpenedStopsTheStart() throws {
        let run = try workshop.run(
            "serve", "--data", workshop.path("data"), "--listen", "127.0.0.1:0", "--log",
            workshop.path("none/requests.log"))
        #expect(run.status != 0 && run.complaint.contains("none"))
    }

    /// What a session of the shell allows at first is too little for many connections.
    @Test func theLimitOfOpenFilesIsRaisedAsFarAsItGoes() throws {
        func serve(_ limit: String, _ data: String) throws -> Child {
            try workshop.start(
                "/bin/sh",
                [
                    "-c", "ulimit \(limit); exec \"$0\" \"$@\"", Workshop.command, "serve",
                    "--data", workshop.path(data), "--listen", "127.0.0.1:0", "--metrics", "0",
                    "--json",
                ])
        }
        let soft = try serve("-S -n 600", "soft")
        wait("readiness") { soft.printed.contains("\"ready\"") }
        let address = soft.printed.firstMatch(of: /"metrics":"([^"]+)"/)?.output.1 ?? ""
        let page = try fetch(String(address))
        let allowed = page.firstMatch(of: /process_max_fds ([0-9]+)/)?.output.1 ?? ""
        #expect((Int(allowed) ?? 0) > 1_500 && soft.complaint.isEmpty)
        soft.send(SIGTERM)
        #expect(soft.wait() == 0)
        let hard = try serve("-n 700", "hard")
        wait("readiness") { hard.printed.contains("\"ready\"") }
        #expect(hard.complaint.contains("have 188 connections open, not 1000"))
        hard.send(SIGTERM)
        #expect(hard.wait() == 0)
    }

    @Test func settingsMayStandInAFile() throws {
        let config = workshop.path("config/diptych")
        try FileManager.default.createDirectory(
            atPath: config, withIntermediateDirectories: true)
        try workshop.write(
            """
            metrics = 127.0.0.1:0
            log = \(workshop.path("by-file.log"))
            log-format = json
            quota-records = 3
            trusted-proxy = 127.0.0.1, 10.0.0.0/8
            connections = 64
            listeners = 32
            """, to: "config/diptych/diptych.conf")
        let service = try workshop.service()
        #expect(service.text("metrics").hasPrefix("http://127.0.0.1:"))
        #expect(FileManager.default.fileExists(atPath: workshop.path("by-file.log")))
    }

    @Test func whoStartsItHearsWhenItIsReadyAndWhenItEnds() throws {
        let script = """
            import os, socket, sys
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            s.bind(sys.argv[1])
            print("bound", flush=True)
            s.settimeout(300)
            for _ in range(4):
                print(s.recv(64).decode(), flush=True)
            """
        let place = workshop.path("notify")
        let listener = try workshop.start("/usr/bin/env", ["python3", "-c", script, place])
        wait("the listener") { listener.printed.contains("bound") }
        workshop.environment["NOTIFY_SOCKET"] = place
        let service = try workshop.service()
        wait("ready") { listener.printed.contains("READY=1") }
        service.child.send(SIGHUP)
        wait("reloading") { listener.printed.contains("RELOADING=1\nREADY=1") }
        service.child.send(SIGTERM)
        #expect(service.child.wait() == 0)
        listener.wait()
        #expect(listener.printed == "bound\nREADY=1\nRELOADING=1\nREADY=1\nSTOPPING=1\n")
    }
}
