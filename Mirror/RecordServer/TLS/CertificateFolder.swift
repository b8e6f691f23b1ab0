public import Foundation
public import Platform

/// The local authority and the server's certificate, kept in a folder and made when first needed.
///
/// `authority.pem` is what clients trust; it stays the same for ten years. `authority-key.pem` and
/// `server.pem` (key and certificate) are readable by their owner only. One process at a time works
/// in the folder; others wait.
public struct CertificateFolder: Sendable {
    private let folder: URL
    private let platform: Environment

    public init(_ folder: URL, platform: Environment = .system) {
        self.folder = folder
        self.platform = platform
    }

    /// The file that clients name as the authority to trust.
    public var authorityFile: URL { folder.appendingPathComponent("authority.pem") }
    private var authorityKeyFile: URL { folder.appendingPathComponent("authority-key.pem") }
    var serverFile: URL { folder.appendingPathComponent("server.pem") }

    /// Returns a certificate for this machine's names and `hosts`: the one on file, or a new one
    /// where that is due within 90 days or lacks a host. Throws `ServerError`.
    public func identity(hosts: [String]) throws -> TLSIdentity {
        let names = ["localhost", "127.0.0.1", "::1"]
        let wanted = names + hosts.filter { !names.contains($0) && !isAnyAddress($0) }
        try wanted.forEach(HostName.check)
        return try FolderLock.hold(folder) {
            if let kept = try keptIdentity(for: wanted) { return kept }
            let (authority, key) = try authority()
            return try issue(for: wanted, authority, key)
        }
    }

    /// Addresses that stand for all interfaces name no host.
    private func isAnyAddress(_ host: String) -> Bool { host == "0.0.0.0" || host == "::" }

    private func keptIdentity(for hosts: [String]) throws -> TLSIdentity? {
        guard let text = try SecretFile.read(serverFile),
            let authorityText = try SecretFile.read(authorityFile),
            let certificate = try? Certificate(pem: text), let key = try? PrivateKey(pem: text),
            let authority = try? Certificate(pem: authorityText)
        else { return nil }
        let now = platform.clock.now()
        let isFit =
            certificate.belongs(to: key) && certificate.isSigned(by: authority)
            && hosts.allSatisfy(certificate.isFor)
            && certificate.isValid(at: now, forSeconds: Days.renewal * 86_400)
            && authority.isValid(at: now, forSeconds: 0)
        guard isFit else { return nil }
        return TLSIdentity(certificatePEM: try certificate.pem(), keyPEM: try key.pem())
    }

    private func authority() throws -> (Certificate, PrivateKey) {
        let certificateText = try SecretFile.read(authorityFile)
        let keyText = try SecretFile.read(authorityKeyFile)
        if certificateText != nil, keyText == nil {
            throw ServerError(
                .authorityKeyMissing,
                "The local authority's key is gone, so no certificate can be made; restore it, or "
                    + "remove the authority's certificate to make a new authority, which every "
                    + "client must then be told to trust.",
                fields: ["path": authorityKeyFile.path])
        }
        let key = try keyText.map(PrivateKey.init(pem:)) ?? PrivateKey()
        if keyText == nil { try SecretFile.write(key.pem(), to: authorityKeyFile, mode: 0o600) }
        if let certificateText {
            let certificate = try Certificate(pem: certificateText)
            guard certificate.belongs(to: key) else { throw mismatch }
            // An authority at its end is replaced under the same key and name.
            if certificate.isValid(at: platform.clock.now(), forSeconds: Days.server * 86_400) {
                return (certificate, key)
            }
        }
        let made = try CertificateRequest(
            role: .authority, commonName: "Diptych local authority", serial: serial(),
            notBefore: begin, days: Int(Days.authority)
        ).signed(for: key, by: key, issuer: nil)
        try SecretFile.write(made.pem(), to: authorityFile, mode: 0o644)
        return (made, key)
    }

    private func issue(
        for hosts: [String], _ authority: Certificate, _ authorityKey: PrivateKey
    ) throws -> TLSIdentity {
        let key = try PrivateKey()
        let made = try CertificateRequest(
            role: .server(hosts: hosts), commonName: "Diptych record service", serial: serial(),
            notBefore: begin, days: Int(Days.server)
        ).signed(for: key, by: authorityKey, issuer: authority)
        let identity = TLSIdentity(certificatePEM: try made.pem(), keyPEM: try key.pem())
        try SecretFile.write(
            identity.keyPEM + identity.certificatePEM, to: serverFile, mode: 0o600)
        return identity
    }

    private var mismatch: ServerError {
        ServerError(
            .badCertificate,
            "The local authority's certificate and key do not belong together; restore the pair "
                + "from a backup, or remove both to make a new authority.",
            fields: ["path": authorityFile.path])
    }

    /// An hour back, for clients whose clocks are behind.
    private var begin: Date { platform.clock.now().addingTimeInterval(-3_600) }

    private func serial() -> UInt64 { platform.randomness.next() >> 1 | 1 }

    private enum Days {
        static let authority = 3_650.0
        static let server = 397.0
        static let renewal = 90.0
    }
}
