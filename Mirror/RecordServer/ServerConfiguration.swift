public import Foundation
public import RecordService

/// Where a record server listens, and how.
public struct ServerConfiguration: Sendable {
    /// Where the certificate comes from.
    public enum TLS: Sendable {
        /// From a local authority in this folder, made on first run; `hosts` are the names that
        /// clients use besides localhost and the listen address.
        case automatic(folder: URL, hosts: [String])
        /// From PEM files.
        case files(certificate: URL, key: URL)
        /// None: tokens travel in the clear. For use behind a proxy that speaks TLS.
        case off
    }

    /// A numeric address or host name of this machine; `0.0.0.0` and `::` are all of them.
    public var address = "127.0.0.1"
    /// 0 takes a free port.
    public var port: UInt16 = 8_443
    public var tls: TLS
    public var http = HTTPConfiguration()
    /// The largest request body after decompression; the service's own limit stands above it.
    public var expandedBytesMax = 8 << 20
    /// How much each user may ask for; nil: what the service's limits say.
    public var throttle: ThrottleLimits?
    public var accessLog: AccessLog?
    public var failureLog: FailureLog?
    /// Hears of certificates that were exchanged while the server runs, or could not be.
    public var certificateLog: CertificateLog?
    /// Where figures and probes are to be had, in plain HTTP and without a token; nil: nowhere.
    public var metrics: ListenPlace?
    /// What the figures call this program's version.
    public var version: String?
    /// What answers before the routes are asked.
    package var annex: ServerAnnex?

    public init(tls: TLS) { self.tls = tls }
}

/// Paths beside the protocol's.
package struct ServerAnnex: Sendable {
    /// The path of the page where people sign in; nil where there is none.
    package var signInPath: String?
    /// nil for paths that are not its own.
    package var admit: @Sendable (HTTPRequest) -> Admission?

    package init(
        signInPath: String? = nil, admit: @escaping @Sendable (HTTPRequest) -> Admission?
    ) {
        self.signInPath = signInPath
        self.admit = admit
    }
}

/// An address of this machine, and a port of it.
public struct ListenPlace: Sendable, Hashable {
    /// A numeric address or host name; `0.0.0.0` and `::` are all of them.
    public var address: String
    /// 0 takes a free one.
    public var port: UInt16

    public init(address: String = "127.0.0.1", port: UInt16) {
        self.address = address
        self.port = port
    }
}

/// Receives nil when new connections are shown another certificate, and the reason where one that
/// was found cannot be used; the former one is shown then.
public typealias CertificateLog = @Sendable (_ failure: ServerError?) -> Void

/// Receives what failed inside the service under the id that the client was given. Holds no token.
public typealias FailureLog = @Sendable (_ uuid: String, _ error: any Error) -> Void
