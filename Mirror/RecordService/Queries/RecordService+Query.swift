internal import Foundation
public import RecordWire

/// Records by their values. (SERVICE §3, queries)
extension RecordService {
    private static let learningRetrySeconds = 1.0
    private static let learningAttemptsMax = 3

    func queryRecords(
        _ request: QueryRecords, _ key: DatabaseKey, _ caller: Caller, makesIndexes: Bool
    ) throws(RecordError) -> RecordResponse {
        let session = try QuerySession(request, key, self, caller)
        for _ in 0..<Self.learningAttemptsMax {
            switch try backend.read(key.place, { try session.attempt($0) }) {
            case .page(let reply): return .records(reply)
            case .missing(let keys):
                guard makesIndexes else { throw Self.wantsToWrite }
                guard try backend.write(to: key, { try session.learn(keys, $0) }) else {
                    throw Self.isLearning
                }
            }
        }
        // Other queries had them given up.
        throw Self.isLearning
    }

    /// Thrown where a query would make an index first, to who asked not to do that yet.
    package static let wantsToWrite = RecordError(
        .tryAgainLater, "The query makes an index first, and writes.")

    private static var isLearning: RecordError {
        var error = RecordError(
            .tryAgainLater, "The service is making an index for the query; send it again.")
        error.retryAfterSeconds = learningRetrySeconds
        return error
    }

    /// Lets a field be queried in production too; in development every field may be. Does nothing
    /// where it may be already. Throws NOT_FOUND when there is no such container.
    public func declareQueryable(
        field: String, ofRecordType recordType: String, container: String
    ) throws(RecordError) {
        try accounts.requireContainer(container)
        try limits.checkName(field, of: "field name")
        try limits.checkName(recordType, of: "record type")
        try backend.write(.container(container)) {
            try $0.declare(field, of: recordType, container: container)
        }
    }

    /// The fields that may be queried in production, by record type.
    public func queryableFields(
        container: String
    ) throws(RecordError) -> [String: [String]] {
        let declared = try backend.read(.container(container)) {
            try $0.declarations(container: container)
        }
        return Dictionary(grouping: declared, by: \.recordType).mapValues { $0.map(\.field) }
    }
}

/// One query, checked as far as it can be without the rows.
private struct QuerySession {
    private let request: QueryRecords
    /// Whose rows are read.
    private let key: DatabaseKey
    /// nil: all zones.
    private let address: ZoneAddress?
    private let rules: AccessRules
    private var zone: ZoneID? { address?.shown }
    private let limits: ServiceLimits
    private let damage: DamageReport
    private let uses: QueryIndexUses

    enum Outcome {
        case page(RecordsReply)
        /// These indexes are not there, or not whole.
        case missing([QueryIndexKey])
    }

    init(
        _ request: QueryRecords, _ key: DatabaseKey, _ service: RecordService, _ caller: Caller
    ) throws(RecordError) {
        self.request = request
        rules = service.rules(for: caller)
        limits = service.limits
        damage = service.damage(in: key)
        uses = service.counters.indexUses
        try limits.checkName(request.query.recordType, of: "record type")
        let work = limits.work
        guard request.query.filters.count <= work.filtersMax,
            request.query.sorts.count <= work.sortsMax
        else {
            throw RecordError(
                .limitExceeded,
                "A query takes at most \(work.filtersMax) filters and \(work.sortsMax) sorts.")
        }
        let isWide = request.zoneID == nil && request.zoneWide && !key.isShared
        address = isWide ? nil : try key.address(of: request.zoneID)
        self.key = address?.key ?? key
    }

    func learn(_ keys: [QueryIndexKey], _ transaction: any BackendTransaction) throws -> Bool {
        guard let database = try transaction.database(key) else { return true }
        return try QueryIndexing(database.id, transaction, limits: limits, uses: uses).learn(
            keys, of: request.query.recordType)
    }

