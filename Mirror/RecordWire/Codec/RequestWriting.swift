internal import Foundation

/// The body of each request. (SERVICE §3)
extension JSONWriter {
    mutating func request(_ request: RecordRequest) throws {
        switch request {
        case .modifyRecords(let modify): try object { try $0.modify(modify) }
        case .lookupRecords(let lookup): object { $0.lookup(lookup) }
        case .queryRecords(let query): try object { try $0.query(query) }
        case .zoneChanges(let changes): object { $0.zoneChanges(changes) }
        case .databaseChanges(let changes):
            object {
                $0.member(changes.isMeta ? "metaSyncToken" : "syncToken", changes.syncToken)
                $0.member("resultsLimit", changes.resultsLimit.map(Int64.init))
            }
        case .recordChanges(let changes):
            object {
                $0.zoneEntry(changes.zone)
                if changes.numbersAsStrings { $0.member("numbersAsStrings", true) }
            }
        case .modifyZones(let operations): object { $0.modifyZones(operations) }
        case .lookupZones(let zones):
            object {
                $0.key("zones")
                $0.array(zones) { $0.zoneID($1) }
            }
        case .modifySubscriptions(let operations):
            try object { try $0.modifySubscriptions(operations) }
        case .lookupSubscriptions(let ids): object { $0.lookupSubscriptions(ids) }
        case .createToken(let token), .registerToken(let token): object { $0.courierToken(token) }
        case .uploadAssets(let upload): object { $0.uploadAssets(upload) }
        case .rereferenceAssets(let places): object { $0.rereferenceAssets(places) }
        case .lookupUsers(let lookup): userLookup(lookup)
        case .resolveShares(let lookup), .acceptShares(let lookup):
            object { $0.shareLookup(lookup) }
        case .listZones, .listSubscriptions, .caller, .currentUser: break
        }
    }

    private mutating func modify(_ modify: ModifyRecords) throws {
        key("operations")
        try array(modify.operations) { writer, operation in
            try writer.object {
                $0.member("operationType", operation.kind.rawValue)
                $0.key("record")
                try $0.object {
                    try $0.record(operation.record, numbersAsStrings: modify.numbersAsStrings)
                    $0.member("desiredKeys", operation.desiredKeys)
                }
            }
        }
        member("zoneID", modify.zoneID)
        if modify.atomic { member("atomic", true) }
        member("desiredKeys", modify.desiredKeys)
        member("client", modify.client)
        if modify.numbersAsStrings { member("numbersAsStrings", true) }
    }

    private mutating func lookup(_ lookup: LookupRecords) {
        key("records")
        array(lookup.recordNames) { writer, name in
            writer.object {
                $0.member("recordName", name)
                $0.member("desiredKeys", lookup.desiredKeysByName[ExactName(name)])
            }
        }
        member("zoneID", lookup.zoneID)
        member("desiredKeys", lookup.desiredKeys)
        member("client", lookup.client)
        if lookup.numbersAsStrings { member("numbersAsStrings", true) }
    }

    private mutating func zoneChanges(_ changes: ZoneChanges) {
        key("zones")
        array(changes.zones) { writer, zone in
            writer.object { $0.zoneEntry(zone) }
        }
        if changes.numbersAsStrings { member("numbersAsStrings", true) }
        member("waitSeconds", changes.waitSeconds.map(Int64.init))
    }

    private mutating func zoneEntry(_ zone: ZoneChanges.Zone) {
        member("zoneID", zone.zoneID)
        member("syncToken", zone.syncToken)
        member("resultsLimit", zone.resultsLimit.map(Int64.init))
        member("desiredKeys", zone.desiredKeys)
        member("desiredRecordTypes", zone.desiredRecordTypes)
        if zone.isReversed == true { member("reverse", true) }
        member("client", zone.client)
    }

    private mutating func modifyZones(_ operations: [ZoneOperation]) {
        key("operations")
        array(operations) { writer, operation in
            writer.object {
                $0.member("operationType", operation.kind.rawValue)
                $0.key("zone")
                $0.object { $0.member("zoneID", operation.zoneID) }
            }
        }
    }
}
