internal import Foundation
public import RecordWire

/// How long a token is good, and the text that it had before it was renewed.
///
/// A renewed token keeps its name, so that whatever hangs on the name goes on. Its new text is made
/// of the former one and a seed: who shows the former one again, because the answer was lost, is
/// told the same text again, and who has the rows only cannot tell it.
struct TokenLife {
    /// What it had before it was renewed.
    struct Former {
        var hash: Data
        var seed: Data
        /// Milliseconds since 1970.
        var until: Int64
    }

    /// From each renewal on.
    var milliseconds: Int64
    /// Milliseconds since 1970.
    var endsAt: Int64
    var former: Former?

    /// How long the former text is good once the new one was shown: other requests of the same
    /// device may be under way.
    static let graceMilliseconds: Int64 = 3_600_000
    static let seedBytes = 32

    /// The part of a life, at its end, in which a token is renewed.
    var renewsFrom: Int64 { endsAt - milliseconds / 3 }
}

/// When a token ends that was shown, and what to show in its place.
package struct TokenOutlook: Sendable {
    /// Milliseconds since 1970.
    package var expiresAt: Int64
    /// nil while it need not be renewed.
    package var next: String?
}

/// Tokens that end, and go on under another text.
extension ServiceAccounts {
    /// A good token, as it was shown.
    struct Shown {
        var row: TokenRow
        var hash: Data
        var isFormer: Bool { hash != row.hash }
    }

    static let dayMilliseconds: Int64 = 86_400_000

    /// The end of a token that is made now; nil for none. Throws BAD_REQUEST for less than a day.
    func life(days: Int?) throws(RecordError) -> TokenLife? {
        guard let days else { return nil }
        guard (1...36_500).contains(days) else {
            throw RecordError(.badRequest, "A token is good for 1 to 36500 days.")
        }
        let milliseconds = Int64(days) * Self.dayMilliseconds
        return TokenLife(
            milliseconds: milliseconds, endsAt: platform.milliseconds + milliseconds)
    }

    /// The row behind a token's text. Unknown, wrong and revoked ones are refused in the same
    /// words; that a token has ended is told to who has its text.
    func shown(_ text: String, _ kind: TokenDescription.Kind) throws(RecordError) -> Shown {
        guard let parts = TokenText(text),
            let row = try token(parts.id),
            let hash = try? SecretHash.sha256(text),
            row.description.revokedAt == nil, row.description.kind == kind
        else { throw Self.refused(kind) }
        let isCurrent = SecretHash.areEqual(hash, row.hash)
        let former = row.life?.former.flatMap { former in
            SecretHash.areEqual(hash, former.hash) ? former : nil
        }
        guard isCurrent || former != nil else { throw Self.refused(kind) }
        let now = platform.milliseconds
        if let end = isCurrent ? row.life?.endsAt : former?.until, end <= now {
            throw Self.ended(kind, wasRenewed: !isCurrent)
        }
        if isCurrent { arrived(row, now) }
        uses.note(parts.id, at: now)
        return Shown(row: row, hash: hash)
    }

    /// The device has the new text: the former one ends soon. Where that cannot be written it stays
    /// good until its own end, and the next request tries again.
    private func arrived(_ row: TokenRow, _ now: Int64) {
        let soon = now + TokenLife.graceMilliseconds
        guard let former = row.life?.former, former.until > soon else { return }
        try? backend.write { transaction in
            guard var row = try transaction.token(row.description.id), let former = row.life?.former
            else { return }
            row.life?.former?.until = min(former.until, soon)
            _ = try transaction.renew(row, from: row.hash)
        }
    }

    /// When a user's token ends; in the last third of its life also the text that the device is to
    /// show from now on. The shown one stays good until the new one arrived, so that nothing is
    /// lost with an answer. nil for a token without an end. Cost: one transaction in a life.
    func outlook(of shown: Shown, _ text: String) -> TokenOutlook? {
        guard let life = shown.row.life else { return nil }
        var outlook = TokenOutlook(
            expiresAt: shown.isFormer ? life.former?.until ?? 0 : life.endsAt)
        let now = platform.milliseconds
        let isDue = life.renewsFrom <= now && life.former.map { $0.until <= now } ?? true
        guard shown.isFormer || isDue else { return outlook }
        // Where it fails, the token is still good, and the next request tries again.
        outlook.next = try? renewed(text, shown)
        return outlook
    }

    private func renewed(_ text: String, _ shown: Shown) throws -> String? {
        let id = shown.row.description.id
        if shown.isFormer, let seed = shown.row.life?.former?.seed {
            return try Self.successor(of: text, id: id, seed: seed)
        }
        let drawn = Data(try drawnBytes(TokenLife.seedBytes))
        let now = platform.milliseconds
        let (next, isNew) = try backend.write { transaction -> (String?, Bool) in
            guard var row = try transaction.token(id), var life = row.life,
                row.description.revokedAt == nil
            else { return (nil, false) }
            // Another request of the device was faster.
            if let former = life.former, SecretHash.areEqual(former.hash, shown.hash) {
                return (try Self.successor(of: text, id: id, seed: former.seed), false)
            }
            guard SecretHash.areEqual(row.hash, shown.hash) else { return (nil, false) }
            let next = try Self.successor(of: text, id: id, seed: drawn)
            life.former = TokenLife.Former(hash: row.hash, seed: drawn, until: life.endsAt)
            life.endsAt = now + life.milliseconds
            row.life = life
            row.hash = try SecretHash.sha256(next)
            // Else another process was faster; the next request is told what it made.
            guard try transaction.renew(row, from: shown.hash) else { return (nil, false) }
            return (next, true)
        }
        if isNew { try? audit?.note(.tokenRenewed, id) }
        return next
    }

    private static func successor(
        of text: String, id: String, seed: Data
    ) throws -> String {
        let secret = try SecretHash.sha256(bytes: Array(seed) + Array(text.utf8))
        return TokenText(id: id, secret: Base64URL.text(secret)).text
    }

    private static func ended(
        _ kind: TokenDescription.Kind, wasRenewed: Bool
    ) -> RecordError {
        RecordError(
            .authenticationRequired,
            wasRenewed
                ? "The user token (ckWebAuthToken) was renewed; show the new one, or sign in again."
                : "The time of the \(kind == .user ? "user token (ckWebAuthToken)" : "token") "
                    + "is over; sign in again.")
    }

    /// Ends all tokens of a user's that are good. Returns how many those were.
    public func revokeTokens(of userRecordName: String) throws(RecordError) -> Int {
        let good = try tokens().filter {
            $0.userRecordName == userRecordName && $0.revokedAt == nil
        }
        for token in good { try revoke(tokenID: token.id) }
        return good.count
    }
}
