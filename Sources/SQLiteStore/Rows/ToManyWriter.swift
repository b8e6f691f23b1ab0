internal import ObjectModel
internal import SQLiteDriver
internal import Stores

/// Writes the members and the order of to-many relationships. Used under the store's lock.
final class ToManyWriter {
    private let connection: Connection
    private let schema: StoreSchema
    private let reader: RowReader
    /// The last order key handed out within one change set, by column and owner.
    private var last: [Place: Int64] = [:]
    /// Owners that lost a member to another one, within one change set: the caller does not know of
    /// them.
    private(set) var displaced: [RowUpdate] = []

    private struct Place: Hashable {
        var column: String
        var owner: Int64
    }

    init(connection: Connection, schema: StoreSchema, reader: RowReader) {
        self.connection = connection
        self.schema = schema
        self.reader = reader
    }

    /// Forgets what was handed out; called at the start of each change set.
    func begin() {
        last.removeAll(keepingCapacity: true)
        displaced.removeAll()
    }

    func write(_ change: ToManyChange) throws {
        guard let columns = schema.columns(of: change.owner.entity),
            columns.toManys.indices.contains(change.slot)
        else { throw schema.unknownEntity(change.owner.entity) }
        switch columns.toManys[change.slot] {
        case .absent:
            throw StoreError(
                .unsupported,
                "The members of this relationship are not in this store; link them otherwise.",
                fields: ["entity": schema.name(of: change.owner.entity)])
        case .inverse(let place): try writeOrder(change, in: place)
        case .owned(let place):
            try writeMembers(change, in: place)
            try writeOrder(change, in: place)
        case .join(let side): try write(change, in: side)
        }
    }

    /// The next order key of an owner's members, in a column of the members' or of a join table.
    func nextOrder(
        table: String, order: String, owner: String, key: Int64
    ) throws -> Int64 {
        let place = Place(column: "\(table).\(order)", owner: key)
        var known = last[place]
        if known == nil {
            known = try connection.value(
                "SELECT max(\(order)) FROM \(table) WHERE \(owner) = ?", [.integer(key)])?.int64
        }
        let next = OrderKeys.after(known)
        last[place] = next
        return next
    }

    /// Gives a link of an ordered relationship that has no place yet one at the end.
    func ordered(_ link: Link?, _ slot: Int, of entity: Int32) throws -> Link? {
        guard var link, link.orderKey == nil, let columns = schema.columns(of: entity),
            columns.toOnes.indices.contains(slot), let order = columns.toOnes[slot].order
        else { return link }
        link.orderKey = try nextOrder(
            table: columns.table, order: order, owner: columns.toOnes[slot].key,
            key: link.target.key)
        return link
    }

    // MARK: Members with a column of their own

    private func writeMembers(_ change: ToManyChange, in place: MemberColumns) throws {
        let owner = SQLiteValue.integer(change.owner.key)
        let clearOrder = place.order.map { ", \($0) = NULL" } ?? ""
        for member in change.removed {
            try connection.run(
                "UPDATE \(place.table) SET \(place.key) = NULL\(clearOrder) "
                    + "WHERE Z_PK = ? AND \(place.key) = ?", [.integer(member.key), owner])
        }
        for link in change.added {
            try noteFormerOwner(of: link.target, change, in: place)
            try connection.run(
                "UPDATE \(place.table) SET \(place.key) = ?1\(clearOrder) "
                    + "WHERE Z_PK = ?2 AND \(place.key) IS NOT ?1",
                [owner, .integer(link.target.key)])
            guard let order = place.order, change.order == nil, link.orderKey == nil else {
                continue
            }
            let next = try nextOrder(
                table: place.table, order: order, owner: place.key, key: change.owner.key)
            try connection.run(
                "UPDATE \(place.table) SET \(order) = ? WHERE Z_PK = ? AND \(order) IS NULL",
                [.integer(next), .integer(link.target.key)])
        }
    }

    /// A member has one owner: the one it had until now loses it.
    private func noteFormerOwner(
        of member: RowID, _ change: ToManyChange, in place: MemberColumns
    ) throws {
        guard let owners = schema.columns(of: change.owner.entity)?.table,
            let name = schema.layout.entity(change.owner.entity)?.toManys[change.slot].name,
            let row = try connection.rows(
                "SELECT o.Z_PK, o.Z_ENT FROM \(place.table) t "
                    + "JOIN \(owners) o ON o.Z_PK = t.\(place.key) "
                    + "WHERE t.Z_PK = ? AND o.Z_PK <> ?",
                [.integer(member.key), .integer(change.owner.key)]
            ).first,
            let key = row[0].int64, let entity = row[1].int64.flatMap(Int32.init(exactly:)),
            let slot = schema.layout.entity(entity)?.toManySlot(name)
        else { return }
        var update = RowUpdate(id: RowID(entity: entity, key: key))
        update.changedToManys = [slot]
        displaced.append(update)
    }

    /// Given order keys of single members, then the order of all.
    private func writeOrder(_ change: ToManyChange, in place: MemberColumns) throws {
        guard let order = place.order else { return }
        let text = "UPDATE \(place.table) SET \(order) = ? WHERE Z_PK = ? AND \(place.key) = ?"
        try writeOrder(change) { member, key in
            try connection.run(
                text, [.integer(key), .integer(member.key), .integer(change.owner.key)])
        }
    }

