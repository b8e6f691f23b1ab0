public import Foundation
public import RecordWire

/// Where a channel leads and within which bounds.
public struct ChannelConfiguration: Sendable {
    /// The service's address, such as `https://records.example.org:8443`.
    public var serviceURL: URL
    public var target: RecordTarget
    public var credentials: Credentials
    /// PEM file of the authorities to trust, and no others; nil for those of the system.
    public var authorityFile: URL?
    public var connectSeconds = 15.0
    /// `.infinity`: as long as it takes, as for the other two.
    public var totalSeconds = 300.0
    /// A transfer that moves nothing for so long is given up.
    public var stallSeconds = 30.0
    /// nil: as fast as it goes.
    public var bytesPerSecondMax: Int?
    /// The largest answer taken, in bytes after decompression.
    public var responseBytesMax = 64 << 20
    /// How the service speaks; nil: as it publishes. Without extensions tokens travel in the query
    /// and bodies plain.
    public var dialect: ServiceDialect?
    /// Whether records travel as JSON also where the service takes them archived: for who looks at
    /// what travels.
    public var sendsJSON = false
    /// The user's token, shared by channels to one service that may give a new one with an answer;
    /// nil: the channel has its own, and takes a new one only where it must.
    public var rotatingToken: RotatingToken?

    public init(serviceURL: URL, target: RecordTarget, credentials: Credentials) {
        self.serviceURL = serviceURL
        self.target = target
        self.credentials = credentials
    }

    /// Throws unless a channel can be made of it.
    func check() throws {
        try credentials.check()
        let scheme = serviceURL.scheme?.lowercased()
        let host = serviceURL.host ?? ""
        guard scheme == "https" || scheme == "http", !host.isEmpty, serviceURL.query == nil else {
            throw TransportError(
                .badConfiguration, "The service's address cannot be used; write https://host:port.")
        }
        let device = target.deviceID ?? ""
        guard device.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw TransportError(
                .badConfiguration,
                "The device's id holds a character outside ASCII; choose another.")
        }
    }

    var limits: CurlLimits {
        var limits = CurlLimits()
        limits.authorityFile = authorityFile
        limits.connectSeconds = connectSeconds
        limits.totalSeconds = totalSeconds
        limits.stallSeconds = stallSeconds
        limits.bytesPerSecondMax = bytesPerSecondMax
        limits.responseBytesMax = responseBytesMax
        return limits
    }
}
