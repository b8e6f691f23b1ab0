internal import RecordWire

/// The databases of those to whom one zone is shared, inside one transaction.
struct SharedViews {
    let key: DatabaseKey
    let zone: ZoneRow
    let limits: ServiceLimits
    let transaction: any BackendTransaction
    let draw: () -> UInt64

    /// Opens a share to these, and closes it to all others. Returns whose databases changed.
    func setGrants(_ grants: [ShareGrant], of share: String) throws -> Set<String> {
        let before = try transaction.grants(in: zone.id).filter { $0.share.isExactly(share) }
        let old = Dictionary(before.map { ($0.user, $0.writes) }) { $1 }
        let new = Dictionary(grants.map { ($0.user, $0.writes) }) { $1 }
        guard old != new else { return [] }
        try transaction.setGrants(grants, of: share, in: zone.id)
        for user in Set(old.keys).symmetricDifference(new.keys).sorted() { try renew(user) }
        for user in new.keys.sorted() where old[user] != nil && old[user] != new[user] {
            try touch(user)
        }
        return Set(old.filter { new[$0.key] != $0.value }.keys)
            .union(new.filter { old[$0.key] != $0.value }.keys)
    }

    /// Tells that something in the zone changed, in the database of one user.
    func touch(_ user: String) throws {
        try save(user) { _ in }
    }

    /// Tells that the user sees other shares of the zone than before, or none any more.
    func renew(_ user: String) throws {
        let isGone = try transaction.grants(of: user, in: zone.id).isEmpty
        try save(user) { row in
            row.incarnation = draw()
            row.isDeleted = isGone
        }
    }

    private func save(_ user: String, _ change: (inout ZoneRow) -> Void) throws {
        var database = try transaction.databaseForWriting(
            key.shared(with: user), incarnation: draw())
        let name = StandInName(key.owner, zone.name).text
        var row =
            try transaction.zone(named: name, in: database.id)
            ?? transaction.makeZone(named: name, in: database.id, incarnation: draw())
        change(&row)
        try transaction.raiseCounter(of: &database)
        row.databaseChange = database.counter
        try transaction.save(row)
        if row.isDeleted,
            let forgotten = try transaction.removeDeletedZones(
                in: database.id, but: limits.zonesPerDatabaseMax)
        {
            database.floor = max(database.floor, forgotten)
        }
        try transaction.save(database)
    }

    /// Refuses one more participant where there are too many. Throws LIMIT_EXCEEDED.
    func checkRoom(for user: String) throws {
        let users = Set(try transaction.grants(in: zone.id).map(\.user))
        guard users.contains(user) || users.count < limits.work.sharing.usersPerZoneMax else {
            throw RecordError(
                .limitExceeded,
                "\(limits.work.sharing.usersPerZoneMax) users take part in shares of the zone, the "
                    + "most there may be.")
        }
        let shares = try transaction.grants(of: user, in: zone.id).count
        guard shares < limits.work.sharing.sharesPerUserMax else {
            throw RecordError(
                .limitExceeded,
                "You take part in \(shares) shares of the zone, the most there may be; leave one "
                    + "first.")
        }
        guard let own = try transaction.database(key.shared(with: user)) else { return }
        let count = try transaction.zones(in: own.id).count
        guard count >= limits.zonesPerDatabaseMax else { return }
        throw RecordError(
            .limitExceeded,
            "You take part in shares of \(count) zones, the most there may be; leave one first.")
    }
}
