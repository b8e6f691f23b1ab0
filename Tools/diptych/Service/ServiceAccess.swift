internal import Foundation
internal import MirrorTransport
internal import RecordService

/// Makes sure that a container, a user and their tokens are there.
struct ServiceAccess {
    let service: RecordService
    let folder: DataFolder
    /// What the service's database is called.
    let place: String

    static let standardContainer = "iCloud.local.diptych"

    /// The container to serve when nobody names one: that whose tokens are in the folder, or the
    /// first there is.
    func container(named name: String?) throws -> String {
        if let name { return name }
        let containers = try service.accounts.containers()
        return containers.first { PrivateFile.isTaken(folder.tokens(of: $0)) } ?? containers.first
            ?? Self.standardContainer
    }

    /// Returns the tokens where they were made just now; those made earlier stand in the file only.
    func prepare(
        _ container: String, warn: (String) -> Void
    ) throws -> (api: String, user: String)? {
        try service.accounts.createContainer(container)
        let file = folder.tokens(of: container)
        guard !PrivateFile.isTaken(file) else {
            try admit(file, container, warn)
            return nil
        }
        let owner = try owner()
        let api = try service.accounts.issueAPIToken(container: container, label: Self.label).secret
        let own = try service.accounts.issueUserToken(userRecordName: owner, label: Self.label)
            .secret
        try TokenFile.write(api: api, user: own, container: container, to: file)
        return (api, own)
    }

    private static let label = "serve"

    /// The user whose tokens this command made before, in whatever container; else a new one.
    /// Somebody who was made in code gets no tokens that an owner of the folder can read.
    private func owner() throws -> String {
        if let known = try service.accounts.user(ofTokensLabelled: Self.label) { return known }
        return try service.accounts.createUser(label: "owner").userRecordName
    }

    /// Takes the tokens of the file in again where the service knows nothing of them: its database
    /// was deleted, and every device would be refused for ever.
    private func admit(_ file: URL, _ container: String, _ warn: (String) -> Void) throws {
        let tokens = try TokenFile.read(file).credentials
        let isGood = try? service.authenticate(
            apiToken: tokens.apiToken, userToken: tokens.userToken, container: container)
        guard isGood == nil else { return }
        do {
            try service.accounts.takeIn(
                apiToken: tokens.apiToken, userToken: tokens.userToken ?? "",
                container: container, userRecordName: try owner(), label: Self.label)
            warn(
                "\(place) knew nothing of the tokens in \(file.path), as after it was deleted; "
                    + "they are good again, for a service without the records of before. Devices "
                    + "send theirs at their next sync; if you have a backup, stop and restore it.")
        } catch {
            warn(
                "the tokens in \(file.path) are not good: devices that use them are refused. "
                    + "Move the file away and start again to make new ones, and give those to "
                    + "the devices.")
        }
    }
}
