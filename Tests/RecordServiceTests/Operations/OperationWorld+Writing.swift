import RecordService
import RecordWire

/// Records, zones and shares.
extension OperationWorld {
    // MARK: Records

    func write(
        _ place: OperationStep.Place, _ writings: [OperationStep.Writing], atomic: Bool, _ user: Int
    ) throws {
        let key = key(place, user)
        if case .shared(let owner, let zone) = place, owner == user || zone == 0 { return }
        let zone = zones[key] ?? ZoneModel()
        let operations = writings.map { operation($0, zone, place, user) }
        try perform(operations, atomic: atomic, place, user)
    }

    private func operation(
        _ writing: OperationStep.Writing, _ zone: ZoneModel, _ place: OperationStep.Place,
        _ user: Int
    ) -> ModelOperation {
        let name = Self.name(writing.name)
        var operation = ModelOperation(
            kind: writing.kind, name: name, type: Self.type(writing.name))
        switch writing.tag {
        case .right: operation.tag = zone.records[name].map { $0.tag } ?? "1.1"
        case .stale: operation.tag = "1.zz"
        case .missing: break
        }
        guard !operation.isDeletion else {
            operation.type = ""
            return operation
        }
        for field in writing.fields { set(field, in: &operation, place, user) }
        if let parent = writing.parent {
            operation.parent = .some(parent < 0 ? nil : Self.name(parent))
        }
        return operation
    }

    private func set(
        _ field: OperationStep.Field, in operation: inout ModelOperation,
        _ place: OperationStep.Place, _ user: Int
    ) {
        switch field {
        case .title(let number): operation.fields["title"] = .string("t\(number)")
        case .wrongTitle: operation.fields["title"] = .int64(1)
        case .count(let number): operation.fields["count"] = .int64(Int64(number))
        case .secret(let number): operation.fields["secret"] = .encrypted(.string("s\(number)"))
        case .clear(let name): operation.fields.updateValue(nil, forKey: name)
        case .link(let target, let action):
            operation.fields["link"] = .reference(
                RecordReference(recordName: Self.name(target), action: action))
        case .picture(let content, let usesReceipt):
            var asset = RecordAsset()
            if usesReceipt, let receipt = settings.receipts[user]?.last[content] {
                asset.receipt = receipt
            } else {
                asset.fileChecksum =
                    settings.checksums[content] ?? String(repeating: "A", count: 43) + "="
            }
            operation.fields["picture"] = .asset(asset)
        }
    }

    private func request(
        _ operations: [ModelOperation], _ key: ZoneKey, _ user: Int, atomic: Bool
    ) -> RecordRequest {
        .modifyRecords(
            ModifyRecords(
                operations: operations.map { operation in
                    var record = Record(
                        recordName: operation.name, recordType: operation.type,
                        recordChangeTag: operation.tag, fields: operation.fields)
                    if let parent = operation.parent { record.parent = parent }
                    if let share = operation.share { record.sharedRoot = share.root }
                    if operation.givesParticipants {
                        record.participants = (operation.share?.participants ?? [:])
                            .sorted { $0.key < $1.key }
                            .map {
                                SharingFixture.participant(
                                    users[$0.key], $0.value.writes ? .readWrite : .readOnly)
                            }
                    }
                    if let permission = operation.permission {
                        record.publicPermission = permission
                    }
                    return RecordOperation(operation.kind, record)
                }, zoneID: zoneID(key, for: user), atomic: atomic))
    }

    func perform(
        _ operations: [ModelOperation], atomic: Bool, _ place: OperationStep.Place, _ user: Int
    ) throws {
        let key = key(place, user)
        let (response, refusal) = try answer(
            request(operations, key, user, atomic: atomic), user, place)
        guard isOpen(place, user), let zone = zones[key] else {
            return try expect(
                refusal?.code == .zoneNotFound,
                "a write to \(key) was answered \(refusal?.code.rawValue ?? "done")")
        }
        var model = ModelRequest(zone, surroundings(place, user), operations)
        switch model.perform(operations, atomic: atomic) {
        case .refused(let code):
            counts["refused", default: 0] += 1
            return try expect(
                refusal?.code == code,
                "\(operations) was answered \(refusal?.code.rawValue ?? "\(response as Any)"), "
                    + "not \(code.rawValue)")
        case .results(let codes):
            guard case .records(let reply)? = response else {
                throw OperationViolation(
                    description: "\(operations) was refused: \(refusal as Any), not \(codes)")
            }
            counts["records", default: 0] += codes.count { $0 == nil }
            try compare(reply, codes, operations, model.zone, place)
            settle(model, key)
            try learn(reply, codes, key)
            try followOwn(key, model.changed)
            try checkNotices(of: model.changed, model.made, key)
        }
    }