    func attempt(_ transaction: any BackendTransaction) throws -> Outcome {
        let place = try address.flatMap { try ZonePlace($0, rules, transaction) }
        let database = try transaction.database(key)
        let plan = try plan(database?.id, transaction)
        guard let database else { return .page(RecordsReply(results: [])) }
        let zones = try place.map { [QueryRun.Zone($0)] } ?? zones(database, transaction)
        if let shares = place?.access as? ShareAccess, !shares.seesAll {
            let members = try transaction.liveMembers(
                of: shares.names, in: zones[0].row.id, limit: limits.work.rowsMax + 1)
            return .page(try page(plan, zones, [:], members, database, transaction))
        }
        let known = try transaction.queryIndexes(in: database.id).filter {
            $0.progress == .whole && $0.recordType.isExactly(request.query.recordType)
        }
        let keys = plan.keys(isWide: zones.count > 1)
        // All of them, so that none is given up for another.
        guard keys.allSatisfy({ key in known.contains { $0.key == key } }) else {
            return .missing(keys)
        }
        uses.note(known.filter { keys.contains($0.key) }.map(\.id))
        let indexes = Dictionary(known.map { ($0.key, $0.id) }) { first, _ in first }
        return .page(try page(plan, zones, indexes, nil, database, transaction))
    }

    /// `members`: the records that may be seen, where they are not all.
    private func page(
        _ plan: QueryPlan, _ zones: [QueryRun.Zone], _ indexes: [QueryIndexKey: Int64],
        _ members: [String]?, _ database: DatabaseRow, _ transaction: any BackendTransaction
    ) throws -> RecordsReply {
        let access = try zones.first?.access ?? rules.access(to: key, transaction)
        let run = QueryRun(
            recordType: request.query.recordType, plan: plan, zones: zones, indexes: indexes,
            members: members, access: access,
            limits: limits, transaction: transaction, damage: damage,
            keys: request.desiredKeys.map { Set($0) },
            limit: limits.pages.resultsCount(request.resultsLimit))
        let scope = try scope(database, zones)
        let position = try request.continuationMarker.map {
            try ContinuationMarker($0, scope).position
        }
        let page = try run.page(after: position)
        var reply = RecordsReply(results: page.records.map { .record($0) })
        reply.damagedRecords = page.damaged
        reply.continuationMarker = try page.next.map { try ContinuationMarker($0).text(scope) }
        if let zone, key.hasFeed(zone), let line = zones.first?.line {
            reply.syncToken =
                SyncToken(line, of: .zone, change: line.newest, view: try access.view).text
        }
        return reply
    }

    /// What a marker is good for: this query of this database, and the zone as it was made.
    private func scope(_ database: DatabaseRow, _ zones: [QueryRun.Zone]) throws -> [UInt8] {
        var asked = QueryRecords(request.query, zoneID: zone)
        asked.zoneWide = zone == nil
        let made = [database.incarnation] + (zone == nil ? [] : zones.map(\.line.incarnation))
        return try WireCodec.encode(.queryRecords(asked)).body
            + made.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }
    }

    private func zones(
        _ database: DatabaseRow, _ transaction: any BackendTransaction
    ) throws -> [QueryRun.Zone] {
        guard zone == nil else { return [] }
        let access = try rules.access(to: key, transaction)
        return try transaction.zones(in: database.id).sorted { $0.id < $1.id }.map {
            QueryRun.Zone(
                row: $0, zoneID: ZoneID(zoneName: $0.name), line: try transaction.line(of: $0),
                access: access)
        }
    }

    // MARK: Fields

    private func plan(
        _ database: Int64?, _ transaction: any BackendTransaction
    ) throws -> QueryPlan {
        let types = try fieldTypes(database, transaction)
        return QueryPlan(
            try request.query.filters.map { filter in
                try QueryFilter(filter, type: types[filter.field])
            },
            try QueryOrder(request.query.sorts) { types[$0] })
    }

    /// The types of all fields that the query names. Throws BAD_REQUEST for one that may not be
    /// queried.
    private func fieldTypes(
        _ database: Int64?, _ transaction: any BackendTransaction
    ) throws -> [QueriedField: String] {
        let type = request.query.recordType
        var types: [QueriedField: String] = [:]
        for field in request.query.filters.map(\.field) + request.query.sorts.map(\.field) {
            switch field {
            case .system(let system): types[field] = system.type.rawValue
            case .anyText: break
            case .field(let name):
                guard
                    try key.environment == DatabaseKey.development
                        || transaction.isDeclared(name, of: type, container: key.container)
                else {
                    throw RecordError(
                        .badRequest,
                        "Field '\(name)' of \(type) is not marked queryable; who runs the service "
                            + "declares it.")
                }
                let use = try database.flatMap {
                    try transaction.fieldUse(FieldKey(name, of: type), in: $0)
                }
                if let use, use.records > 0 { types[field] = use.type }
            }
        }
        return types
    }
}
