/// What importing records came to.
package struct ImportOutcome: Hashable, Sendable {
    /// Records that came, our own echoes included.
    package var received = 0
    /// Objects and pairs that were made, changed or removed here.
    package var applied = 0
    /// Objects in which both sides' edits met and were merged.
    package var merged = 0
    /// Properties that both sides changed to different values, or edits that met a deletion.
    package var conflicts = 0
    /// Records whose entity or relationship this model does not know; they stay with the service.
    package var unknown = 0

    /// Versions that the service had lost and that are sent again.
    package var sentAgain = 0
    /// Records that were alive at the service although they had been deleted.
    package var deletedAgain = 0

    /// Whether the zone is to be read from its start once more.
    package var readsAgain = false

    package init() {}

    package static func += (left: inout ImportOutcome, right: ImportOutcome) {
        left.received += right.received
        left.applied += right.applied
        left.merged += right.merged
        left.conflicts += right.conflicts
        left.unknown += right.unknown
        left.sentAgain += right.sentAgain
        left.deletedAgain += right.deletedAgain
    }
}
