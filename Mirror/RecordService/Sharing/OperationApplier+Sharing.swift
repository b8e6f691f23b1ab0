internal import RecordWire

/// What belongs to sharing, when a record is written or deleted.
extension OperationApplier {
    /// Puts into `fields` what sharing keeps of the record: what it had, and of what is asked for
    /// the part that a client may decide. Throws BAD_REQUEST, CONFLICT, LIMIT_EXCEEDED.
    mutating func settleSharing(
        _ fields: inout RecordFields, of given: Record, type: String,
        _ former: RecordFields
    ) throws {
        let isShare = type.isExactly(Record.shareType)
        guard given.fields.holdReserved || isShare || former.holdReserved else { return }
        guard sessions.sharing.isAllowed else {
            throw RecordError(
                .badRequest,
                "Shares and parents are for zones of your own in the private database.")
        }
        fields = fields.filter { !SharingField.isReserved($0.key) }
        for (name, value) in former where SharingField.isReserved(name) { fields[name] = value }
        var settled = Record(recordName: given.recordName, recordType: type, fields: fields)
        let before = Record(recordName: given.recordName, recordType: type, fields: former)
        if isShare {
            try settleShare(&settled, given, before)
        } else {
            try settleMember(&settled, given, before)
        }
        fields = settled.fields
    }

    private func settleMember(
        _ settled: inout Record, _ given: Record, _ former: Record
    ) throws {
        for name in [SharingField.publicPermission, SharingField.participants, SharingField.root]
        where given.fields[name] != nil {
            throw RecordError(
                .badRequest,
                "Participants, publicPermission and forRecord belong to a record of type "
                    + "\(Record.shareType).")
        }
        if given.createsShortGUID, settled.shortGUID == nil {
            settled.shortGUID = try manner.makeGUID()
        }
        guard given.fields[SharingField.parent] != nil else { return }
        guard let parent = given.parent else {
            settled.fields[SharingField.parent] = nil
            return sessions.sharing.noteParent(nil, of: given.recordName)
        }
        try limits.checkName(parent, of: "name of the parent")
        guard former.share == nil else {
            throw RecordError(.badRequest, "A record that is shared as a root takes no parent.")
        }
        try sessions.sharing.checkParent(parent, of: given.recordName)
        settled.parent = parent
        sessions.sharing.noteParent(parent, of: given.recordName)
    }

    // MARK: Shares

    private mutating func settleShare(
        _ settled: inout Record, _ given: Record, _ former: Record
    ) throws {
        if manner.actsForService {
            settled.participants = given.participants ?? former.participants
            let grants = list(of: settled).grants(of: given.recordName)
            return sessions.sharing.open(given.recordName, to: grants)
        }
        var list = list(of: former)
        guard given.parent == nil, !given.createsShortGUID else {
            throw RecordError(.badRequest, "A share has no parent, and a short GUID by itself.")
        }
        if former.participants == nil {
            try beginShare(&settled, given)
            let owner = sessions.sharing.key.owner
            try list.begin(
                with: sessions.sharing.transaction.profile(of: owner)?.identity
                    ?? UserIdentity(userRecordName: owner))
        } else if let root = given.sharedRoot, root != former.sharedRoot {
            throw RecordError(.badRequest, "A share stays with its record; make another share.")
        }
        let permission = given.publicPermission ?? former.publicPermission ?? .none
        guard permission != .unknown else {
            throw RecordError(.badRequest, "publicPermission cannot be UNKNOWN.")
        }
        if let participants = given.participants {
            try list.replace(with: participants) { info in
                try sessions.sharing.transaction.discoverable(info)
            }
        }
        list.fit(permission)
        settled.publicPermission = permission
        settled.participants = list.list
        sessions.sharing.open(given.recordName, to: list.grants(of: given.recordName))
    }

    private func list(of share: Record) -> ShareParticipants {
        ShareParticipants(share.participants ?? [], limits.work.sharing, manner.makeGUID)
    }

    private mutating func beginShare(_ settled: inout Record, _ given: Record) throws {
        let name = given.recordName
        let isOfZone = name.isExactly(Record.zoneShareName)
        guard isOfZone == (given.sharedRoot == nil) else {
            throw RecordError(
                .badRequest,
                "A share names the record that it is for in forRecord; the share of the whole "
                    + "zone is called \(Record.zoneShareName) and names none.")
        }
        try sessions.sharing.checkNewShare(name)
        settled.shortGUID = try manner.makeGUID()
        if let root = given.sharedRoot {
            settled.sharedRoot = root
            settled.shortGUID =
                try adopt(root, tag: given.sharedRootTag, by: name) ?? settled.shortGUID
        }
        let key = sessions.sharing.key
        sessions.sharing.make(
            ShareRow(
                zone: sessions.sharing.zone.id, name: name, shortGUID: settled.shortGUID ?? "",
                database: key, zoneName: zone.zoneName, root: given.sharedRoot))
    }

