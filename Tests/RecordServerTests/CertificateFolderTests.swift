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

    /// A key whose volume is not there just now gets no other in its place.
    @Test(arguments: ["authority.pem", "authority-key.pem", "server.pem"])
    func aLinkThatLeadsNowhereIsNotReplaced(name: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try certificates().identity(hosts: [])
        let file = folder.appendingPathComponent(name).path
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createSymbolicLink(
            atPath: file, withDestinationPath: "/gone/\(name)")
        // What the server's certificate is made of is looked at where that is due anew.
        #expect(throws: ServerError.self) {
            try certificates(atDay: 400).identity(hosts: [])
        }
        let destination = try? FileManager.default.destinationOfSymbolicLink(atPath: file)
        #expect(destination == "/gone/\(name)")
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
