internal import Foundation
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Where the rows of an import go.
protocol ImportTarget: AnyObject {
    /// Takes in rows whose keys were reserved.
    func insert(_ rows: [Row]) throws
    /// Sets to-one links of rows that were taken in, then changes to-manys.
    func link(_ ends: [OpenEnd], _ toManys: [ToManyChange]) throws
    /// Where the to-one `slot` of rows of one entity leads; rows whose link is null are left out.
    func ends(of rows: [RowID], slot: Int) throws -> [RowID: RowID]
}

/// A to-one end that a line left open, and who claims it.
struct OpenEnd {
    let row: RowID
    let slot: Int
    let claimant: RowID
}

/// A SQLite store within one transaction.
final class TransactionTarget: ImportTarget {
    private let transaction: StoreTransaction

    init(_ transaction: StoreTransaction) { self.transaction = transaction }

    func insert(_ rows: [Row]) throws {
        var changes = ChangeSet()
        changes.inserts = rows
        _ = try transaction.apply(changes)
    }

    func link(_ ends: [OpenEnd], _ toManys: [ToManyChange]) throws {
        var changes = ChangeSet()
        changes.toManys = toManys
        changes.updates = ends.map { end in
            var update = RowUpdate(id: end.row)
            update.toOnes = [(end.slot, Link(end.claimant))]
            return update
        }
        if !changes.isEmpty { _ = try transaction.apply(changes) }
    }

    func ends(of rows: [RowID], slot: Int) throws -> [RowID: RowID] {
        guard let entity = rows.first?.entity,
            let columns = transaction.schema.columns(of: entity)
        else { return [:] }
        let link = columns.toOnes[slot]
        let keys = rows.map { "\($0.key)" }.joined(separator: ",")
        var ends: [RowID: RowID] = [:]
        let found = try transaction.connection.rows(
            "SELECT Z_PK, \(link.key) FROM \(columns.table) WHERE \(link.key) IS NOT NULL "
                + "AND Z_PK IN (SELECT value FROM json_each(?))", [.text("[\(keys)]")])
        for line in found {
            guard let key = line[0].int64, let end = line[1].int64 else { continue }
            // The key alone tells: a tree hands out each once.
            ends[RowID(entity: entity, key: key)] = RowID(entity: link.destination, key: end)
        }
        return ends
    }
}

/// A store that holds all in memory anyway: one change set, saved at the end.
final class WholeTarget: ImportTarget {
    private(set) var changes = ChangeSet()
    private var places: [RowID: Int] = [:]

    func insert(_ rows: [Row]) throws {
        for row in rows {
            places[row.id] = changes.inserts.count
            changes.inserts.append(row)
        }
    }

    func link(_ ends: [OpenEnd], _ toManys: [ToManyChange]) throws {
        for end in ends {
            guard let place = places[end.row] else { continue }
            changes.inserts[place].toOnes[end.slot] = Link(end.claimant)
        }
        changes.toManys += toManys
    }

    func ends(of rows: [RowID], slot: Int) throws -> [RowID: RowID] {
        var ends: [RowID: RowID] = [:]
        for row in rows {
            ends[row] = places[row].flatMap { changes.inserts[$0].toOnes[slot]?.target }
        }
        return ends
    }
}
