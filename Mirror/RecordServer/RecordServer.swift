public import Foundation
package import Platform

/// The record service on the network: TLS, HTTP, routes, and the service behind them.
public final class RecordServer: Sendable {
    private let configuration: ServerConfiguration
    private let http: HTTPServer
    private let watch: ServiceWatch
    private let readiness: Readiness
    private let metrics: MetricsListener
    private let listening = Lock<ListenPlace?>(nil)
    private let certificates: CertificateKeeper
    private let ticker = Lock<Ticker?>(nil)

    package init(
        door: Authenticator, capabilities: ServerCapabilities?, configuration: ServerConfiguration,
        platform: Environment, watch: ServiceWatch = ServiceWatch()
    ) {
        self.watch = watch
        self.configuration = configuration
        certificates = CertificateKeeper(configuration, platform: platform)
        let readiness = Readiness(clock: platform.clock, look: watch.unreadiness)
        let health = HealthAnswers(readiness: readiness)
        let page = MetricsPage(
            version: configuration.version, watch: watch, readiness: readiness,
            clock: platform.clock)
        let router = Router(
            door: door, capabilities: capabilities, configuration: configuration,
            platform: platform, health: health)
        let log = configuration.accessLog
        let crossing = CrossOrigin(configuration.http.origins)
        let http = HTTPServer(
            configuration: configuration.http, platform: platform,
            log: { entry in
                page.requests.note(entry)
                log?(entry)
            },
            admit: { [annex = configuration.annex] request in
                guard let admission = annex?.admit(request) else {
                    return crossing.preflight(request)
                        ?? crossing.marked(router.admit(request), request)
                }
                return router.limited(admission, request).noting(.ofConsole)
            })
        metrics = MetricsListener(platform: platform, health: health) {
            page.text(http.traffic)
        }
        self.http = http
        self.readiness = readiness
    }

    /// Connections and requests since the start.
    public var statistics: HTTPStatistics { http.statistics }

    /// Requests whose answers are held back at this moment.
    public var heldRequests: Int { http.heldRequests }

    /// Bytes of requests and answers that are in memory at this moment.
    public var bufferedBytes: Int { http.traffic.bufferedBytes }

    /// The certificate that clients are to trust; nil where it is not of the local authority.
    public var authorityFile: URL? {
        certificates.authorityFile
    }

    /// Where figures and probes are to be had since `start`; nil where nobody asked for it.
    public var metricsPlace: ListenPlace? { listening.withLock { $0 } }

    /// Listens, and returns the address clients use. Throws `ServerError`. While it runs, files of
    /// a certificate that are exchanged are taken within some seconds, and one of the local
    /// authority is renewed when due.
    public func start() throws -> URL {
        let identity = try certificates.identity()
        readiness.beginAgain()
        let port = try http.start(
            address: configuration.address, port: configuration.port, tls: identity)
        do {
            try listenForMetrics()
        } catch {
            http.stop()
            throw error
        }
        ticker.withLock { $0 = Ticker(everySeconds: 1) { [weak self] in self?.tick() } }
        var parts = URLComponents()
        parts.scheme = identity == nil ? "http" : "https"
        parts.host = host
        parts.port = Int(port)
        guard let url = parts.url else {
            stop()
            throw ServerError(
                .badAddress, "No address for clients can be made of the listen address.",
                fields: ["address": configuration.address])
        }
        return url
    }

    /// Takes no new connection, answers what is held back, waits for the requests under way
    /// (`drainSeconds`), then closes. Blocks.
    public func stop() {
        readiness.beginStopping()
        let running = ticker.withLock { ticker in
            defer { ticker = nil }
            return ticker
        }
        running?.stop()
        http.stop()
        metrics.stop()
        listening.withLock { $0 = nil }
        if running != nil { watch.atEnd() }
    }

    /// Reads the certificate again, and shows it to new connections; those that are open go on.
    /// Throws a `ServerError` for one that cannot be used, and shows the former one then. Does
    /// nothing without TLS.
    public func reloadCertificate() throws {
        guard let identity = try certificates.identity() else { return }
        try http.exchange(tls: identity)
    }

    private func tick() {
        watch.everySecond()
        guard certificates.isDue() else { return }
        do {
            try reloadCertificate()
            configuration.certificateLog?(nil)
        } catch {
            configuration.certificateLog?(
                error as? ServerError
                    ?? ServerError(.badCertificate, "The certificate cannot be read.", cause: error)
            )
        }
    }

    private func listenForMetrics() throws {
        guard var place = configuration.metrics else { return }
        place.port = try metrics.start(at: place)
        let found = place
        listening.withLock { $0 = found }
    }

    private var host: String {
        switch configuration.address {
        case "0.0.0.0", "::": "localhost"
        case let address where address.contains(":"): "[\(address)]"
        case let address: address
        }
    }
}
