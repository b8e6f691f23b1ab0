internal import Platform
public import RecordWire

/// Tokens that are good for nothing any more.
extension ServiceAccounts {
    /// How long a token that was revoked or has ended is known, so that who shows it hears what
    /// became of it, and lists show it.
    static let endedTokenDays: Int64 = 90
    private static let forgottenAtOnceMax = 500

    /// Forgets the tokens that were revoked, or have ended, `endedTokenDays` ago; they are answered
    /// as any unknown text from then on. Returns how many. Other work goes on between slices. Call
    /// it at the start and once a day. Cost: a look at each token.
    @discardableResult
    public func forgetEndedTokens() throws(RecordError) -> Int {
        try forgetEndedTokens(at: platform.milliseconds)
    }

    func forgetEndedTokens(at moment: Int64) throws(RecordError) -> Int {
        let oldest = moment - Self.endedTokenDays * Self.dayMilliseconds
        var count = 0
        while true {
            let removed = try forgetSlice(before: oldest)
            count += removed
            guard removed == Self.forgottenAtOnceMax else { return count }
        }
    }

    private func forgetSlice(before oldest: Int64) throws(RecordError) -> Int {
        try backend.write {
            try $0.removeTokens(goneBefore: oldest, limit: Self.forgottenAtOnceMax)
        }
    }
}
