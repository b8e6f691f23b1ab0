public import Foundation
internal import MirrorEngine
public import MirrorTransport
internal import RecordWire

/// Where a record service is, and by what it knows this user: what iCloud's account is at Apple.
public struct RecordServiceAddress: Sendable {
    /// The service's address, such as `https://records.example.org:8443`.
    public var url: URL
    public var credentials: Credentials
    /// PEM file of the authorities to trust, and no others; nil for those of the system.
    public var authorityFile: URL?
    /// `development` or `production`.
    public var environment = "development"
    /// Keeps the user's token where the service replaces it: before it ends, or with each answer,
    /// as iCloud does. nil: where the former one goes on being good it is shown until its end, and
    /// the user signs in again then.
    public var rotatingToken: RotatingToken?
    /// The app's version, such as `2.10`: from the version on from which fields are retired at the
    /// service, they are not sent here any more. nil: all fields are, as for an old app. Other
    /// texts than numbers with dots between are no version.
    public var clientVersion: String?

    public init(url: URL, credentials: Credentials, authorityFile: URL? = nil) {
        self.url = url
        self.credentials = credentials
        self.authorityFile = authorityFile
    }

    /// Whether requests are a user's. Those of nobody may read the public database.
    var isSignedIn: Bool {
        let token = rotatingToken.map(\.value) ?? credentials.userToken
        return token?.isEmpty == false
    }

    /// A way to a container there. Throws `TransportError` where the address cannot be used.
    func channel(
        container: String, deviceID: String, database: String = "private",
        bytesPerSecondMax: Int? = nil
    ) throws -> CurlChannel {
        var target = RecordTarget(
            container: container, environment: environment, database: database,
            deviceID: deviceID.isEmpty ? nil : deviceID)
        target.clientVersion = clientVersion.flatMap { ClientVersion($0) }
        var configuration = ChannelConfiguration(
            serviceURL: url, target: target, credentials: credentials)
        configuration.authorityFile = authorityFile
        configuration.rotatingToken = rotatingToken
        configuration.bytesPerSecondMax = bytesPerSecondMax
        return try CurlChannel(configuration: configuration)
    }
}
