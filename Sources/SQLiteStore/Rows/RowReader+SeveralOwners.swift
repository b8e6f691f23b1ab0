internal import SQLiteDriver
internal import Stores

// The members of several owners with few questions.
extension RowReader {
    /// The members of a to-many relationship of owners of one entity, in order where it is
    /// ordered, else by key.
    func members(ofEach owners: [RowID], toMany slot: Int) throws -> [RowID: [Link]] {
        guard let entity = owners.first?.entity else { return [:] }
        guard let columns = schema.columns(of: entity), columns.toManys.indices.contains(slot)
        else { throw schema.unknownEntity(entity) }
        switch columns.toManys[slot] {
        case .absent: return [:]
        case .join(let side) where side.isReflexive:
            return try Dictionary(
                owners.map { ($0, try members(of: $0, toMany: slot)) }, uniquingKeysWith: { $1 })
        case .inverse(let place), .owned(let place):
            return try members(
                of: owners,
                "SELECT \(place.key), Z_PK, Z_ENT, \(place.order ?? "NULL") FROM \(place.table) "
                    + "WHERE \(place.key) IN \(Self.keys) ORDER BY 1, 4, 2",
                destination: place.member)
        case .join(let side):
            let order = side.order.map { "j.\($0)" } ?? "NULL"
            return try members(
                of: owners,
                "SELECT j.\(side.owner), d.Z_PK, d.Z_ENT, \(order) FROM \(side.table) j "
                    + "JOIN \(side.destinationTable) d ON d.Z_PK = j.\(side.member) "
                    + "WHERE j.\(side.owner) IN \(Self.keys) ORDER BY 1, 4, 2",
                destination: side.destination)
        }
    }

    /// The owners' keys, bound as one text.
    private static let keys = "(SELECT value FROM json_each(?1))"
    private static let ownersAtOnce = 500

    private func members(
        of owners: [RowID], _ sql: String, destination: Int32
    ) throws -> [RowID: [Link]] {
        let statement = try connection.prepare(sql)
        defer { statement.reset() }
        let byKey = Dictionary(owners.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
        var members: [RowID: [Link]] = [:]
        for start in stride(from: 0, to: owners.count, by: Self.ownersAtOnce) {
            let part = owners[start..<min(start + Self.ownersAtOnce, owners.count)]
            statement.reset()
            try statement.bind([.text("[\(part.map { "\($0.key)" }.joined(separator: ","))]")])
            // They come owner by owner.
            var links: (owner: Int64, members: [Link]) = (0, [])
            func keep() {
                if !links.members.isEmpty, let owner = byKey[links.owner] {
                    members[owner] = links.members
                }
            }
            while try statement.step() {
                let owner = statement.int64(at: 0)
                if owner != links.owner {
                    keep()
                    links = (owner, [])
                }
                links.members.append(
                    Link(
                        schema.id(key: 1, entity: 2, of: statement, in: destination),
                        orderKey: statement.isNull(at: 3) ? nil : statement.int64(at: 3)))
            }
            keep()
        }
        return members
    }
}
