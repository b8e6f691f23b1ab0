internal import RecordWire

/// What one request for changes may still cost, over all its zones.
struct PageBudget {
    var bytesLeft: Int
    /// Rows that may still be looked at.
    var rowsLeft: Int
    private var named: Set<ZoneID> = []

    init(_ limits: ServiceLimits) {
        bytesLeft = limits.pages.bytesMax
        rowsLeft = limits.work.rowsMax
    }

    /// Refuses a zone that the request named before: its pages would be read anew for each entry.
    mutating func admit(_ zone: ZoneID) throws(RecordError) {
        guard named.insert(zone).inserted else {
            throw RecordError(
                .badRequest, "The request names the zone twice; name it once.", zoneID: zone)
        }
    }
}
