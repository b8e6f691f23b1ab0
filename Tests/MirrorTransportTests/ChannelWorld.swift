import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordService
import RecordWire

/// A service with a file and TLS, and channels to it.
final class ChannelWorld {
    private static let container = "iCloud.org.example"
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("diptych-channel-\(UUID().uuidString)")
    private let server: RecordServer
    private let service: RecordService
    private let url: URL
    let credentials: Credentials

    /// With `tokenDays` the user's token ends after so many.
    init(platform: Environment = .system, tokenDays: Int? = nil) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        service = try RecordService(
            path: folder.appendingPathComponent("records.sqlite").path, platform: platform)
        try service.accounts.createContainer(Self.container)
        let user = try service.accounts.createUser(label: "me")
        credentials = Credentials(
            apiToken: try service.accounts.issueAPIToken(container: Self.container, label: "test")
                .secret,
            userToken: try service.accounts.issueUserToken(
                userRecordName: user.userRecordName, label: "test", days: tokenDays
            ).secret)
        var configuration = ServerConfiguration(
            tls: .automatic(folder: folder.appendingPathComponent("tls"), hosts: []))
        configuration.port = 0
        server = RecordServer(service: service, configuration: configuration)
        url = try server.start()
    }

    /// The token of another user.
    func token(of label: String) throws -> String {
        let user = try service.accounts.createUser(label: label).userRecordName
        return try service.accounts.issueUserToken(userRecordName: user, label: label).secret
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    func channel(_ change: (inout ChannelConfiguration) -> Void = { _ in }) throws -> CurlChannel {
        var configuration = ChannelConfiguration(
            serviceURL: url, target: RecordTarget(container: Self.container, deviceID: "laptop"),
            credentials: credentials)
        configuration.authorityFile = server.authorityFile
        change(&configuration)
        return try CurlChannel(configuration: configuration)
    }
}
