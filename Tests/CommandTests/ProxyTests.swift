import ChildProcesses
import Foundation
import Testing

/// The service behind nginx, with the settings that are shown for it.
@Suite(.enabled(if: Proxy.isPresent, "nginx is not installed"))
struct ProxyTests {
    private let workshop: Workshop
    private let service: TestService
    private let proxy: Proxy

    init() throws {
        workshop = try Workshop()
        service = try workshop.service(
            "--tls", "off", "--trusted-proxy", "127.0.0.1", "--metrics", "0")
        proxy = try Proxy(workshop, before: service.port)
    }

    /// curl on its way to the service, through the proxy.
    private func asking(_ operation: String, _ body: String) throws -> Child {
        let tokens = try String(contentsOfFile: service.text("tokenFile"), encoding: .utf8)
        func token(_ name: String) -> String {
            let line = tokens.split(separator: "\n").first { $0.hasPrefix(name + ": ") } ?? ""
            return String(line.dropFirst(name.count + 2))
        }
        let database = "/database/1/\(service.text("container"))/development/private/"
        return try workshop.start(
            "/usr/bin/env",
            [
                "curl", "-s", "-k", "--max-time", "90", "-d", body,
                "-H", "X-Diptych-API-Token: \(token("api"))",
                "-H", "X-Diptych-User-Token: \(token("user"))",
                proxy.address + database + operation,
            ])
    }

    private func ask(_ operation: String, _ body: String) throws -> String {
        let child = try asking(operation, body)
        child.wait()
        return child.printed
    }

    private func status(_ path: String) throws -> String {
        let child = try workshop.start(
            "/usr/bin/env",
            ["curl", "-s", "-k", "-o", "/dev/null", "-w", "%{http_code}", proxy.address + path])
        child.wait()
        return child.printed
    }

    @Test func requestsThatWaitAreHeldThroughIt() throws {
        let made = try ask(
            "zones/modify",
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"notes"}}}]}"#)
        let token = made.firstMatch(of: /"syncToken":"([^"]+)"/)?.output.1 ?? ""
        #expect(!token.isEmpty, "\(made)")
        let waiting = try asking(
            "changes/zone",
            #"{"waitSeconds":60,"zones":[{"zoneID":{"zoneName":"notes"},"#
                + #""syncToken":"\#(token)"}]}"#)
        var isHeld = false
        for _ in 0..<12_000 where !isHeld {
            usleep(50_000)
            let child = try workshop.start("/usr/bin/env", ["curl", "-s", service.text("metrics")])
            child.wait()
            isHeld = child.printed.contains("diptych_http_held_requests 1")
        }
        #expect(isHeld)
        let save = """
            {"zoneID":{"zoneName":"notes"},"operations":[{"operationType":"create","record":\
            {"recordName":"n1","recordType":"Note","fields":{"text":{"value":"x"}}}}]}
            """
        #expect(try ask("records/modify", save).contains("recordChangeTag"))
        waiting.wait()
        #expect(waiting.printed.contains("\"recordName\":\"n1\""))
        proxy.stop()
    }

    @Test func addressesAreTheProxysAndProbesStayInside() throws {
        let upload = try ask("assets/upload", #"{"tokens":[{"fieldName":"a"}]}"#)
        #expect(upload.contains("\(proxy.address)/assets/upload?key="), "\(upload)")
        #expect(try status("/readyz") == "404" && status("/healthz") == "200")
        proxy.stop()
    }
}

/// nginx with the configuration of Tools/packaging, on free ports and in a folder of its own.
private final class Proxy {
    static let program = ["/usr/sbin/nginx", "/usr/bin/nginx"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    static var isPresent: Bool { program != nil }

    let address: String
    private let child: Child

    init(_ workshop: Workshop, before port: Int) throws {
        let own = try Self.freePort()
        address = "https://localhost:\(own)"
        let pem = workshop.path("proxy.pem")
        let made = try workshop.start(
            "/usr/bin/env",
            [
                "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj",
                "/CN=localhost", "-days", "2", "-keyout", pem, "-out", pem + ".crt",
            ])
        made.wait()
        let shown = try String(
            contentsOf: Workshop.package.appendingPathComponent("Tools/packaging/nginx.conf"),
            encoding: .utf8)
        let server =
            shown
            .replacing("server 127.0.0.1:8443;", with: "server 127.0.0.1:\(port);")
            .replacing("listen 443 ssl;", with: "listen 127.0.0.1:\(own) ssl;")
            .replacing(#/ssl_certificate .*;/#, with: "ssl_certificate \(pem).crt;")
            .replacing(#/ssl_certificate_key .*;/#, with: "ssl_certificate_key \(pem);")
        let folder = workshop.folder.path
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder)/nginx-\($0);"
        }
        try workshop.write(
            """
            daemon off;
            worker_processes 1;
            pid \(folder)/nginx.pid;
            error_log \(folder)/nginx-errors.log;
            events { worker_connections 64; }
            http {
            access_log off;
            \(paths.joined(separator: "\n"))
            \(server)
            }
            """, to: "nginx.conf")
        child = try workshop.start(
            Self.program ?? "", ["-p", folder, "-c", folder + "/nginx.conf"])
        for _ in 0..<12_000 {
            let look = try workshop.start(
                "/usr/bin/env", ["curl", "-s", "-k", "--max-time", "5", address + "/healthz"])
            look.wait()
            if look.printed.contains("ok") { return }
            usleep(50_000)
        }
        Issue.record("nginx did not come up: \(child.complaint)")
    }

    func stop() {
        child.send(SIGTERM)
        child.wait()
    }

    /// A port that was free a moment ago.
    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 ? getsockname(descriptor, $0, &size) : -1
            }
        }
        guard status == 0 else { throw CocoaError(.featureUnsupported) }
        return UInt16(bigEndian: name.sin_port)
    }
}
