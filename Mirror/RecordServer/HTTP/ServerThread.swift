internal import CMicroHTTPD
internal import Platform

/// One thread of the server: a daemon of the library with the connections that were given to it.
final class ServerThread: @unchecked Sendable {
    // @unchecked: `library` is set before any connection is given to it, and guards what it names.
    let daemon: HTTPDaemon
    var library: OpaquePointer?
    private let busy = Lock(false)

    init(_ daemon: HTTPDaemon) { self.daemon = daemon }

    /// Whether it is at work for one of its connections, and the others wait.
    var isBusy: Bool { busy.withLock { $0 } }

    var connections: UInt32 { library.map(diptych_mhd_connections) ?? 0 }

    func atWork<Result>(_ body: () -> Result) -> Result {
        busy.withLock { $0 = true }
        defer { busy.withLock { $0 = false } }
        return body()
    }
}
