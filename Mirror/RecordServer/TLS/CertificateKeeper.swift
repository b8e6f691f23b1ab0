internal import Foundation
internal import Platform

/// Where a server's certificate comes from, and when it is to be read again.
final class CertificateKeeper: Sendable {
    private let tls: ServerConfiguration.TLS
    private let address: String
    private let platform: Environment
    /// nil where there are no files to look at.
    private let watch: CertificateWatch?
    private let renewal: Lock<Date>

    /// How often a certificate of the local authority is looked at for its age.
    private static let renewalSeconds = 12.0 * 3_600

    init(_ configuration: ServerConfiguration, platform: Environment) {
        tls = configuration.tls
        address = configuration.address
        self.platform = platform
        watch = Self.watch(configuration.tls, platform)
        renewal = Lock(platform.clock.now())
    }

    private static func watch(
        _ tls: ServerConfiguration.TLS, _ platform: Environment
    ) -> CertificateWatch? {
        switch tls {
        case .off: nil
        case .automatic(let folder, _):
            CertificateWatch([CertificateFolder(folder, platform: platform).serverFile])
        case .files(let certificate, let key): CertificateWatch([certificate, key])
        }
    }

    /// The file of the authority that clients are to trust; nil where the certificate is not of
    /// the local one.
    var authorityFile: URL? {
        guard case .automatic(let folder, _) = tls else { return nil }
        return CertificateFolder(folder, platform: platform).authorityFile
    }

    /// The certificate of now; nil without TLS. Throws `ServerError`.
    func identity() throws -> TLSIdentity? {
        // Before it is read, so that what comes meanwhile is read again.
        _ = watch?.hasChanged()
        switch tls {
        case .off: return nil
        case .automatic(let folder, let hosts):
            // The folder writes its file itself.
            defer { _ = watch?.hasChanged() }
            return try CertificateFolder(folder, platform: platform)
                .identity(hosts: hosts + [address])
        case .files(let certificate, let key):
            return TLSIdentity(
                certificatePEM: try text(certificate, .badCertificate),
                keyPEM: try text(key, .badKey))
        }
    }

    /// Whether the certificate should be read again: its files were exchanged, or it may be old.
    func isDue() -> Bool {
        guard let watch else { return false }
        if watch.hasChanged() { return true }
        guard case .automatic = tls else { return false }
        let now = platform.clock.now()
        return renewal.withLock { last in
            guard now.timeIntervalSince(last) >= Self.renewalSeconds else { return false }
            last = now
            return true
        }
    }

    private func text(_ file: URL, _ code: ServerError.Code) throws -> String {
        guard let text = try SecretFile.read(file) else {
            throw ServerError(
                code, "The file of the certificate or key is not there; look at its path.",
                fields: ["path": file.path])
        }
        return text
    }
}
