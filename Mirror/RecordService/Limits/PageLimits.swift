/// How much one answer holds. (SERVICE §6; Apple's figures where they differ are in brackets)
public struct PageLimits: Hashable, Sendable, Codable {
    /// Records or zones of one page, whatever the request says, and where it says nothing [200].
    public var resultsMax = 400
    /// Records of one page of a zone's changes [200]. Who applies a page in one transaction does so
    /// at less cost a record with large ones.
    public var changesMax = 2_000
    /// An answer's archived fields: past this a page of changes ends early, and a lookup and the
    /// service's records beside refusals stop.
    public var bytesMax = 4 << 20

    public init() {}

    func resultsCount(_ asked: Int?) -> Int { Self.count(asked, atMost: resultsMax) }
    func changesCount(_ asked: Int?) -> Int { Self.count(asked, atMost: changesMax) }

    private static func count(_ asked: Int?, atMost most: Int) -> Int {
        max(1, min(asked ?? most, most))
    }
}