    /// Checks the record that is to be shared. Returns the short GUID that it has.
    private func adopt(_ root: String, tag: String?, by share: String) throws -> String? {
        guard let row = try storedRow(root), !row.isDeleted else {
            throw RecordService.notFound(root, wasDeleted: false)
        }
        try sessions.sharing.checkRoot(root, references.links)
        let isOfRequest = rows.contains { $0.name.isExactly(root) }
        guard isOfRequest || tag == nil || tag == row.tag.text else {
            throw RecordError(
                .conflict, "The record \(root) was changed since; fetch it and share it again.")
        }
        let record = try row.record(in: zone)
        guard !record.isShare, record.parent == nil, record.share == nil else {
            throw RecordError(
                .badRequest,
                record.share == nil
                    ? "The record \(root) is below another; share that, or take it out first."
                    : "The record \(root) is shared already; change that share.")
        }
        return record.shortGUID
    }

    /// The newest row of a record, of this request or before it.
    func storedRow(_ name: String) throws -> RecordRow? {
        if let row = rows.last(where: { $0.name.isExactly(name) }) { return row }
        return try damage.guarding(name, in: zone) {
            guard
                var row = try sessions.sharing.transaction.record(
                    named: name, in: sessions.sharing.zone.id)
            else { return nil }
            row.epoch = manner.epoch(row.change)
            sessions.usage.see(row)
            return row
        }
    }

    // MARK: Places

    /// What a write means for the places of a record and those below it. Throws ACCESS_DENIED
    /// where a participant would take the record out of its share.
    func shareMove(
        of record: String, type: String, _ fields: RecordFields
    ) throws -> ShareSession.Move? {
        guard sessions.sharing.isActive else { return nil }
        let move = try sessions.sharing.move(
            record, to: sharePlace(of: record, type: type, fields), references.links)
        guard manner.participant == nil || move?.leavesShare != true else {
            throw RecordError(
                .accessDenied,
                "The record would leave its share; only the owner takes it out, or into another.")
        }
        return move
    }

    /// The share that a record is in by what it says.
    private func sharePlace(
        of record: String, type: String, _ fields: RecordFields
    ) throws -> String? {
        let settled = Record(recordName: record, recordType: type, fields: fields)
        if settled.isShare { return settled.sharedRoot == nil ? nil : record }
        if let share = settled.share { return share }
        return try settled.parent.flatMap { try sessions.sharing.share(of: $0) }
    }

    /// After a share was written: its root is in it, with all below.
    mutating func finishShare(_ fields: RecordFields, of share: String) throws {
        let settled = Record(recordName: share, recordType: Record.shareType, fields: fields)
        guard let root = settled.sharedRoot else { return }
        try setShare(share, ofRoot: root)
    }

    /// Writes into a root which share it has; nothing where it says so already.
    private mutating func setShare(_ share: String?, ofRoot root: String) throws {
        guard let live = try storedRow(root), !live.isDeleted,
            let fields = try? RecordArchive.decodeFields(live.fields)
        else { return }
        var row = live
        var record = Record(recordName: root, recordType: row.type, fields: fields)
        guard record.share != share else { return }
        record.share = share
        row.fields = RecordArchive.encodeFields(record.fields)
        row.modified = stamp
        sessions.indexes.note(
            sessions.indexes.change(from: live, fields, to: row, record.fields), of: root)
        let move = try sessions.sharing.move(root, to: share, references.links)
        var number = counter
        sessions.sharing.begin(move, &number)
        number += 1
        row.change = number
        row.epoch = epoch
        sessions.sharing.end(move, &number)
        raise(to: number)
        replace(row)
    }

    /// What goes with a deleted record: with a root its share, with a share its hold on the root.
    mutating func finishDeletion(of row: RecordRow, _ former: RecordFields) throws {
        guard sessions.sharing.isAllowed else { return }
        try sessions.sharing.remove(row.name, at: row.change)
        let record = Record(recordName: row.name, recordType: row.type, fields: former)
        if record.isShare, record.participants != nil {
            sessions.sharing.dissolve(row.name)
            if let root = record.sharedRoot { try setShare(nil, ofRoot: root) }
        } else if let share = record.share, let row = try storedRow(share), !row.isDeleted {
            references.noteDeletion(of: share)
            expect(share)
            _ = try bury(row, by: Record(recordName: share, recordType: row.type))
        }
    }

    /// A participant deletes a share in the shared database: the user leaves it.
    mutating func leave(_ row: RecordRow, _ user: String) throws -> Record {
        var share = try row.record(in: zone)
        var list = list(of: share)
        list.remove(user)
        share.participants = list.list
        manner.actsForService = true
        defer { manner.actsForService = false }
        _ = try apply(RecordOperation(.forceUpdate, share), to: row)
        var gone = Record(recordName: row.name, recordType: row.type)
        gone.deleted = true
        gone.zoneID = zone
        return gone
    }
}
