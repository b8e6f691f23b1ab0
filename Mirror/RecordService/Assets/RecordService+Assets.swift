internal import Foundation
internal import Platform
public import RecordWire

/// Assets: addresses for uploads, receipts for other records, and the files. (SERVICE §3, assets/*)
extension RecordService {
    func uploadAddresses(
        _ upload: UploadAssets, _ key: DatabaseKey, _ target: RecordTarget, _ caller: Caller
    ) throws(RecordError) -> RecordResponse {
        guard !key.isPublic else {
            throw RecordError(.notFound, "Public databases keep no assets on this service.")
        }
        try limits.checkCount(upload.tokens.count, of: "tokens")
        let address = try key.address(of: upload.zoneID)
        if address.participant != nil { try checkWriting(in: address, caller) }
        var addresses: [AssetUploadAddress] = []
        for token in upload.tokens {
            try limits.checkName(token.fieldName, of: "field name")
            addresses.append(
                AssetUploadAddress(
                    recordName: token.recordName.isEmpty
                        ? platform.randomness.uuid().uuidString : token.recordName,
                    fieldName: token.fieldName,
                    url: try assets.uploadAddress(
                        to: address.key, caller, base: target.serviceAddress)))
        }
        return .assetUploads(addresses)
    }

    func rereferenceAssets(
        _ request: RereferenceAssets, _ key: DatabaseKey, _ caller: Caller
    ) throws(RecordError) -> RecordResponse {
        guard !key.isPublic else {
            throw RecordError(.notFound, "Public databases keep no assets on this service.")
        }
        try limits.checkCount(request.assets.count, of: "assets")
        let address = try key.address(of: request.zoneID)
        if address.participant != nil { try checkWriting(in: address, caller) }
        return try backend.write(key.place) { transaction in
            guard let zone = try ZonePlace(address, self.rules(for: caller), transaction) else {
                guard address.shown.isDefault else {
                    throw address.shown.notFound(wasDeleted: false)
                }
                return .assets(
                    request.assets.map {
                        .failure(Self.notFound($0.recordName, wasDeleted: false))
                    })
            }
            return .assets(
                try request.assets.map { place in
                    do {
                        let receipt = try self.receipt(
                            for: place, in: zone, transaction)
                        return .asset(receipt.asset)
                    } catch var error as RecordError {
                        error.recordName = place.recordName
                        return .failure(error)
                    }
                })
        }
    }

    private func receipt(
        for place: RereferenceAssets.Place, in zone: ZonePlace,
        _ transaction: any BackendTransaction
    ) throws -> AssetReceipt {
        let zoneID = zone.address.shown
        let fields = try damage(in: zone.address.key).guarding(place.recordName, in: zoneID) {
            guard let row = try transaction.record(named: place.recordName, in: zone.row.id),
                !row.isDeleted, try zone.access.sees(row)
            else { throw Self.notFound(place.recordName, wasDeleted: false) }
            return try row.record(in: zoneID, keys: [place.fieldName]).fields
        }
        guard case .asset(let asset)?? = fields[place.fieldName],
            let checksum = asset.fileChecksum.flatMap({ AssetChecksum(text: $0) }),
            let size = asset.size
        else {
            throw RecordError(
                .assetNotFound, "The record has no asset in the field \(place.fieldName).")
        }
        let receipt = try assets.makeReceipt(for: checksum, size: size, in: zone.database.id)
        try transaction.add(receipt)
        return receipt
    }

    /// Refuses assets from a participant who may write nothing in the zone.
    private func checkWriting(
        in address: ZoneAddress, _ caller: Caller
    ) throws(RecordError) {
        try backend.read(address.key.place) { transaction in
            let place = try ZonePlace(address, self.rules(for: caller), transaction)
            guard (place?.access as? ShareAccess)?.writesAnything == true else {
                throw RecordError(
                    .accessDenied, "The share is open to you for reading only.",
                    zoneID: address.shown)
            }
        }
    }

    // MARK: Files

    /// Begins to take the bytes of an asset that are sent to an address of `assets/upload`; `key`
    /// stands in the address, and `announced` is how many bytes are to come, where that was said.
    /// Throws ACCESS_DENIED for an address that is none or too old, AUTHENTICATION_FAILED where its
    /// token was revoked, LIMIT_EXCEEDED for too many bytes, TRY_AGAIN_LATER where there is no
    /// room.
    public func beginUpload(
        key: String, announced: Int64? = nil
    ) throws(RecordError) -> AssetUpload {
        try AssetUpload(assets, try assets.grant(key, .upload), announced: announced)
    }

    /// As `beginUpload`, for a client that told which content it sends: what came stays when the
    /// upload breaks off, and goes on from `UploadSpan.offset`. Throws also `UploadOffsetMismatch`.
    public func goOnUploading(key: String, _ span: UploadSpan) throws -> AssetUpload {
        try AssetUpload(assets, try assets.grant(key, .upload), span, on: try partShelf())
    }

