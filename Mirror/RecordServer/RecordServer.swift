public import Foundation
package import Platform

/// The record service on the network: TLS, HTTP, routes, and the service behind them.
public final class RecordServer: Sendable {
    private let configuration: ServerConfiguration
    private let platform: Environment
    private let http: HTTPServer
    private let everySecond: (@Sendable () -> Void)?
    private let atEnd: (@Sendable () -> Void)?
    private let ticker = Lock<Ticker?>(nil)

    package init(
        door: Authenticator, capabilities: ServerCapabilities?, configuration: ServerConfiguration,
        platform: Environment, everySecond: (@Sendable () -> Void)? = nil,
        atEnd: (@Sendable () -> Void)? = nil
    ) {
        self.everySecond = everySecond
        self.atEnd = atEnd
        self.configuration = configuration
        self.platform = platform
        let router = Router(
            door: door, capabilities: capabilities, configuration: configuration,
            platform: platform)
        http = HTTPServer(
            configuration: configuration.http, platform: platform, log: configuration.accessLog,
            admit: { [annex = configuration.annex] in annex?($0) ?? router.admit($0) })
    }

    /// Connections and requests since the start.
    public var statistics: HTTPStatistics { http.statistics }

    /// Requests whose answers are held back at this moment.
    public var heldRequests: Int { http.heldRequests }

    /// The certificate that clients are to trust; nil where it is not of the local authority.
    public var authorityFile: URL? {
        guard case .automatic(let folder, _) = configuration.tls else { return nil }
        return CertificateFolder(folder, platform: platform).authorityFile
    }

    /// Listens, and returns the address clients use. Throws `ServerError`. A certificate of the
    /// local authority is renewed here when due, so a server must start anew at least every 90
    /// days.
    public func start() throws -> URL {
        let identity = try identity()
        let port = try http.start(
            address: configuration.address, port: configuration.port, tls: identity)
        ticker.withLock { $0 = everySecond.map { Ticker(everySeconds: 1, $0) } }
        var parts = URLComponents()
        parts.scheme = identity == nil ? "http" : "https"
        parts.host = host
        parts.port = Int(port)
        guard let url = parts.url else {
            http.stop()
            throw ServerError(
                .badAddress, "No address for clients can be made of the listen address.",
                fields: ["address": configuration.address])
        }
        return url
    }

    /// Takes no new connection, answers what is held back, waits for the requests under way
    /// (`drainSeconds`), then closes. Blocks.
    public func stop() {
        let running = ticker.withLock { ticker in
            defer { ticker = nil }
            return ticker
        }
        running?.stop()
        http.stop()
        if running != nil { atEnd?() }
    }

    private var host: String {
        switch configuration.address {
        case "0.0.0.0", "::": "localhost"
        case let address where address.contains(":"): "[\(address)]"
        case let address: address
        }
    }

    private func identity() throws -> TLSIdentity? {
        switch configuration.tls {
        case .off: nil
        case .automatic(let folder, let hosts):
            try CertificateFolder(folder, platform: platform)
                .identity(hosts: hosts + [configuration.address])
        case .files(let certificate, let key):
            TLSIdentity(
                certificatePEM: try text(certificate, .badCertificate),
                keyPEM: try text(key, .badKey))
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
