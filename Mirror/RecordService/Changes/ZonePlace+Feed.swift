internal import Foundation
internal import RecordWire

extension ZonePlace {
    /// The changes of the zone; of one of which parts are shared, those of the parts.
    func feed(
        _ reading: FeedReading, _ transaction: any BackendTransaction,
        _ body: (FeedEntry) throws -> Bool
    ) throws -> FeedEnd {
        guard let shares = access as? ShareAccess, !shares.seesAll else {
            return try transaction.records(reading, body)
        }
        let members = try transaction.members(of: shares.names, reading)
        var given = 0
        for (index, member) in members.enumerated() {
            guard given < reading.limit else {
                return FeedEnd(lookedAt: index, stoppedAt: members[index - 1].change)
            }
            guard let entry = try entry(of: member, transaction),
                entry.isWanted(reading.types)
            else { continue }
            given += 1
            guard try body(entry) else { return FeedEnd(lookedAt: index + 1, stoppedAt: nil) }
        }
        let isWhole = members.count < reading.lookedAtMax
        return FeedEnd(lookedAt: members.count, stoppedAt: isWhole ? nil : members.last?.change)
    }

    /// Whether the feed tells of a row that it met.
    func shows(_ row: RecordRow) throws -> Bool {
        if access is ShareAccess { return true }
        return try access.sees(row)
    }

    /// A record that left a share is told as deleted, and nothing else of it.
    private func entry(
        of member: ShareMember, _ transaction: any BackendTransaction
    ) throws -> FeedEntry? {
        do {
            guard var row = try transaction.record(named: member.record, in: self.row.id) else {
                return nil
            }
            if member.isGone, !row.isDeleted {
                row = RecordRow(
                    name: row.name, type: row.type, change: member.change, isDeleted: true,
                    fields: Data(), created: row.created, modified: row.created)
            }
            return .member(row, change: member.change)
        } catch is DamagedRow {
            return .damaged(name: member.record, change: member.change)
        }
    }
}

extension FeedEntry {
    fileprivate func isWanted(_ types: [String]?) -> Bool {
        guard let types, case .member(let row, _) = self else { return true }
        return types.contains { row.type.isExactly($0) }
    }
}
