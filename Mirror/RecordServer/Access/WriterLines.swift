internal import RecordService
internal import RecordWire

/// Who writes records, and who waits for that.
///
/// A writer that waits for the lock of a database, or of a container's file, holds a thread of the
/// server, and with it all connections of that thread. So few do at once.
struct WriterLines: Sendable {
    private let lines: TurnLines
    private let order: WriterOrder

    /// Those who share trips to the disk take half of the server's threads.
    init(_ order: WriterOrder, threads: Int) {
        self.order = order
        let writersMax =
            switch order {
            case .ofContainers: threads / 2
            case .ofDatabases(let writersMax): writersMax
            }
        lines = TurnLines(places: writersMax)
    }

    /// nil for a request that writes nothing, or nothing that others may hold locked for long.
    /// `indexes`: a query that makes some.
    func turn(
        for question: RecordRequest, _ target: RecordTarget, _ user: String, indexes: Bool = false
    ) -> Turn? {
        let zone: ZoneID?
        switch question {
        case .modifyRecords(let change): zone = change.zoneID
        case .queryRecords(let query) where indexes: zone = query.zoneID
        case .modifyZones: zone = nil
        case .modifySubscriptions, .createToken, .acceptShares, .uploadAssets:
            guard case .ofContainers = order else { return nil }
            zone = nil
        default: return nil
        }
        return lines.turn(in: .writers(line(of: zone, target, user)))
    }

    private func line(of zone: ZoneID?, _ target: RecordTarget, _ user: String) -> String {
        guard case .ofDatabases = order else { return target.container }
        let owner =
            switch target.database {
            case RoutePath.publicDatabase: ""
            case "shared": zone?.ownerRecordName ?? user
            default: user
            }
        return "\(target.container)/\(target.environment)/\(owner)"
    }
}
