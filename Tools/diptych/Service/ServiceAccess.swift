internal import Foundation
internal import RecordService

/// Makes sure that a container, a user and their tokens are there.
struct ServiceAccess {
    let service: RecordService
    let folder: DataFolder

    static let standardContainer = "iCloud.local.diptych"

    /// The container to serve when nobody names one: the first there is.
    func container(named name: String?) throws -> String {
        if let name { return name }
        return try service.accounts.containers().first ?? Self.standardContainer
    }

    /// Returns the tokens where they were made just now; those made earlier stand in the file only.
    func prepare(_ container: String) throws -> (api: String, user: String)? {
        try service.accounts.createContainer(container)
        let file = folder.tokens(of: container)
        guard !FileManager.default.fileExists(atPath: file.path) else { return nil }
        let user =
            try service.accounts.users().first ?? service.accounts.createUser(label: "owner")
        let api = try service.accounts.issueAPIToken(container: container, label: "serve").secret
        let own = try service.accounts.issueUserToken(
            userRecordName: user.userRecordName, label: "serve"
        ).secret
        try TokenFile.write(api: api, user: own, container: container, to: file)
        return (api, own)
    }
}