    private func compare(
        _ reply: RecordsReply, _ codes: [RecordError.Code?], _ operations: [ModelOperation],
        _ zone: ZoneModel, _ place: OperationStep.Place
    ) throws {
        for ((result, code), operation) in zip(zip(reply.results, codes), operations) {
            try expect(
                result.error?.code == code,
                "\(operation) was answered \(result.error.map { "\($0)" } ?? "done"), not "
                    + (code?.rawValue ?? "done"))
            guard let record = result.record else {
                if code == .conflict || code == .exists, case .own = place {
                    try expect(
                        result.error?.serverRecord?.recordName == operation.name,
                        "\(operation) was refused without the service's record")
                }
                if code == .uniqueFieldError, case .own = place {
                    try expect(
                        result.error?.serverRecord != nil,
                        "\(operation) was refused without the record that has the key")
                }
                continue
            }
            guard !record.deleted else { continue }
            guard zone.live(operation.name) != nil else {
                // It was written, and went with its target: that is read on from the write.
                try expect(
                    reply.previousSyncToken == nil,
                    "\(operation.name) is there, and the client is not sent to read on")
                continue
            }
            try check(record, zone, place)
        }
    }

    private func settle(_ model: ModelRequest, _ key: ZoneKey) {
        zones[key] = model.zone
        if !model.changed.isEmpty { noteDirty(key) }
    }

    /// Takes over what only the service can say: tags and short GUIDs.
    private func learn(
        _ reply: RecordsReply, _ codes: [RecordError.Code?], _ key: ZoneKey
    ) throws {
        for record in reply.results.compactMap(\.record) {
            guard zones[key]?.records[record.recordName]?.isDeleted == record.deleted else {
                continue
            }
            zones[key]?.records[record.recordName]?.tag = record.recordChangeTag
            if record.isShare, let guid = record.shortGUID {
                zones[key]?.records[record.recordName]?.share?.shortGUID = guid
            }
        }
    }

    private func surroundings(
        _ place: OperationStep.Place, _ user: Int
    ) -> ModelSurroundings {
        let key = key(place, user)
        var found = ModelSurroundings(
            takesShares: key.owner != nil && key.zone > 0, isPublic: key.owner == nil, actor: user)
        for (other, zone) in zones where other != key && other.owner == key.owner {
            found.recordsElsewhere += zone.liveRecords.count
            guard other.production == key.production else { continue }
            found.types.merge(zone.types) { known, _ in known }
            found.contents.formUnion(zone.contents)
        }
        found.recordsMax = key.owner.flatMap { settings.quotas[$0] }
        if key.production { found.schema = settings.schemas.deployed }
        found.keys = settings.schemas.keys[key.production] ?? []
        switch place {
        case .own(_, let production):
            if !production { found.receipts = settings.receipts[user]?.good ?? [:] }
        case .common:
            let settings = settings
            found.check = { try settings.check($0, $1, user) }
        case .shared:
            found.participant = user
            let rules = { (zone: ZoneModel) in
                ParticipantRules(shares: zone.shares(acceptedBy: user))
            }
            found.check = { try rules($1).check($0, $1) }
        }
        return found
    }

    // MARK: Shares

    func share(zone: Int, root: Int?, _ sharing: OperationStep.Sharing, _ user: Int) throws {
        let place = OperationStep.Place.own(zone, production: false)
        let name = Self.name(root.map { OperationStep.firstShare + $0 } ?? OperationStep.zoneShare)
        var operation = ModelOperation(kind: sharing.kind, name: name, type: Record.shareType)
        var share = ModelShare(root: root.map(Self.name))
        for (other, writes) in sharing.participants ?? [:] where other != user {
            share.participants[other] = ModelShare.Participant(writes: writes)
        }
        operation.share = share
        operation.givesParticipants = sharing.participants != nil
        operation.permission = sharing.permission
        let known = zones[key(place, user)]?.records[name]
        // Who made it once and deleted it names the deletion.
        if sharing.kind == .create { operation.tag = known?.tag }
        try perform([operation], atomic: false, place, user)
    }

