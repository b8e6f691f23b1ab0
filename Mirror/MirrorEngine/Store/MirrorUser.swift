internal import SQLiteDriver

/// For whom a store is mirrored: what one user has is never sent as another, nor mixed with what
/// that one has.
extension MirroredStore {
    /// A store whose ledger names nobody becomes the store of `user`; nil where nobody is known.
    func checkUser(_ user: String?, _ ledger: Ledger) throws {
        guard let user else { return }
        guard let known = try ledger.setting(.user)?.string else {
            return try ledger.set(.user, to: .text(user))
        }
        guard known == user else {
            throw MirrorError(
                .otherUser,
                "The store is mirrored for another user than the one who is signed in. Sign in as "
                    + "before, or run 'diptych reset' to give all that is in it to this user.",
                fields: ["known": known, "asked": user])
        }
    }
}
