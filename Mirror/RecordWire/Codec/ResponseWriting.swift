internal import Foundation

/// The body of each answer. (SERVICE §3 and §5)
extension JSONWriter {
    mutating func response(_ response: RecordResponse, numbersAsStrings: Bool) throws {
        try object { writer in
            switch response {
            case .records(let reply):
                try writer.records(reply, numbersAsStrings: numbersAsStrings)
            case .zoneChanges(let zones):
                writer.key("zones")
                try writer.array(zones) {
                    try $0.zoneChanges($1, numbersAsStrings: numbersAsStrings)
                }
            case .recordChanges(let page):
                try writer.zoneChangesPage(page, numbersAsStrings: numbersAsStrings)
            case .databaseChanges(let reply): writer.databaseChanges(reply)
            case .zones(let results):
                writer.key("zones")
                try writer.array(results) { try $0.zone($1) }
            case .subscriptions(let results): try writer.subscriptions(results)
            case .courierToken(let token): writer.courierToken(token)
            case .nothing: break
            case .caller(let reply):
                reply.isFormer
                    ? writer.formerUser(reply.identity) : writer.userIdentity(reply.identity)
                writer.member("serviceID", reply.serviceID)
            case .users(let reply): writer.users(reply)
            case .shares(let results): try writer.shareResults(results)
            case .assetUploads(let addresses): writer.uploadAddresses(addresses)
            case .assets(let results): try writer.assetResults(results)
            }
        }
    }

    /// Writes the members of an error into the innermost object.
    mutating func error(_ error: RecordError, numbersAsStrings: Bool) throws {
        member("uuid", error.uuid)
        member("recordName", error.recordName)
        member("zoneID", error.zoneID)
        member("subscriptionID", error.subscriptionID)
        member("serverErrorCode", error.code.rawValue)
        member("detail", error.detail?.rawValue)
        member("reason", error.reason)
        // Many clients read no fraction.
        member("retryAfter", error.retryAfterSeconds.flatMap { Int64(exactly: $0.rounded(.up)) })
        member("redirectURL", error.redirectURL)
        guard let record = error.serverRecord else { return }
        key("serverRecord")
        try object { try $0.record(record, numbersAsStrings: numbersAsStrings) }
    }

    private mutating func records(_ reply: RecordsReply, numbersAsStrings: Bool) throws {
        key("records")
        try array(reply.results) { writer, result in
            try writer.object {
                switch result {
                case .record(let record):
                    try $0.record(record, numbersAsStrings: numbersAsStrings)
                case .failure(let error):
                    try $0.error(error, numbersAsStrings: numbersAsStrings)
                }
            }
        }
        member("syncToken", reply.syncToken)
        member("previousSyncToken", reply.previousSyncToken)
        member("epochs", reply.epochs)
        member("continuationMarker", reply.continuationMarker)
        if !reply.damagedRecords.isEmpty { member("damagedRecords", reply.damagedRecords) }
    }

    private mutating func zoneChanges(_ reply: ZoneChangesReply, numbersAsStrings: Bool) throws {
        try object { writer in
            if var failure = reply.failure {
                failure.zoneID = failure.zoneID ?? reply.zoneID
                return try writer.error(failure, numbersAsStrings: numbersAsStrings)
            }
            writer.member("zoneID", reply.zoneID)
            try writer.zoneChangesPage(reply, numbersAsStrings: numbersAsStrings)
        }
    }

    private mutating func zoneChangesPage(
        _ reply: ZoneChangesReply, numbersAsStrings: Bool
    ) throws {
        member("syncToken", reply.syncToken)
        member("moreComing", reply.moreComing)
        member("epochs", reply.epochs)
        if reply.echoesWriteIDs { member("writeIDs", true) }
        key("records")
        try array(reply.records) { writer, record in
            try writer.object { try $0.record(record, numbersAsStrings: numbersAsStrings) }
        }
        if !reply.damagedRecords.isEmpty { member("damagedRecords", reply.damagedRecords) }
    }

    private mutating func databaseChanges(_ reply: DatabaseChangesReply) {
        key("zones")
        array(reply.zones) { writer, zone in
            writer.object {
                $0.member("zoneID", zone.zoneID)
                $0.member("deleted", zone.deleted)
            }
        }
        member(reply.isMeta ? "metaSyncToken" : "syncToken", reply.syncToken)
        member("moreComing", reply.moreComing)
    }

    private mutating func zone(_ result: ZoneResult) throws {
        try object {
            switch result {
            case .zone(let zone):
                $0.member("zoneID", zone.zoneID)
                $0.member("syncToken", zone.syncToken)
                $0.member("atomic", zone.atomic)
                if zone.deleted { $0.member("deleted", true) }
            case .failure(let error): try $0.error(error, numbersAsStrings: false)
            }
        }
    }
}
