internal import Platform
public import RecordWire

extension EpochLine {
    /// Whether a client has not seen the newest epoch.
    func isNews(to client: ClientState?) -> Bool {
        guard let client else { return false }
        return client.witness.flatMap(ChangeTag.init)?.epoch != epochs.last?.id
    }
}

extension RecordService {
    /// Forgets what need not be remembered any more: tokens, deletions and contents of assets, each
    /// also where another fails. While the clock is far from the newest time that the database
    /// knows, what is old is counted from that. Returns what went wrong, a clock that is not
    /// believed too. Call it at the start and once a day.
    public func forgetWhatIsOld() -> [RecordError] {
        let moment: ForgettingMoment
        do throws(RecordError) {
            let now = platform.milliseconds
            moment = try backend.write { try $0.forgettingMoment(at: now) }
        } catch {
            return [error]
        }
        let now = moment.milliseconds
        return [
            moment.doubt,
            Self.failure { () throws(RecordError) in _ = try accounts.forgetEndedTokens(at: now) },
            Self.failure { () throws(RecordError) in try forgetOldDeletions(at: now) },
            Self.failure { () throws(RecordError) in _ = try collectAssets(at: now) },
        ].compactMap(\.self)
    }

    private static func failure(_ body: () throws(RecordError) -> Void) -> RecordError? {
        do throws(RecordError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    /// Forgets deletions that are older than `ServiceLimits.deletionDaysMax`, so that a zone's size
    /// follows what it holds. A client that was away longer reads the zone anew. Other work goes on
    /// between slices of what goes. Call it at the start and once a day.
    public func forgetOldDeletions() throws(RecordError) {
        try forgetOldDeletions(at: platform.milliseconds)
    }

    private func forgetOldDeletions(at moment: Int64) throws(RecordError) {
        let oldest = moment - Int64(limits.retention.deletionDaysMax) * Self.dayMilliseconds
        try backend.atEachPlace { place throws(RecordError) in
            while try forgetSlice(before: oldest, place) {}
        }
    }

    private func forgetSlice(
        before oldest: Int64, _ place: RowPlace
    ) throws(RecordError) -> Bool {
        try backend.write(place) { transaction in
            let forgotten = try transaction.removeDeletions(
                before: oldest, limit: Self.forgottenAtOnceMax
            ).merging(
                try transaction.removeDepartures(
                    before: oldest, limit: Self.forgottenAtOnceMax), uniquingKeysWith: max)
            for (zone, change) in forgotten.sorted(by: { $0.key < $1.key }) {
                try transaction.raiseFloor(of: zone, to: change)
            }
            return !forgotten.isEmpty
        }
    }

    private static let forgottenAtOnceMax = 500
    private static let dayMilliseconds: Int64 = 86_400_000
}
