import Foundation
import MirrorTransport
import Platform
import RecordServer
import Testing

/// Certificates that are exchanged while a server runs.
@Suite struct CertificateReloadTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("diptych-reload-\(UUID().uuidString)")
    private var certificate: URL { folder.appendingPathComponent("certificate.pem") }
    private var key: URL { folder.appendingPathComponent("key.pem") }

    /// An authority of its own for each name.
    private func authority(_ name: String) -> CertificateFolder {
        CertificateFolder(folder.appendingPathComponent(name))
    }

    private func install(_ name: String) throws {
        let identity = try authority(name).identity(hosts: [])
        try Data(identity.certificatePEM.utf8).write(to: certificate, options: .atomic)
        try Data(identity.keyPEM.utf8).write(to: key, options: .atomic)
    }

    private func client(trusting name: String) throws -> CurlHandle {
        var limits = CurlLimits()
        limits.authorityFile = authority(name).authorityFile
        limits.connectSeconds = 86_400
        limits.totalSeconds = 86_400
        return try CurlHandle(limits: limits)
    }

    private func server(_ log: @escaping CertificateLog = { _ in }) throws -> TestServer {
        try TestServer {
            $0.tls = .files(certificate: certificate, key: key)
            $0.certificateLog = log
        }
    }

    @Test func newConnectionsSeeTheNewOneAndOldOnesGoOn() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try install("old")
        let server = try server()
        let old = try client(trusting: "old")
        #expect(try old.perform(server.get("/health")).status == 200)
        try install("new")
        try server.server.reloadCertificate()
        #expect(try old.perform(server.get("/health")).status == 200)
        #expect(old.byteCount.connections == 1)
        #expect(try client(trusting: "new").perform(server.get("/health")).status == 200)
        #expect(throws: (any Error).self) {
            try client(trusting: "old").perform(server.get("/health"))
        }
        // And back again: what was shown before is not in the way.
        try install("old")
        try server.server.reloadCertificate()
        #expect(try client(trusting: "old").perform(server.get("/health")).status == 200)
        #expect(try old.perform(server.get("/health")).status == 200)
        #expect(old.byteCount.connections == 1)
    }

    @Test func whatCannotBeUsedLeavesTheFormerOne() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try install("old")
        let server = try server()
        let other = try authority("new").identity(hosts: [])
        try Data(other.keyPEM.utf8).write(to: key)
        let mixed = #expect(throws: ServerError.self) { try server.server.reloadCertificate() }
        #expect(mixed?.code == .badCertificate)
        try FileManager.default.removeItem(at: key)
        let gone = #expect(throws: ServerError.self) { try server.server.reloadCertificate() }
        #expect(gone?.code == .badKey)
        #expect(try client(trusting: "old").perform(server.get("/health")).status == 200)
    }

    @Test func filesThatAreExchangedAreTaken() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try install("old")
        let heard = DispatchSemaphore(value: 0)
        let failures = Lock(0)
        let server = try server { failure in
            if failure == nil { heard.signal() } else { failures.withLock { $0 += 1 } }
        }
        #expect(try client(trusting: "old").perform(server.get("/health")).status == 200)
        try install("new")
        #expect(heard.wait(timeout: .now() + 600) == .success)
        #expect(try client(trusting: "new").perform(server.get("/health")).status == 200)
        // A pair that is half exchanged is told, and taken once it is whole.
        #expect(failures.withLock { $0 } <= 1)
    }

    /// A server that is never started anew serves on when its certificate ends.
    @Test func theLocalAuthorityRenewsInTime() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let day = 86_400.0
        let clock = HandClock(Date() - 310 * day)
        var platform = Environment.system
        platform.clock = clock
        var configuration = ServerConfiguration(tls: .automatic(folder: folder, hosts: []))
        configuration.port = 0
        let heard = DispatchSemaphore(value: 0)
        configuration.certificateLog = { failure in if failure == nil { heard.signal() } }
        let service = TestService()
        let server = RecordServer(
            door: service.door, capabilities: ServerCapabilities(limits: [:], extensions: []),
            configuration: configuration, platform: platform)
        let url = try server.start()
        defer { server.stop() }
        let file = folder.appendingPathComponent("server.pem")
        let before = try Data(contentsOf: file)
        func ask() throws -> Int {
            var limits = CurlLimits()
            limits.authorityFile = server.authorityFile
            return try CurlHandle(limits: limits).perform(
                CurlCall(url: url.absoluteString + "/health")
            ).status
        }
        #expect(try ask() == 200)
        clock.advance(310 * day)
        #expect(heard.wait(timeout: .now() + 600) == .success)
        #expect(try Data(contentsOf: file) != before)
        #expect(try ask() == 200)
    }

    @Test func withoutTLSThereIsNothingToReload() throws {
        let server = try TestServer { $0.tls = .off }
        try server.server.reloadCertificate()
        #expect(try server.client().perform(server.get("/health")).status == 200)
    }
}
