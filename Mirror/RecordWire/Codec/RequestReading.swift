internal import Foundation

/// Reads the body of each request, strictly. (SERVICE §3)
extension WireObject {
    func modifyRecords() throws -> ModifyRecords {
        try allow([
            "operations", "zoneID", "atomic", "desiredKeys", "numbersAsStrings", "numberAsStrings",
            "client",
        ])
        var modify = ModifyRecords(
            operations: try required("operations") { try objects($0) { try $0.recordOperation() } },
            zoneID: try zoneID(), atomic: try bool("atomic") ?? false)
        modify.desiredKeys = try strings("desiredKeys")
        modify.numbersAsStrings = try numbersAsStrings()
        modify.client = try client()
        return modify
    }

    /// Some clients name the type beside the record.
    private static let operationKeys: [WireKey] = ["operationType", "record", "recordType"]

    private func recordOperation() throws -> RecordOperation {
        try allow(Self.operationKeys)
        let name = try required("operationType", string)
        guard let kind = RecordOperation.Kind(rawValue: name) else {
            let known = RecordOperation.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw refusal("operationType", "is \(name); known are \(known)")
        }
        let record = try required("record", object)
        var operation = RecordOperation(kind, try record.asRecord(inRequest: true))
        operation.desiredKeys = try record.strings("desiredKeys")
        if operation.record.recordType.isEmpty, let type = try string("recordType") {
            operation.record.recordType = type
        }
        return operation
    }

    func lookupRecords() throws -> LookupRecords {
        try allow([
            "records", "zoneID", "desiredKeys", "numbersAsStrings", "numberAsStrings", "client",
        ])
        var keysByName: [ExactName: [String]] = [:]
        let names = try required("records") {
            try objects($0) { entry in
                try entry.allow(["recordName", "desiredKeys"])
                let name = try entry.required("recordName", entry.string)
                keysByName[ExactName(name)] = try entry.strings("desiredKeys")
                return name
            }
        }
        var lookup = LookupRecords(recordNames: names, zoneID: try zoneID())
        lookup.desiredKeys = try strings("desiredKeys")
        lookup.desiredKeysByName = keysByName
        lookup.numbersAsStrings = try numbersAsStrings()
        lookup.client = try client()
        return lookup
    }

    /// What may stand at the top, as the default of each zone, and in one zone.
    private static let zoneDefaultKeys: [WireKey] = [
        "syncToken", "reverse", "desiredKeys", "desiredRecordTypes", "resultsLimit",
        "numbersAsStrings", "numberAsStrings",
    ]

    /// Keys at the top are defaults of each zone. `numbersAsStrings` in one zone counts for the
    /// whole answer, whose values name their types anyway.
    func zoneChanges() throws -> ZoneChanges {
        try allow(Self.zoneDefaultKeys + ["zones", "waitSeconds"])
        let defaults = try zoneChangesEntry(zoneID: ZoneID())
        var asStrings = try numbersAsStrings()
        let zones = try required("zones") {
            try objects($0) { entry in
                try entry.allow(Self.zoneDefaultKeys + ["zoneID", "client"])
                var zone = try entry.zoneChangesEntry(
                    zoneID: entry.required("zoneID") { try entry.zoneID($0) })
                zone.syncToken = zone.syncToken ?? defaults.syncToken
                zone.resultsLimit = zone.resultsLimit ?? defaults.resultsLimit
                zone.desiredKeys = zone.desiredKeys ?? defaults.desiredKeys
                zone.desiredRecordTypes = zone.desiredRecordTypes ?? defaults.desiredRecordTypes
                zone.isReversed = zone.isReversed ?? defaults.isReversed
                asStrings = try asStrings || entry.numbersAsStrings()
                return zone
            }
        }
        var changes = ZoneChanges(zones: zones)
        changes.waitSeconds = try limit("waitSeconds")
        changes.numbersAsStrings = asStrings
        return changes
    }

    private func zoneChangesEntry(zoneID: ZoneID) throws -> ZoneChanges.Zone {
        var zone = ZoneChanges.Zone(
            zoneID: zoneID, syncToken: try string("syncToken"),
            resultsLimit: try limit("resultsLimit"))
        zone.desiredKeys = try strings("desiredKeys")
        zone.desiredRecordTypes = try strings("desiredRecordTypes")
        zone.isReversed = try bool("reverse")
        zone.client = try client()
        return zone
    }

    /// One zone at the top, as it was before `changes/zone`.
    func recordChanges() throws -> RecordChanges {
        try allow(Self.zoneDefaultKeys + ["zoneID", "client"])
        var changes = RecordChanges(
            zone: try zoneChangesEntry(zoneID: required("zoneID") { try zoneID($0) }))
        changes.numbersAsStrings = try numbersAsStrings()
        return changes
    }

    /// Both operations take both names of the token: a name that is passed over would give the
    /// first page for ever.
    func databaseChanges(isMeta: Bool) throws -> DatabaseChanges {
        try allow(["syncToken", "metaSyncToken", "resultsLimit"])
        let token = try string("syncToken")
        let metaToken = try string("metaSyncToken")
        guard token == nil || metaToken == nil || token == metaToken else {
            throw refusal("metaSyncToken", "is another token than syncToken; send one of them")
        }
        var changes = DatabaseChanges(
            syncToken: token ?? metaToken, resultsLimit: try limit("resultsLimit"))
        changes.isMeta = isMeta
        return changes
    }

    func modifyZones() throws -> [ZoneOperation] {
        try allow(["operations"])
        return try required("operations") { try objects($0) { try $0.zoneOperation() } }
    }

    private func zoneOperation() throws -> ZoneOperation {
        try allow(["operationType", "zone"])
        let name = try required("operationType", string)
        guard let kind = ZoneOperation.Kind(rawValue: name) else {
            throw refusal("operationType", "is \(name); known are create, delete")
        }
        let zone = try required("zone", object)
        try zone.allow(["zoneID", "syncToken", "atomic"])
        return ZoneOperation(kind, try zone.required("zoneID") { try zone.zoneID($0) })
    }

    func lookupZones() throws -> [ZoneID] {
        try allow(["zones"])
        return try required("zones") { try objects($0) { try $0.lookupZone() } }
    }

    /// Each entry is a zone ID, or an object that holds one as `zoneID`.
    private func lookupZone() throws -> ZoneID {
        guard has("zoneID") else { return try asZoneID() }
        try allow(["zoneID"])
        return try required("zoneID") { try zoneID($0) }
    }

    func nothing() throws { try allow([]) }
}
