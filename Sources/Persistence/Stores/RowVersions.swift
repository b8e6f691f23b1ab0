internal import Stores

/// What is known of the versions of rows that were written to a program's own store.
///
/// The store alone chooses a version, and need not say which until it is asked. So what was written
/// gets a number of its own, below 0, for the context that wrote it; whoever reads the row next
/// learns which version that is.
struct RowVersions {
    private struct Writing {
        /// What stands for the version, with the context that wrote it.
        let number: Int64
        /// The version that was written over; nil for a new row.
        let former: Int64?
        /// The version as it was read first.
        var version: Int64?
    }

    /// The last writing of each row.
    private var writings: [RowID: Writing] = [:]
    /// The number of the last writing of all. They descend.
    private(set) var moment: Int64 = 0

    /// Notes that a row was written. Returns what stands for its version.
    mutating func write(_ row: RowID, over former: Int64?) -> Int64 {
        moment -= 1
        writings[row] = Writing(number: moment, former: former)
        return moment
    }

    /// Notes that the store gave this version, when it was asked at that moment.
    mutating func note(_ version: Int64, of row: RowID, askedAt moment: Int64) {
        guard let writing = writings[row], writing.version == nil, writing.number >= moment else {
            return
        }
        writings[row]?.version = version
    }

    /// Whether what the store has is what a context read or wrote itself.
    func isExpected(_ expected: Int64, of row: RowID, found: Int64) -> Bool {
        guard expected < 0, let writing = writings[row] else {
            return expected < 0 || expected == found
        }
        if writing.number == expected { return writing.version.map { $0 == found } ?? true }
        // Another context wrote since: a store that counts no versions has the same as before.
        return writing.former == found
    }
}
