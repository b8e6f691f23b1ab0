internal import Foundation

// What is left of requests, answers and refusals without extensions. (SERVICE §10)

extension RecordRequest {
    /// The members beyond CloudKit Web Services that the request carries, by their places.
    public var extensionsUsed: [String] {
        switch self {
        case .modifyRecords(let modify):
            (modify.client == nil ? [] : ["client"])
                + modify.operations.enumerated().flatMap { index, operation in
                    operation.record.extensionsUsed.map { "operations[\(index)].record.\($0)" }
                }
        case .lookupRecords(let lookup): lookup.client == nil ? [] : ["client"]
        case .zoneChanges(let changes):
            (changes.waitSeconds == nil ? [] : ["waitSeconds"])
                + changes.zones.enumerated().compactMap { index, zone in
                    zone.client == nil ? nil : "zones[\(index)].client"
                }
        case .recordChanges(let changes): changes.zone.client == nil ? [] : ["client"]
        case .queryRecords, .databaseChanges, .modifyZones, .listZones, .lookupZones,
            .modifySubscriptions, .lookupSubscriptions, .listSubscriptions, .createToken,
            .registerToken, .caller, .currentUser, .lookupUsers, .resolveShares, .acceptShares,
            .uploadAssets, .rereferenceAssets:
            []
        }
    }
}

extension Record {
    fileprivate var extensionsUsed: [String] {
        (writeID == nil ? [] : ["writeID"]) + (recentWriteIDs.isEmpty ? [] : ["writeIDs"])
            + (replays.isEmpty ? [] : ["replays"])
    }

    /// A deletion is a name and nothing else.
    fileprivate var withoutExtensions: Record {
        guard !deleted else {
            var bare = Record(recordName: recordName, recordType: recordType)
            bare.deleted = true
            bare.zoneID = zoneID
            return bare
        }
        var plain = self
        plain.writeID = nil
        plain.recentWriteIDs = []
        plain.replays = []
        if fields.holdAssets {
            plain.fields = fields.mapValues { $0?.mapAssets(\.withoutExtensions) }
        }
        return plain
    }
}

extension RecordAsset {
    /// The asset under names that only the service can compute, as CloudKit's are: 21 bytes, of
    /// which the first tells their kind.
    public var withoutExtensions: RecordAsset {
        var plain = self
        plain.fileChecksum = fileChecksum.map(Self.plainChecksum)
        plain.referenceChecksum = referenceChecksum.map(Self.plainChecksum)
        plain.wrappingKey = wrappingKey.map(Self.plainChecksum)
        return plain
    }

    /// What a plain service calls a content instead of its SHA-256.
    public static func plainChecksum(of text: String) -> String {
        guard let digest = Data(base64Encoded: text) else { return text }
        return (Data([1]) + digest.prefix(20)).base64EncodedString()
    }
}

extension RecordResponse {
    /// The answer as a service without extensions gives it.
    public var withoutExtensions: RecordResponse {
        switch self {
        case .records(var reply):
            reply.results = reply.results.map { result in
                switch result {
                case .record(let record): .record(record.withoutExtensions)
                case .failure(let error): .failure(error.ofOneRecord.withoutExtensions)
                }
            }
            reply.previousSyncToken = nil
            reply.epochs = nil
            reply.syncToken = reply.syncToken?.asBase64
            reply.continuationMarker = reply.continuationMarker?.asBase64
            return .records(reply)
        case .zoneChanges(let pages): return .zoneChanges(pages.map(\.withoutExtensions))
        case .recordChanges(let page): return .recordChanges(page.withoutExtensions)
        case .zones(let zones):
            return .zones(
                zones.map { zone in
                    switch zone {
                    case .failure(let error): return .failure(error.withoutExtensions)
                    case .zone(var found):
                        found.syncToken = found.syncToken?.asBase64
                        return .zone(found)
                    }
                })
        case .assets(let results):
            return .assets(
                results.map { result in
                    switch result {
                    case .asset(let asset): .asset(asset.withoutExtensions)
                    case .failure(let error): .failure(error.withoutExtensions)
                    }
                })
        case .shares(let results):
            return .shares(
                results.map { result in
                    switch result {
                    case .share(var found):
                        found.share = found.share.withoutExtensions
                        found.rootRecord = found.rootRecord?.withoutExtensions
                        return .share(found)
                    case .failure(let error): return .failure(error.withoutExtensions)
                    }
                })
        case .databaseChanges(var reply):
            reply.syncToken = reply.syncToken.asBase64
            return .databaseChanges(reply)
        case .subscriptions, .courierToken, .nothing, .caller, .users,
            .assetUploads:
            return self
        }
    }
}

extension ZoneChangesReply {
    fileprivate var withoutExtensions: ZoneChangesReply {
        var plain = self
        plain.records = records.map(\.withoutExtensions)
        plain.syncToken = syncToken?.asBase64
        plain.epochs = nil
        plain.echoesWriteIDs = false
        plain.damagedRecords = []
        plain.failure = failure?.withoutExtensions
        return plain
    }
}

extension String {
    /// A token of the service in the alphabet and with the padding of CloudKit's: clients carry
    /// tokens as bytes. The service takes both.
    fileprivate var asBase64: String {
        let text = replacing("-", with: "+").replacing("_", with: "/")
        return text + String(repeating: "=", count: (4 - text.count % 4) % 4)
    }
}

extension RecordError {
    /// The refusal in the codes of CloudKit Web Services. What it has no code for is a bad request,
    /// or the service's own failure.
    public var withoutExtensions: RecordError {
        var plain = self
        plain.serverRecord = nil
        plain.detail = nil
        switch code {
        case .changeTokenExpired, .instanceForked, .assetNotFound: plain.code = .badRequest
        case .recordDamaged: plain.code = .internalError
        case .limitExceeded where detail == .count: plain.code = .badRequest
        default: break
        }
        return plain
    }

    /// Too many or too long is a bad request there; the service itself says QUOTA_EXCEEDED of a
    /// record that is too large.
    fileprivate var ofOneRecord: RecordError {
        guard code == .limitExceeded else { return self }
        var plain = self
        plain.code = .badRequest
        return plain
    }
}

extension RecordError.Code {
    /// The code of CloudKit Web Services that says what a service's own word says; itself where it
    /// is one.
    public var canonical: RecordError.Code {
        switch rawValue {
        case "SERVER_RECORD_CHANGED": .conflict
        case "UNKNOWN_ITEM": .notFound
        case "ATOMIC_FAILURE", "BATCH_REQUEST_FAILED": .atomicError
        default: self
        }
    }
}
