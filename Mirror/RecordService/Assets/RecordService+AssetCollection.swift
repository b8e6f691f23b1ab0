internal import Foundation
internal import Platform
public import RecordWire

extension RecordService {
    /// Removes the files that no record and no good receipt has named for
    /// `AssetLimits.graceSeconds`, and what interrupted uploads left. Returns how many went. Other
    /// work goes on between slices. Call it at the start and once a day. Cost: a look at the
    /// candidates, and at the names of all files.
    @discardableResult
    public func collectAssets() throws(RecordError) -> Int {
        try collectAssets(at: assets.now)
    }

    /// Counts what is old from `now`, which the clock may be past.
    @discardableResult
    func collectAssets(at now: Int64) throws(RecordError) -> Int {
        let oldest = now - Int64(limits.assets.graceSeconds) * 1_000
        try assets.files.removeDeadIncoming()
        assets.parts?.removeOld(at: Date(timeIntervalSince1970: Double(now) / 1_000))
        var removed = 0
        let failure = prepareCollection(at: now)
        while true {
            let slice = try collectSlice(before: oldest)
            removed += slice.removed
            guard slice.goesOn else { break }
        }
        // While a container cannot be read, nobody knows what it names beyond what is known.
        if let failure { throw failure }
        return try removed + removeUnknownFiles(before: oldest)
    }

    /// Returns what failed at some place; at the others all was done.
    private func prepareCollection(at now: Int64) -> RecordError? {
        var failure: RecordError?
        do throws(RecordError) {
            try backend.atEachPlace { place throws(RecordError) in
                while try removeReceipts(before: now, place) {}
            }
        } catch {
            failure = error
        }
        do throws(RecordError) {
            try backend.settle()
        } catch {
            failure = failure ?? error
        }
        return failure
    }

    /// Looks whether a bucket takes, gives and removes; the log says where it does not. Returns
    /// whether all is well, as it is with a folder. Call it at the start and once a day. Cost:
    /// three requests to the store, and its patience where it is silent.
    @discardableResult
    public func probeAssets() -> Bool {
        do throws(RecordError) {
            try assets.bucket?.probe(platform.randomness.next())
            return true
        } catch {
            return false
        }
    }

    private func removeReceipts(
        before now: Int64, _ place: RowPlace
    ) throws(RecordError) -> Bool {
        try backend.write(place) {
            try $0.removeReceipts(before: now, limit: Self.collectedAtOnceMax) > 0
        }
    }

    private static let collectedAtOnceMax = 100

    /// Each candidate leaves the list: it goes, or is no candidate, or is looked at later.
    private func collectSlice(
        before oldest: Int64
    ) throws(RecordError) -> (removed: Int, goesOn: Bool) {
        try backend.write { transaction in
            try transaction.lockAssets()
            let candidates = try transaction.assetCandidates(
                before: oldest, limit: self.assets.removedAtOnceMax)
            var removed = 0
            for candidate in candidates {
                let checksum = candidate.checksum
                if try transaction.isAssetUsed(checksum) {
                    try transaction.setAsset(checksum, idleSince: nil)
                } else if let until = try transaction.lastPromise(of: checksum), until > oldest {
                    try transaction.setAsset(checksum, idleSince: until)
                } else if candidate.idleSince == 0 {
                    try transaction.setAsset(checksum, idleSince: self.assets.now)
                } else {
                    try self.assets.remove(checksum)
                    try transaction.removeAsset(checksum)
                    removed += 1
                }
            }
            return (removed, !candidates.isEmpty)
        }
    }

    /// Files whose rows were never committed, or were lost with a restored backup. A bucket's
    /// objects are not listed: their rows are committed before them.
    private func removeUnknownFiles(before oldest: Int64) throws(RecordError) -> Int {
        let moment = Date(timeIntervalSince1970: Double(oldest) / 1_000)
        var rest = assets.files.contents(before: moment)[...]
        var removed = 0
        while !rest.isEmpty {
            let slice = rest.prefix(Self.collectedAtOnceMax)
            rest = rest.dropFirst(slice.count)
            let unknown = try backend.read { transaction in
                try slice.filter { try transaction.assetSize($0) == nil }
            }
            guard !unknown.isEmpty else { continue }
            removed += try backend.write { transaction in
                try transaction.lockAssets()
                // Whoever uploads the same content meanwhile holds the lock that this one has.
                let gone = try unknown.filter { try transaction.assetSize($0) == nil }
                for checksum in gone { try self.assets.files.remove(checksum) }
                return gone.count
            }
        }
        return removed
    }
}
