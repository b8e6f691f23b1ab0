internal import RecordWire

/// Compares what a client knows with what the service knows, before anything is answered. (SERVICE
/// §8, epochs)
struct ClientCheck {
    let client: ClientState
    let zone: ZoneRow
    let zoneID: ZoneID
    let limits: ServiceLimits

    init?(_ client: ClientState?, zone: ZoneRow, zoneID: ZoneID, limits: ServiceLimits) {
        guard let client else { return nil }
        self.client = client
        self.zone = zone
        self.zoneID = zoneID
        self.limits = limits
    }

    /// Throws INSTANCE_FORKED for a copy, and CHANGE_TOKEN_EXPIRED for a client that has seen
    /// changes which this service lost.
    func run(_ line: EpochLine, _ transaction: any BackendTransaction) throws {
        try limits.checkName(client.instance, of: "instance")
        try limits.checkName(client.nonce, of: "nonce")
        if let known = try transaction.instance(client.instance, in: zone.id) {
            let isSame = known.round == client.round && known.nonce == client.nonce
            guard known.round < client.round || isSame else { throw forked }
        }
        guard let witness = client.witness.flatMap(ChangeTag.init) else { return }
        guard line.contains(witness) else { throw lost }
    }

    /// Remembers the round of a client that writes.
    func remember(_ transaction: any BackendTransaction, at milliseconds: Int64) throws {
        let known = try transaction.instance(client.instance, in: zone.id)
        guard known?.round != client.round else { return }
        try save(transaction, at: milliseconds)
        if known == nil {
            try transaction.removeInstances(in: zone.id, but: limits.retention.instancesPerZoneMax)
        }
    }

    /// Remembers the round of a client of whose request nothing was written, where what was refused
    /// may be taken later: from a guest who may write again, by a schema, within a quota. A late
    /// copy of the request does not do then what its user has taken back meanwhile. Such a client
    /// takes nobody's place in the memory.
    func remember(
        refused results: [RecordResult], _ transaction: any BackendTransaction,
        at milliseconds: Int64
    ) throws {
        guard results.contains(where: \.mayBeTakenLater) else { return }
        let known = try transaction.instance(client.instance, in: zone.id)
        guard known?.round != client.round else { return }
        let room = limits.retention.instancesPerZoneMax / 2
        if known == nil, try transaction.instanceCount(in: zone.id) >= room { return }
        try save(transaction, at: milliseconds)
    }

    private func save(_ transaction: any BackendTransaction, at milliseconds: Int64) throws {
        let row = InstanceRow(
            id: client.instance, round: client.round, nonce: client.nonce, seenAt: milliseconds)
        try transaction.save(row, in: zone.id)
    }

    private var forked: RecordError {
        RecordError(
            .instanceForked,
            "Another copy of this store was here under the same instance. Draw a new instance and "
                + "go on.", zoneID: zoneID)
    }

    private var lost: RecordError {
        RecordError(
            .changeTokenExpired,
            "The service was restored from an older copy: it does not know the newest change that "
                + "you have seen. Fetch from the start, without a token, and compare.",
            zoneID: zoneID)
    }
}

/// What the service remembers of one client's store.
struct InstanceRow {
    var id: String
    var round: Int64
    var nonce: String
    var seenAt: Int64
}

extension RecordResult {
    /// Whether the same may be taken another time, though nobody wrote the record since.
    fileprivate var mayBeTakenLater: Bool {
        guard case .failure(let error) = self else { return false }
        return ![.conflict, .exists].contains(error.code)
    }
}
