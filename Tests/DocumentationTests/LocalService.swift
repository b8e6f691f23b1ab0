import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordService

/// A record service in this process, reached over TLS, with one user.
final class LocalService: Sendable {
    let folder: URL
    let url: URL
    let credentials: Credentials
    private let server: RecordServer
    private let accounts: ServiceAccounts

    var authority: URL? { server.authorityFile }

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("documentation-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let service = try RecordService(platform: .system)
        accounts = service.accounts
        let container = "iCloud.local.diptych"
        try service.accounts.createContainer(container)
        let user = try service.accounts.createUser(label: "reader").userRecordName
        credentials = Credentials(
            apiToken: try service.accounts.issueAPIToken(container: container, label: "test")
                .secret,
            userToken: try service.accounts.issueUserToken(userRecordName: user, label: "test")
                .secret)
        var configuration = ServerConfiguration(
            tls: .automatic(folder: folder.appendingPathComponent("tls"), hosts: []))
        configuration.port = 0
        server = RecordServer(service: service, configuration: configuration)
        url = try server.start()
    }

    /// The token of a second user.
    func tokenOfAnother() throws -> String {
        let user = try accounts.createUser(label: "another").userRecordName
        return try accounts.issueUserToken(userRecordName: user, label: "test").secret
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }
}
