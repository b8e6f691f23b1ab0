/// What one sync round came to.
package struct RoundResult: Sendable {
    /// Records and deletions that the service took.
    package var exported = 0
    package var imported = ImportOutcome()
    /// Records that the service will not take as they are.
    package var refused = 0
    package var requests = 0
    /// Both queues were empty at the end.
    package var isInSync = false
    /// Why the round ended early; nil when it did not.
    package var error: MirrorError?
    package var retryAfterSeconds: Double?
    var lastFailure: MirrorError?

    package init() {}
}
