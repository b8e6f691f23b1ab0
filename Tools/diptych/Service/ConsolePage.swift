internal import Foundation
internal import Platform
internal import RecordServer
internal import RecordService
internal import ServiceConsole

/// The console before a server: it answers its own paths and counts all requests.
final class ConsolePage: Sendable {
    private let server = Lock<RecordServer?>(nil)

    init(
        of service: RecordService, in configuration: inout ServerConfiguration,
        _ provider: SignInProvider?, backups: URL
    ) {
        let isEncrypted = if case .off = configuration.tls { false } else { true }
        let console = ServiceConsole(
            service: service, isEncrypted: isEncrypted, provider: provider, backups: backups
        ) {
            [server] in
            guard let server = server.withLock({ $0 }) else { return ServerActivity() }
            let statistics = server.statistics
            return ServerActivity(
                connections: statistics.connections, requests: statistics.requests,
                heldRequests: server.heldRequests)
        }
        console.stand(before: &configuration)
    }

    /// The server whose activity is shown.
    func show(_ server: RecordServer) { self.server.withLock { $0 = server } }
}
