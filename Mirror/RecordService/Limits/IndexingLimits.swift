/// What the indexes of queries may cost one request.
public struct IndexingLimits: Hashable, Sendable, Codable {
    /// Values that one request may bring into indexes, those of its first record apart; what comes
    /// behind is left for another request. An index is made in steps of so many.
    public var newEntriesMax = 100_000

    public init() {}
}
