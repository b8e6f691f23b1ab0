internal import Foundation
internal import RecordWire
internal import SQLiteDriver

/// For whom a store is mirrored: what one user has is never sent as another, nor mixed with what
/// that one has.
extension MirroredStore {
    /// A store whose ledger names nobody becomes the store of `caller`; nil where nobody is known.
    /// The public database is everybody's, and may be gone on with by another, who may write what
    /// was refused to the one before.
    func checkUser(_ caller: CallerReply?, _ ledger: Ledger) throws {
        guard let caller else { return }
        let asked = MirrorUser(caller)
        let known = try ledger.setting(.user)?.string.map(MirrorUser.init(kept:))
        if settings.database == .public {
            if let known, known != asked { try ledger.forgetRefusals(.accessDenied) }
        } else if let known, !known.mayBe(asked) {
            throw MirrorError(
                .otherUser,
                "The store is mirrored for another user than the one who is signed in. Sign in as "
                    + "before, or run 'diptych reset' to give all that is in it to this user.",
                fields: ["known": known.name, "asked": asked.name])
        }
        if known != asked { try ledger.set(.user, to: .text(asked.kept)) }
    }
}

extension Ledger {
    /// The record name of the user for whom the store is mirrored; nil where nobody is known.
    func userName() throws -> String? {
        try setting(.user)?.string.map(MirrorUser.init(kept:))?.name
    }
}

/// A user of one service.
private struct MirrorUser: Equatable {
    /// Empty for one that does not say which it is.
    let service: String
    /// The user's record name.
    let name: String

    init(_ caller: CallerReply) {
        service = caller.serviceID?.replacingOccurrences(of: " ", with: "") ?? ""
        name = caller.userRecordName
    }

    /// As the ledger has it.
    init(kept text: String) {
        service = String(text.prefix { $0 != " " })
        name = String(text.dropFirst(service.count + 1))
    }

    var kept: String { "\(service) \(name)" }

    /// A service that lost its users calls the same ones otherwise. It is another one then, to
    /// which the zone is told anew.
    func mayBe(_ other: MirrorUser) -> Bool {
        name == other.name
            || !service.isEmpty && !other.service.isEmpty && service != other.service
    }
}
