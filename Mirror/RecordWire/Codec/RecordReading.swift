/// Reads zones, records and errors. (SERVICE §4 and §5)
extension WireObject {
    func zoneID(_ key: WireKey = "zoneID") throws -> ZoneID? { try object(key)?.asZoneID() }

    /// `ownerName` is a spelling of other clients for `ownerRecordName`.
    func asZoneID() throws -> ZoneID {
        try allow(["zoneName", "ownerRecordName", "ownerName", "zoneType"])
        return ZoneID(
            zoneName: try string("zoneName") ?? ZoneID.defaultName,
            ownerRecordName: try string("ownerRecordName") ?? string("ownerName"))
    }

    /// `numberAsStrings` is how one page of the protocol spells it.
    func numbersAsStrings() throws -> Bool {
        try bool("numbersAsStrings") ?? bool("numberAsStrings") ?? false
    }

    private static let recordKeys: [WireKey] = [
        "recordName", "recordType", "recordChangeTag", "writeID", "writeIDs", "replays", "fields",
        "pluginFields", "created", "modified", "deleted", "zoneID",
    ]

    private static let allRecordKeys = recordKeys + sharingKeys
    /// The protocol's page about assets has the fields to answer inside an operation's record.
    private static let requestedRecordKeys = allRecordKeys + ["desiredKeys"]

    /// A name or a type that is absent becomes empty.
    func asRecord(inRequest: Bool = false) throws -> Record {
        try allow(inRequest ? Self.requestedRecordKeys : Self.allRecordKeys)
        var record = Record(
            recordName: try string("recordName") ?? "", recordType: try recordType(),
            recordChangeTag: try string("recordChangeTag"), fields: try fields())
        record.writeID = try string("writeID")
        record.recentWriteIDs = try strings("writeIDs") ?? []
        record.replays = try objects("replays") { try $0.replay() } ?? []
        record.created = try stamp("created")
        record.modified = try stamp("modified")
        record.deleted = try bool("deleted") ?? false
        record.zoneID = try zoneID()
        let isPlain = members.allSatisfy { member in
            Self.recordKeys.contains { member.isNamed($0) }
        }
        if !isPlain { try readSharing(into: &record) }
        return record
    }

    /// The protocol's own pages spell the type of shares in two ways.
    private func recordType() throws -> String {
        let type = try string("recordType") ?? ""
        return type.isExactly("cloudKit.share") ? Record.shareType : type
    }

    private func fields() throws -> RecordFields {
        guard let object = try object("fields") else { return [:] }
        let count = object.value.count
        guard count <= WireLimits.fieldsMax else {
            var error = refusal(
                "fields", "has \(count) fields; a record takes \(WireLimits.fieldsMax)")
            error.code = .limitExceeded
            throw error
        }
        var fields: [RecordFields.Entry] = []
        fields.reserveCapacity(count)
        for member in object.members {
            let isNull = member.value.isNull
            let value = isNull ? nil : try FieldReading(object.child(member.value)).read()
            let name = member.name
            guard !SharingField.isReserved(name) else {
                guard isStrict else { continue }
                throw object.unknown(member)
            }
            fields.append(RecordFields.Entry(key: name, value: value))
        }
        return RecordFields(fields)
    }

    /// CloudKit JS says `user` for `userRecordName`.
    private func stamp(_ key: WireKey) throws -> RecordStamp? {
        guard let object = try object(key) else { return nil }
        try object.allow(["timestamp", "userRecordName", "user", "deviceID"])
        return RecordStamp(
            timestamp: try object.required("timestamp", object.integer),
            userRecordName: try object.string("userRecordName") ?? object.string("user"),
            deviceID: try object.string("deviceID"))
    }

    /// The error this object is, or nil when it is none.
    func asError() throws -> RecordError? {
        guard let code = try string("serverErrorCode") else { return nil }
        var error = RecordError(
            RecordError.Code(rawValue: code), try string("reason") ?? "No reason was given.",
            recordName: try string("recordName"), zoneID: try zoneID())
        error.uuid = try string("uuid")
        error.subscriptionID = try string("subscriptionID")
        error.retryAfterSeconds = try double("retryAfter")
        error.redirectURL = try string("redirectURL")
        error.serverRecord = try object("serverRecord")?.asRecord()
        return error
    }
}