    func accept(owner: Int, zone: Int, root: Int?, _ user: Int) throws {
        let key = ZoneKey(owner: owner, zone: zone)
        let name = Self.name(root.map { OperationStep.firstShare + $0 } ?? OperationStep.zoneShare)
        let share = zones[key]?.live(name)?.share
        let lookup = ShareLookup([.init(shortGUID: share?.shortGUID ?? "none")])
        let isMeant =
            share.map {
                owner == user || $0.participants[user] != nil || $0.permission != .none
            } ?? false
        for request in [RecordRequest.resolveShares(lookup), .acceptShares(lookup)] {
            let place = OperationStep.Place.shared(owner: owner, zone: zone)
            guard case .shares(let results) = try send(request, user, place) else {
                throw WrongAnswer()
            }
            try expect(
                results[0].error?.code == (isMeant ? nil : .notFound),
                "a share was answered \(results[0])")
        }
        guard isMeant, owner != user, share?.participants[user]?.hasAccepted != true else {
            return
        }
        var participant =
            share?.participants[user]
            ?? .init(writes: share?.permission == .readWrite, isPublic: true)
        participant.hasAccepted = true
        zones[key]?.records[name]?.share?.participants[user] = participant
        try touched([name], key)
    }

    /// After a share was written by others than its owner.
    private func touched(_ names: Set<String>, _ key: ZoneKey) throws {
        for name in names { zones[key]?.records[name]?.tag = nil }
        guard !names.isEmpty else { return }
        noteDirty(key)
        try followOwn(key, names)
        try checkNotices(of: names, [], key)
    }

    func leave(owner: Int, zone: Int, _ user: Int) throws {
        guard owner != user, zone > 0 else { return }
        let place = OperationStep.Place.shared(owner: owner, zone: zone)
        let key = key(place, user)
        guard let zoneID = zoneID(key, for: user) else { return }
        let isThere = isOpen(place, user)
        guard
            case .zones(let results) = try send(
                .modifyZones([ZoneOperation(.delete, zoneID)]), user, place)
        else { throw WrongAnswer() }
        try expect(
            results[0].error?.code == (isThere ? nil : .zoneNotFound),
            "leaving \(key) was answered \(results[0])")
        guard isThere, let model = zones[key] else { return }
        let shares = Set(model.shares(acceptedBy: user).keys)
        for name in shares { zones[key]?.records[name]?.share?.participants[user] = nil }
        try touched(shares, key)
    }

    // MARK: Zones

    func makeZone(_ zone: Int, production: Bool, _ user: Int) throws {
        let place = OperationStep.Place.own(zone, production: production)
        let key = key(place, user)
        let zoneID = zoneID(key, for: user) ?? ZoneID()
        guard
            case .zones(let results) = try send(
                .modifyZones([ZoneOperation(.create, zoneID)]), user, place)
        else { throw WrongAnswer() }
        try expect(results[0].error == nil, "\(key) was not made: \(results[0])")
        try settings.once(user, drainNotices(user))
        guard zones[key] == nil else { return }
        var model = ZoneModel()
        incarnations[key, default: 0] += 1
        model.incarnation = incarnations[key] ?? 0
        zones[key] = model
        noteDirty(key)
        try followOwn(key, nil)
    }

    func deleteZone(_ zone: Int, production: Bool, _ user: Int) throws {
        let place = OperationStep.Place.own(zone, production: production)
        let key = key(place, user)
        let zoneID = zoneID(key, for: user) ?? ZoneID()
        guard
            case .zones(let results) = try send(
                .modifyZones([ZoneOperation(.delete, zoneID)]), user, place)
        else { throw WrongAnswer() }
        let code: RecordError.Code? =
            zone == 0 ? .badRequest : incarnations[key] == nil ? .zoneNotFound : nil
        try expect(results[0].error?.code == code, "deleting \(key) was answered \(results[0])")
        try settings.once(user, drainNotices(user))
        guard zone > 0, zones[key] != nil else { return }
        zones[key] = nil
        noteDirty(key)
    }
}