    /// How many bytes are there of an upload that broke off. Throws what `beginUpload` throws for
    /// its key.
    public func uploadedBytes(
        key: String, _ span: UploadSpan
    ) throws(RecordError) -> (bytes: Int64, userRecordName: String) {
        let place = try assets.grant(key, .upload).partPlace
        return (try partShelf().size(of: span, place), place.uploader)
    }

    /// Whether uploads that broke off may go on.
    public var resumesUploads: Bool { assets.parts != nil }

    private func partShelf() throws(RecordError) -> PartShelf {
        guard let parts = assets.parts else {
            throw RecordError(.badRequest, "Uploads do not go on at this service; begin anew.")
        }
        return parts
    }

    /// Finds the asset behind an address that came with a record, and reads nothing of it. Throws
    /// what `beginUpload` throws for its key, and ASSET_NOT_FOUND where nothing is known of it.
    public func asset(key: String) throws(RecordError) -> AddressedAsset {
        let grant = try assets.grant(key, .download)
        guard let checksum = grant.checksum,
            let size = try backend.read({ try $0.assetSize(checksum) })
        else { throw AddressedAsset.isGone }
        return AddressedAsset(
            size: size, checksum: checksum.text, userRecordName: grant.database.owner,
            isHeld: { [assets] () throws(RecordError) in try assets.holds(checksum, size: size) },
            opening: { [assets] range throws(RecordError) in
                try assets.open(checksum, size: size, range: range)
            })
    }

    /// Opens the whole asset behind an address. Throws what `asset` throws, and ASSET_NOT_FOUND
    /// where the file is gone.
    public func openAsset(
        key: String
    ) throws(RecordError) -> (file: AssetFile, userRecordName: String) {
        let asset = try asset(key: key)
        guard case .file(let file) = try asset.open(nil) else { throw AddressedAsset.isGone }
        return (file, asset.userRecordName)
    }

    // MARK: Answers

    /// The answer with addresses at which its assets are to be had.
    func linked(
        _ response: RecordResponse, _ key: DatabaseKey, _ target: RecordTarget, _ caller: Caller
    ) throws(RecordError) -> RecordResponse {
        var links = AssetLinks(assets, key, caller, base: target.serviceAddress)
        switch response {
        case .records(var reply):
            for index in reply.results.indices { try links.add(to: &reply.results[index]) }
            return links.wereAdded ? .records(reply) : response
        case .zoneChanges(var zones):
            for zone in zones.indices {
                for index in zones[zone].records.indices {
                    try links.add(to: &zones[zone].records[index])
                }
            }
            return links.wereAdded ? .zoneChanges(zones) : response
        case .recordChanges(var page):
            for index in page.records.indices { try links.add(to: &page.records[index]) }
            return links.wereAdded ? .recordChanges(page) : response
        case .shares(let results):
            return .shares(
                try results.map { result throws(RecordError) in
                    guard case .share(var found) = result, var root = found.rootRecord else {
                        return result
                    }
                    try links.add(to: &root)
                    found.rootRecord = root
                    return .share(found)
                })
        case .databaseChanges, .zones, .subscriptions, .courierToken, .nothing, .caller, .users,
            .assetUploads, .assets:
            return response
        }
    }
}

/// Puts addresses into the assets of an answer.
private struct AssetLinks {
    private let store: AssetStore
    private let database: DatabaseKey
    private let caller: Caller
    private let base: String?
    private(set) var wereAdded = false

    init(_ store: AssetStore, _ database: DatabaseKey, _ caller: Caller, base: String?) {
        self.store = store
        self.database = database
        self.caller = caller
        self.base = base
    }

    mutating func add(to result: inout RecordResult) throws(RecordError) {
        switch result {
        case .record(var record):
            guard try add(to: &record) else { return }
            result = .record(record)
        case .failure(var error):
            guard var record = error.serverRecord, try add(to: &record) else { return }
            error.serverRecord = record
            result = .failure(error)
        }
    }

    @discardableResult
    mutating func add(to record: inout Record) throws(RecordError) -> Bool {
        if record.isShare, record.participants != nil, record.currentParticipantID == nil {
            record = record.share(shownTo: caller.userRecordName)
            wereAdded = true
            return true
        }
        guard record.fields.holdAssets else { return false }
        let names = record.fields.compactMap { $0.value?.holdsAssets == true ? $0.key : nil }
        for name in names {
            guard let value = record.fields[name] ?? nil else { continue }
            do {
                record.fields[name] = try value.mapAssets { try linked($0) }
            } catch let error as RecordError {
                throw error
            } catch {
                throw RecordError(.internalError, "An address could not be made: \(error).")
            }
            wereAdded = true
        }
        return !names.isEmpty
    }

    private func linked(_ asset: RecordAsset) throws(RecordError) -> RecordAsset {
        guard let checksum = asset.fileChecksum.flatMap({ AssetChecksum(text: $0) }) else {
            return asset
        }
        var asset = asset
        asset.downloadURL = try store.downloadAddress(
            of: checksum, in: database, caller, base: base)
        return asset
    }
}
