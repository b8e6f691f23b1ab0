import Foundation
import Platform
import RecordServer
import Testing

@Suite struct CertificateFolderTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("diptych-tls-\(UUID().uuidString)")

    private func certificates(atDay day: Double = 0) -> CertificateFolder {
        var platform = Environment.system
        platform.clock = FixedClock(date: Date().addingTimeInterval(day * 86_400))
        return CertificateFolder(folder, platform: platform)
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }

    private func mode(_ name: String) throws -> Int? {
        let path = folder.appendingPathComponent(name).path
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test func theFirstRunMakesBothAndTheSecondKeepsThem() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try certificates().identity(hosts: ["records.example.org"])
        let authority = try text("authority.pem")
        let second = try certificates().identity(hosts: ["records.example.org"])
        #expect(first.certificatePEM == second.certificatePEM && first.keyPEM == second.keyPEM)
        #expect(try text("authority.pem") == authority)
        #expect(try mode("authority-key.pem") == 0o600)
        #expect(try mode("server.pem") == 0o600)
        #expect(try mode("authority.pem") == 0o644)
        #expect(!first.certificatePEM.contains("PRIVATE KEY"))
        #expect(!authority.contains("PRIVATE KEY"))
    }

    @Test func anotherHostGetsAnotherCertificateUnderTheSameAuthority() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try certificates().identity(hosts: ["0.0.0.0"])
        let authority = try text("authority.pem")
        #expect(try certificates().identity(hosts: ["127.0.0.1", "::"]) == first)
        let second = try certificates().identity(hosts: ["192.0.2.7"])
        #expect(second != first)
        #expect(try text("authority.pem") == authority)
    }

    @Test func aCertificateIsRenewedWhenDueAndTheAuthorityStays() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try certificates().identity(hosts: [])
        let authority = try text("authority.pem")
        #expect(try certificates(atDay: 306).identity(hosts: []) == first)
        #expect(try certificates(atDay: 308).identity(hosts: []) != first)
        #expect(try text("authority.pem") == authority)
    }

    @Test func aDamagedServerFileIsMadeAgain() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try certificates().identity(hosts: [])
        try Data("nonsense".utf8).write(to: folder.appendingPathComponent("server.pem"))
        #expect(try certificates().identity(hosts: []) != first)
    }

    @Test func anAuthorityWithoutItsKeyServesOnButIssuesNothing() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try certificates().identity(hosts: [])
        try FileManager.default.removeItem(at: folder.appendingPathComponent("authority-key.pem"))
        #expect(try certificates().identity(hosts: []) == first)
        let error = #expect(throws: ServerError.self) {
            try certificates().identity(hosts: ["new.example.org"])
        }
        #expect(error?.code == .authorityKeyMissing)
    }

    @Test(arguments: ["a,DNS:evil.org", "a b", "", "ä.org", "email:x"])
    func aHostThatIsNoneEntersNoCertificate(_ host: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let error = #expect(throws: ServerError.self) {
            try certificates().identity(hosts: [host])
        }
        #expect(error?.code == .badAddress)
    }

    @Test func aFolderThatCannotBeMadeIsSaidInWords() throws {
        try Data().write(to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let error = #expect(throws: ServerError.self) { try certificates().identity(hosts: []) }
        #expect(error?.code == .cannotWrite)
    }

    @Test func aBadCertificateOrKeyStopsTheStart() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let good = try certificates().identity(hosts: [])
        let other = try certificates().identity(hosts: ["other.example.org"])
        #expect(start(good) == nil)
        #expect(start(TLSIdentity(certificatePEM: "x", keyPEM: good.keyPEM)) == .badCertificate)
        #expect(start(TLSIdentity(certificatePEM: good.certificatePEM, keyPEM: "x")) == .badKey)
        let mixed = TLSIdentity(certificatePEM: good.certificatePEM, keyPEM: other.keyPEM)
        #expect(start(mixed) == .badCertificate)
    }

    private func start(_ identity: TLSIdentity) -> ServerError.Code? {
        let server = HTTPServer(configuration: HTTPConfiguration(), platform: .system) { _ in
            HTTPResponse(status: 200)
        }
        defer { server.stop() }
        do {
            _ = try server.start(address: "127.0.0.1", port: 0, tls: identity)
            return nil
        } catch {
            return (error as? ServerError)?.code
        }
    }
}

struct FixedClock: Clock {
    var date: Date
    func now() -> Date { date }
}