    private func writeOrder(_ change: ToManyChange, _ write: (RowID, Int64) throws -> Void) throws {
        for link in change.added {
            if let key = link.orderKey { try write(link.target, key) }
        }
        guard let wanted = change.order else { return }
        let members = try reader.members(of: change.owner, toMany: change.slot)
        let present = Dictionary(
            members.map { ($0.target.key, $0.orderKey) }, uniquingKeysWith: { first, _ in first })
        // Members that left meanwhile have no place.
        let ordered = wanted.filter { present[$0.key] != nil }
        let keys = OrderKeys.keys(for: ordered.map { present[$0.key] ?? nil })
        for (member, key) in zip(ordered, keys) where present[member.key] != .some(key) {
            try write(member, key)
        }
        last.removeAll()
    }

    // MARK: Members that came without an order of all

    /// Gives the members that came their places at the end, in the order of the change. Called once
    /// all rows and pairs are written: those of the members may have come first.
    ///
    /// Cost: one look at each; they are mostly written in their order.
    func arrange(_ change: ToManyChange) throws {
        guard let columns = schema.columns(of: change.owner.entity) else { return }
        switch columns.toManys[change.slot] {
        case .absent: return
        case .inverse(let place), .owned(let place):
            try arrange(
                change, table: place.table, order: place.order, owner: place.key, member: "Z_PK")
        case .join(let side):
            try arrange(
                change, table: side.table, order: side.order, owner: side.owner,
                member: side.member)
        }
    }

    private func arrange(
        _ change: ToManyChange, table: String, order: String?, owner: String, member: String
    ) throws {
        guard let order else { return }
        let here = "WHERE \(owner) = ? AND \(member) = ?"
        let key = SQLiteValue.integer(change.owner.key)
        let places = try change.appended.compactMap { member in
            try connection.value(
                "SELECT \(order) FROM \(table) \(here)", [key, .integer(member.key)]
            )?.int64
        }
        guard zip(places, places.dropFirst()).contains(where: >=) else { return }
        for member in change.appended {
            let next = try nextOrder(
                table: table, order: order, owner: owner, key: change.owner.key)
            try connection.run(
                "UPDATE \(table) SET \(order) = ? \(here)",
                [.integer(next), key, .integer(member.key)])
        }
    }

    // MARK: Join tables

    private func write(_ change: ToManyChange, in side: JoinSide) throws {
        let owner = change.owner.key
        for member in change.removed {
            try connection.run(
                "DELETE FROM \(side.table) WHERE \(side.owner) = ? AND \(side.member) = ?",
                [.integer(owner), .integer(member.key)])
            guard side.isReflexive else { continue }
            try connection.run(
                "DELETE FROM \(side.table) WHERE \(side.member) = ? AND \(side.owner) = ?",
                [.integer(owner), .integer(member.key)])
        }
        for link in change.added {
            try add(link, to: owner, in: side, givesOrder: change.order == nil)
        }
        guard let order = side.order else { return }
        let text =
            "UPDATE \(side.table) SET \(order) = ? WHERE \(side.owner) = ? AND \(side.member) = ?"
        try writeOrder(change) { member, key in
            try connection.run(text, [.integer(key), .integer(owner), .integer(member.key)])
        }
    }

    private func add(_ link: Link, to owner: Int64, in side: JoinSide, givesOrder: Bool) throws {
        let member = link.target.key
        let inserted = try connection.run(
            "INSERT OR IGNORE INTO \(side.table) (\(side.owner), \(side.member)) VALUES (?, ?)",
            [.integer(owner), .integer(member)])
        if side.isReflexive {
            // Both directions are written, so that a reader that looks in one column finds each.
            try connection.run(
                "INSERT OR IGNORE INTO \(side.table) (\(side.owner), \(side.member)) VALUES (?, ?)",
                [.integer(member), .integer(owner)])
        }
        guard inserted > 0 else { return }
        if let order = side.order, givesOrder, link.orderKey == nil {
            try append(member, to: owner, order, in: side)
        }
        if let order = side.order, side.isReflexive, member != owner {
            try append(owner, to: member, order, in: side)
        }
        if let order = side.inverseOrder {
            let next = try nextOrder(
                table: side.table, order: order, owner: side.member, key: member)
            try setOrder(order, to: next, owner: owner, member: member, in: side)
        }
    }

    /// Gives a member the place after the owner's last one.
    private func append(
        _ member: Int64, to owner: Int64, _ order: String, in side: JoinSide
    ) throws {
        let next = try nextOrder(table: side.table, order: order, owner: side.owner, key: owner)
        try setOrder(order, to: next, owner: owner, member: member, in: side)
    }

    private func setOrder(
        _ column: String, to key: Int64, owner: Int64, member: Int64, in side: JoinSide
    ) throws {
        try connection.run(
            "UPDATE \(side.table) SET \(column) = ? WHERE \(side.owner) = ? AND \(side.member) = ?",
            [.integer(key), .integer(owner), .integer(member)])
    }
}
