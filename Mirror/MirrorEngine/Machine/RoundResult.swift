/// What one sync round came to.
package struct RoundResult: Sendable {
    /// Records and deletions that the service took.
    package var exported = 0
    package var imported = ImportOutcome()
    /// Records that the service will not take as they are.
    package var refused = 0
    package var requests = 0
    /// How often the zone was compared from its start, because the service had gone back.
    package var comparisons = 0
    /// How often another copy of this store was met.
    package var forks = 0
    /// It had moved all that one round may, and ended before its end.
    package var isCut = false
    /// Both queues were empty at the end.
    package var isInSync = false
    /// Why the round ended early; nil when it did not.
    package var error: MirrorError?
    package var retryAfterSeconds: Double?
    var lastFailure: MirrorError?

    /// What was met besides the ordinary, in sentences.
    package var notices: [String] {
        var notices: [String] = []
        if comparisons > 0 {
            notices.append(
                "The service is in an older state, or was made anew; everything was compared: "
                    + "\(imported.sentAgain) to send again, \(imported.deletedAgain) to delete "
                    + "again."
            )
        }
        if forks > 0 {
            notices.append(
                "This store is a copy, or was restored from one; it took a name of its own.")
        }
        return notices
    }

    package init() {}
}
