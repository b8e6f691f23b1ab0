internal import Foundation
internal import MirrorTransport
internal import Platform
internal import RecordServer

/// The floor of sync: as many bytes over the same TLS server in as many requests, and as many rows
/// of as many bytes written with raw SQLite at both ends. No JSON, no compression, no merge.
struct BareExchange: Codable {
    /// Records in all.
    var records: Int
    var requests: Int
    /// Bytes of each request's or answer's body.
    var wireBytes: Int
    /// Bytes of each record as stored.
    var recordBytes: Int

    private var perRequest: Int { max(1, (records + requests - 1) / max(1, requests)) }

    // MARK: The server

    /// Takes rows by POST and gives rows by GET, over TLS on a free port, until the input closes.
    static func serve(_ arguments: RoleArguments) throws {
        let folder = try arguments.url(0)
        let records = Lock(
            try RawRecords(path: folder.appendingPathComponent("bare.sqlite").path))
        let certificates = CertificateFolder(folder.appendingPathComponent("tls"))
        let server = HTTPServer(configuration: HTTPConfiguration(), platform: .system) { request in
            do {
                return try records.withLock { try answer(request, $0) }
            } catch {
                return HTTPResponse(status: 500)
            }
        }
        let port = try server.start(
            address: "127.0.0.1", port: 0, tls: certificates.identity(hosts: []))
        try Ready(
            url: "https://127.0.0.1:\(port)", authority: certificates.authorityFile.path, api: "",
            user: ""
        ).write(to: folder)
        InputEnd.wait()
        server.stop()
        Findings().send()
    }

    private static func answer(_ request: HTTPRequest, _ records: RawRecords) throws
        -> HTTPResponse
    {
        func number(_ name: String) -> Int { request.query[name].flatMap { Int($0) } ?? 0 }
        if request.method == "POST" {
            try records.insert(number("count"), from: number("first"), bytes: number("bytes"))
            return HTTPResponse(status: 200)
        }
        guard try records.read(number("count"), from: number("first")) > 0 else {
            return HTTPResponse(status: 404)
        }
        return HTTPResponse(status: 200, body: Data(repeating: 9, count: number("bytes")))
    }

    // MARK: The client

    /// Sends everything, or fetches it and writes it here.
    static func send(_ arguments: RoleArguments) throws {
        let folder = try arguments.url(0)
        let plan = try JSONDecoder().decode(Self.self, from: Data(try arguments.text(1).utf8))
        let isOut = try arguments.text(2) == "out"
        let ready = try Ready.read(folder)
        var limits = CurlLimits()
        limits.authorityFile = URL(fileURLWithPath: ready.authority)
        let handle = try CurlHandle(limits: limits)
        let own = try RawRecords(path: folder.appendingPathComponent("device.sqlite").path)
        let body = Data(repeating: 9, count: plan.wireBytes)
        var found = Findings()
        found["seconds"] = try Stopwatch.seconds {
            for first in stride(from: 1, through: plan.records, by: plan.perRequest) {
                let count = min(plan.perRequest, plan.records - first + 1)
                let bytes = isOut ? plan.recordBytes : plan.wireBytes
                let url = "\(ready.url)/?first=\(first)&count=\(count)&bytes=\(bytes)"
                let call = CurlCall(
                    method: isOut ? "POST" : "GET", url: url, body: isOut ? body : Data())
                guard try handle.perform(call).status == 200 else {
                    throw BenchmarkError("The bare server refused a request.")
                }
                if !isOut { try own.insert(count, from: first, bytes: plan.recordBytes) }
            }
        }
        found.send()
    }
}
