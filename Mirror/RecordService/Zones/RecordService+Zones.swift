internal import Platform
internal import RecordWire

/// Zones: create, delete, list, look up. (SERVICE §3, zones/*)
extension RecordService {
    func modifyZones(
        _ operations: [ZoneOperation], _ key: DatabaseKey
    ) throws(RecordError) -> (RecordResponse, participants: Set<String>) {
        try limits.checkCount(operations.count, of: "operations")
        let names = Set(operations.map { ExactName($0.zoneID.zoneName) })
        guard names.count == operations.count else {
            throw RecordError(
                .badRequest, "Two operations name one zone; send them one after another.")
        }
        guard !key.isPublic else {
            throw RecordError(
                .badRequest, "A public database has its default zone and takes no others.")
        }
        return try backend.write(to: key) { transaction in
            var database = try transaction.databaseForWriting(
                key, incarnation: self.platform.randomness.next())
            var users: Set<String> = []
            let results = try operations.map { operation in
                try self.perform(operation, key, &database, &users, transaction)
            }
            try transaction.save(database)
            return (.zones(results), users)
        }
    }

    func listZones(_ key: DatabaseKey) throws(RecordError) -> RecordResponse {
        guard !key.isShared else { return try listSharedZones(key) }
        return try backend.read(key.place) { transaction in
            var result = [ZoneResult.zone(Self.defaultZone)]
            guard let database = try transaction.database(key) else { return .zones(result) }
            for row in try transaction.zones(in: database.id) where row.name != ZoneID.defaultName {
                result.append(.zone(try self.describe(row, transaction)))
            }
            return .zones(result)
        }
    }

    func lookupZones(
        _ zones: [ZoneID], _ key: DatabaseKey
    ) throws(RecordError) -> RecordResponse {
        try limits.checkCount(zones.count, of: "zones")
        guard !key.isShared else { return try lookupSharedZones(zones, key) }
        return try backend.read(key.place) { transaction in
            let database = try transaction.database(key)
            return .zones(
                try zones.map { zone in
                    try Self.entry {
                        let zone = try zone.owned(by: key.owner)
                        if zone.isDefault { return Self.defaultZone }
                        guard let database else { throw zone.notFound(wasDeleted: false) }
                        return try self.describe(
                            transaction.liveZone(zone, in: database), transaction)
                    }
                })
        }
    }

    private func perform(
        _ operation: ZoneOperation, _ key: DatabaseKey, _ database: inout DatabaseRow,
        _ users: inout Set<String>, _ transaction: any BackendTransaction
    ) throws -> ZoneResult {
        try Self.entry {
            let zone = try operation.zoneID.owned(by: key.owner)
            switch operation.kind {
            case .create:
                return try self.create(zone, &database, key.container, transaction)
            case .delete: return try self.delete(zone, key, &database, &users, transaction)
            }
        }
    }

    /// Making a zone that is there answers the zone, so a request whose answer was lost may be sent
    /// again.
    private func create(
        _ zone: ZoneID, _ database: inout DatabaseRow, _ container: String,
        _ transaction: any BackendTransaction
    ) throws -> ZoneDescription {
        if zone.isDefault { return Self.defaultZone }
        try checkName(of: zone)
        try transaction.holdSchema(ofContainer: container)
        let known = try transaction.zone(named: zone.zoneName, in: database.id)
        if let known, !known.isDeleted { return try describe(known, transaction) }
        try checkCountOfZones(database, transaction)
        let incarnation = platform.randomness.next()
        var row =
            try known
            ?? transaction.makeZone(
                named: zone.zoneName, in: database.id, incarnation: incarnation)
        row.isDeleted = false
        row.incarnation = incarnation
        try transaction.raiseCounter(of: &database)
        row.databaseChange = database.counter
        try transaction.save(row)
        return try describe(row, transaction)
    }

    private func delete(
        _ zone: ZoneID, _ key: DatabaseKey, _ database: inout DatabaseRow,
        _ users: inout Set<String>, _ transaction: any BackendTransaction
    ) throws -> ZoneDescription {
        guard !zone.isDefault else {
            throw RecordError(
                .badRequest, "The default zone cannot be deleted; delete its records.", zoneID: zone
            )
        }
        guard var row = try transaction.zone(named: zone.zoneName, in: database.id) else {
            throw zone.notFound(wasDeleted: false)
        }
        let answer = ZoneDescription(zoneID: zone, syncToken: nil, deleted: true)
        guard !row.isDeleted else { return answer }
        users.formUnion(try endShares(of: row, key, transaction))
        row = try transaction.emptied(row, in: database.id)
        try transaction.raiseCounter(of: &database)
        row.databaseChange = database.counter
        row.isDeleted = true
        try transaction.save(row)
        if let forgotten = try transaction.removeDeletedZones(
            in: database.id, but: limits.zonesPerDatabaseMax)
        {
            database.floor = max(database.floor, forgotten)
        }
        return answer
    }

    private func checkName(of zone: ZoneID) throws {
        try limits.checkName(zone.zoneName, of: "zone name")
        guard zone.zoneName.first != "_" else {
            throw RecordError(
                .badRequest, "The zone name \(zone.zoneName) begins with _, which is reserved.",
                zoneID: zone)
        }
    }

    private func checkCountOfZones(
        _ database: DatabaseRow, _ transaction: any BackendTransaction
    ) throws {
        let zones = try transaction.zones(in: database.id)
        let count = zones.count { $0.name != ZoneID.defaultName }
        guard count >= limits.zonesPerDatabaseMax else { return }
        throw RecordError(
            .limitExceeded,
            "The database has \(limits.zonesPerDatabaseMax) zones, the most it may have; "
                + "delete one first.")
    }

    private static let defaultZone = ZoneDescription(zoneID: ZoneID(), syncToken: nil)

    private func describe(
        _ row: ZoneRow, _ transaction: any BackendTransaction
    ) throws -> ZoneDescription {
        ZoneDescription(
            zoneID: ZoneID(zoneName: row.name),
            syncToken: SyncToken(
                try transaction.line(of: row), of: .zone, change: row.counter
            ).text)
    }

    /// A refusal of one zone is its entry; what else fails, fails the request.
    static func entry(_ body: () throws -> ZoneDescription) throws -> ZoneResult {
        do {
            return .zone(try body())
        } catch let error as RecordError {
            return .failure(error)
        }
    }
}
