internal import Foundation

/// Reads the body of each answer, leniently. (SERVICE §3)
extension WireObject {
    func response(to request: RecordRequest) throws -> RecordResponse {
        switch request {
        case .modifyRecords, .lookupRecords, .queryRecords: .records(try recordsReply())
        case .zoneChanges:
            .zoneChanges(try required("zones") { try objects($0) { try $0.zoneChangesReply() } })
        case .recordChanges(let changes):
            .recordChanges(try zoneChangesPage(of: changes.zone.zoneID))
        case .databaseChanges(let changes):
            .databaseChanges(try databaseChangesReply(isMeta: changes.isMeta))
        case .modifyZones, .listZones, .lookupZones:
            .zones(try required("zones") { try objects($0) { try $0.zoneResult() } })
        case .modifySubscriptions, .lookupSubscriptions, .listSubscriptions:
            .subscriptions(
                try required("subscriptions") { try objects($0) { try $0.subscriptionResult() } })
        case .createToken: .courierToken(try courierReply())
        case .registerToken: .nothing
        case .caller, .currentUser: .caller(try callerReply(isFormer: request == .currentUser))
        case .lookupUsers(let lookup): .users(try usersReply(to: lookup))
        case .resolveShares, .acceptShares:
            .shares(try required("results") { try objects($0) { try $0.shareResult() } })
        case .uploadAssets:
            .assetUploads(try required("tokens") { try objects($0) { try $0.uploadAddress() } })
        case .rereferenceAssets:
            .assets(try required("assets") { try objects($0) { try $0.assetResult() } })
        }
    }

    private func callerReply(isFormer: Bool) throws -> CallerReply {
        var reply = CallerReply(userRecordName: try required("userRecordName", string))
        let user = try answeredUser()
        reply.nameComponents = user.nameComponents
        reply.lookupInfo = user.lookupInfo
        reply.serviceID = try string("serviceID")
        reply.isFormer = isFormer
        return reply
    }

    private func recordsReply() throws -> RecordsReply {
        let results = try required("records") {
            try objects($0) { entry -> RecordResult in
                if let error = try entry.asError() { return .failure(error) }
                return .record(try entry.asRecord())
            }
        }
        var reply = RecordsReply(
            results: results, syncToken: try string("syncToken"),
            previousSyncToken: try string("previousSyncToken"))
        reply.epochs = try epochLine()
        reply.continuationMarker = try string("continuationMarker")
        reply.damagedRecords = try strings("damagedRecords") ?? []
        return reply
    }

    private func zoneChangesReply() throws -> ZoneChangesReply {
        var reply = ZoneChangesReply(zoneID: try required("zoneID") { try zoneID($0) })
        reply.failure = try asError()
        guard reply.failure == nil else { return reply }
        return try zoneChangesPage(of: reply.zoneID)
    }

    private func zoneChangesPage(of zone: ZoneID) throws -> ZoneChangesReply {
        var reply = ZoneChangesReply(zoneID: zone)
        reply.records = try objects("records") { try $0.asRecord() } ?? []
        reply.syncToken = try string("syncToken")
        reply.moreComing = try bool("moreComing") ?? false
        reply.epochs = try epochLine()
        reply.echoesWriteIDs = try bool("writeIDs") ?? false
        reply.damagedRecords = try strings("damagedRecords") ?? []
        return reply
    }

    private func databaseChangesReply(isMeta: Bool) throws -> DatabaseChangesReply {
        let zones = try required("zones") {
            try objects($0) { entry -> DatabaseChangesReply.Zone in
                if let error = try entry.asError() { throw error }
                return DatabaseChangesReply.Zone(
                    zoneID: try entry.required("zoneID") { try entry.zoneID($0) },
                    deleted: try entry.bool("deleted") ?? false)
            }
        }
        var reply = DatabaseChangesReply(
            zones: zones, syncToken: try required(isMeta ? "metaSyncToken" : "syncToken", string),
            moreComing: try bool("moreComing") ?? false)
        reply.isMeta = isMeta
        return reply
    }

    private func zoneResult() throws -> ZoneResult {
        if let error = try asError() { return .failure(error) }
        return .zone(
            ZoneDescription(
                zoneID: try required("zoneID") { try zoneID($0) },
                syncToken: try string("syncToken"), atomic: try bool("atomic") ?? false,
                deleted: try bool("deleted") ?? false))
    }
}
