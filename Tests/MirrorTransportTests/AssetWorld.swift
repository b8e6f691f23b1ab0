import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordService
import RecordWire

/// A service on disk behind TLS, and channels to it.
final class AssetWorld {
    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("diptych-asset-world-\(UUID().uuidString)")
    let service: RecordService
    let server: RecordServer
    let url: URL
    let credentials: Credentials
    private let tokenID: String

    static let container = "iCloud.org.example"

    init(
        dialect: ServiceDialect = .extended,
        limits change: (inout ServiceLimits) -> Void = { _ in },
        configure: (inout ServerConfiguration) -> Void = { _ in }
    ) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var limits = ServiceLimits()
        change(&limits)
        service = try RecordService(
            path: folder.appendingPathComponent("records.sqlite").path, platform: .system,
            limits: limits, dialect: dialect)
        try service.accounts.createContainer(Self.container)
        let user = try service.accounts.createUser(label: "me")
        let token = try service.accounts.issueUserToken(
            userRecordName: user.userRecordName, label: "test")
        tokenID = token.description.id
        credentials = Credentials(
            apiToken: try service.accounts.issueAPIToken(
                container: Self.container, label: "test"
            ).secret, userToken: token.secret)
        var configuration = ServerConfiguration(
            tls: .automatic(folder: folder.appendingPathComponent("tls"), hosts: []))
        configuration.port = 0
        configure(&configuration)
        server = RecordServer(service: service, configuration: configuration)
        url = try server.start()
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    var incoming: String {
        folder.appendingPathComponent("records.sqlite-assets/incoming").path
    }

    func revokeToken() throws { try service.accounts.revoke(tokenID: tokenID) }

    func strangersToken() throws -> String {
        let user = try service.accounts.createUser(label: "other")
        return try service.accounts.issueUserToken(
            userRecordName: user.userRecordName, label: "test"
        ).secret
    }

    func channel(_ change: (inout ChannelConfiguration) -> Void = { _ in }) throws -> CurlChannel {
        var configuration = ChannelConfiguration(
            serviceURL: url,
            target: RecordTarget(container: Self.container, deviceID: "laptop"),
            credentials: credentials)
        configuration.authorityFile = server.authorityFile
        change(&configuration)
        return try CurlChannel(configuration: configuration)
    }

    func handle() throws -> CurlHandle {
        var limits = CurlLimits()
        limits.authorityFile = server.authorityFile
        return try CurlHandle(limits: limits)
    }
}
