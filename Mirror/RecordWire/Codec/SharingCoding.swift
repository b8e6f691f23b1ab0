/// Shares and hierarchies on the wire. (SERVICE §3, sharing)
extension WireObject {
    static let sharingKeys: [WireKey] = [
        "createShortGUID", "parent", "share", "shortGUID", "forRecord", "publicPermission",
        "participants", "owner", "currentUserParticipant",
    ]

    /// Puts what belongs to sharing among the record's fields.
    func readSharing(into record: inout Record) throws {
        if try flag("createShortGUID") == true { record.createsShortGUID = true }
        if contains("parent") { record.parent = try recordName("parent") }
        record.share = try recordName("share") ?? record.share
        record.shortGUID = try string("shortGUID") ?? record.shortGUID
        if let target = try object("forRecord") {
            try target.allow(["recordName", "recordChangeTag"])
            record.sharedRoot = try target.required("recordName", target.string)
            record.sharedRootTag = try target.string("recordChangeTag")
        }
        if let permission: ShareParticipant.Permission = try word("publicPermission") {
            record.publicPermission = permission
        }
        if let participants = try objects("participants", { try $0.participant() }) {
            record.participants = participants
        }
        // The service's to say: in a request they are passed over.
        _ = try object("owner")?.participant()
        if let current = try object("currentUserParticipant")?.participant() {
            record.currentParticipantID = current.participantID
        }
    }

    private func recordName(_ key: WireKey) throws -> String? {
        guard let target = try object(key) else { return nil }
        try target.allow(["recordName", "zoneID", "action"])
        _ = try target.zoneID()
        return try target.required("recordName", target.string)
    }

    private func participant() throws -> ShareParticipant {
        try allow([
            "participantId", "userIdentity", "permission", "type", "acceptanceStatus",
        ])
        var participant = ShareParticipant(
            participantID: try string("participantId") ?? "",
            identity: try object("userIdentity")?.userIdentity() ?? UserIdentity())
        participant.permission = try word("permission") ?? .readOnly
        participant.kind = try word("type") ?? .user
        participant.status = try word("acceptanceStatus") ?? .invited
        return participant
    }

    private func word<Word: RawRepresentable & CaseIterable>(_ key: WireKey) throws -> Word?
    where Word.RawValue == String {
        guard let text = try string(key) else { return nil }
        guard let word = Word(rawValue: text) else {
            let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw refusal(key, "is \(text); known are \(known)")
        }
        return word
    }

    // MARK: Short GUIDs

    func shareLookup() throws -> ShareLookup {
        try allow(["shortGUIDs"])
        return ShareLookup(
            try required("shortGUIDs") {
                try objects($0) { entry in
                    try entry.allow(["value", "shouldFetchRootRecord", "rootRecordDesiredKeys"])
                    return ShareLookup.Entry(
                        shortGUID: try entry.required("value", entry.string),
                        fetchesRoot: try entry.flag("shouldFetchRootRecord") ?? false,
                        rootKeys: try entry.strings("rootRecordDesiredKeys"))
                }
            })
    }

    func shareResult() throws -> ShareResult {
        if let error = try asError() { return .failure(error) }
        var participant = ShareParticipant(identity: UserIdentity())
        participant.permission = try word("participantPermission") ?? .unknown
        participant.status = try word("participantStatus") ?? .unknown
        participant.kind = try word("participantType") ?? .unknown
        let share = try required("share", object).asRecord()
        participant.participantID = share.currentParticipantID ?? ""
        var result = ShareMetadata(
            shortGUID: try required("shortGUID", string),
            target: RecordTarget(
                container: try required("containerIdentifier", string),
                environment: try required("environment", string)),
            isShared: try string("databaseScope") == "SHARED",
            zoneID: try required("zoneID") { try zoneID($0) }, share: share,
            owner: try object("ownerIdentity")?.userIdentity() ?? UserIdentity(),
            participant: participant)
        result.rootRecordName = try string("rootRecordName")
        result.rootRecord = try object("rootRecord")?.asRecord()
        return .share(result)
    }
}

extension JSONWriter {
    /// Writes what belongs to sharing into the record that is being written.
    mutating func sharing(of record: Record) {
        if record.createsShortGUID { member("createShortGUID", true) }
        member("shortGUID", record.shortGUID)
        if let value = record.fields[SharingField.parent] {
            key("parent")
            value == nil ? null() : object { $0.member("recordName", record.parent) }
        }
        if let share = record.share {
            key("share")
            object {
                $0.member("recordName", share)
                $0.member("zoneID", record.zoneID)
            }
        }
        if let root = record.sharedRoot {
            key("forRecord")
            object {
                $0.member("recordName", root)
                $0.member("recordChangeTag", record.sharedRootTag)
            }
        }
        member("publicPermission", record.publicPermission?.rawValue)
        guard let participants = record.participants else { return }
        key("participants")
        array(participants) { writer, participant in writer.participant(participant) }
        if let owner = participants.first(where: { $0.kind == .owner }) {
            key("owner")
            participant(owner)
        }
        let current = record.currentParticipantID
        guard let current = participants.first(where: { $0.participantID == current }) else {
            return
        }
        key("currentUserParticipant")
        participant(current)
    }

    private mutating func participant(_ participant: ShareParticipant) {
        object { writer in
            if !participant.participantID.isEmpty {
                writer.member("participantId", participant.participantID)
            }
            writer.key("userIdentity")
            writer.object { $0.userIdentity(participant.identity) }
            writer.member("type", participant.kind.rawValue)
            writer.member("acceptanceStatus", participant.status.rawValue)
            writer.member("permission", participant.permission.rawValue)
        }
    }

    // MARK: Short GUIDs

    mutating func shareLookup(_ lookup: ShareLookup) {
        key("shortGUIDs")
        array(lookup.entries) { writer, entry in
            writer.object {
                $0.member("value", entry.shortGUID)
                $0.member("shouldFetchRootRecord", entry.fetchesRoot)
                $0.member("rootRecordDesiredKeys", entry.rootKeys)
            }
        }
    }

    mutating func shareResults(_ results: [ShareResult]) throws {
        key("results")
        try array(results) { writer, result in
            try writer.object {
                switch result {
                case .share(let found): try $0.share(found)
                case .failure(let error): try $0.error(error, numbersAsStrings: false)
                }
            }
        }
    }

    private mutating func share(_ found: ShareMetadata) throws {
        member("shortGUID", found.shortGUID)
        member("containerIdentifier", found.container)
        member("environment", found.environment)
        member("databaseScope", found.isShared ? "SHARED" : "PRIVATE")
        member("zoneID", found.zoneID)
        member("rootRecordName", found.rootRecordName)
        if let root = found.rootRecord {
            key("rootRecord")
            try object { try $0.record(root, numbersAsStrings: false) }
        }
        key("share")
        try object { try $0.record(found.share, numbersAsStrings: false) }
        key("ownerIdentity")
        object { $0.userIdentity(found.owner) }
        member("participantPermission", found.participant.permission.rawValue)
        member("participantStatus", found.participant.status.rawValue)
        member("participantType", found.participant.kind.rawValue)
    }
}
