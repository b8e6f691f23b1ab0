internal import RecordWire

/// The assets that records name, inside one transaction on one database.
final class AssetSession {
    private let database: Int64
    private let transaction: any BackendTransaction
    private let now: Int64
    private let takesNamed: Bool
    /// What changed records name now.
    private var changed: [ExactName: Set<AssetChecksum>] = [:]
    /// What they named at some time of this request: the rows are written at its end.
    private var named: Set<AssetChecksum> = []

    /// `takesNamed`: an asset is taken without a receipt where a record names it, since who asks
    /// sees all records; not in the plain dialect.
    init(
        _ database: Int64, _ transaction: any BackendTransaction, now: Int64, takesNamed: Bool
    ) {
        self.takesNamed = takesNamed
        self.database = database
        self.transaction = transaction
        self.now = now
    }

    /// The fields with their assets as they are kept: checksum and size. Throws ASSET_NOT_FOUND for
    /// one that this user did not upload, BAD_REQUEST for one that is something else than it says.
    func settled(_ fields: RecordFields) throws -> RecordFields {
        guard fields.holdAssets else { return fields }
        return try fields.mapValues { try $0?.mapAssets(settled) }
    }

    /// Takes note that a record named the assets of `old` and names those of `new` now.
    func replace(
        _ old: RecordFields, with new: RecordFields, of record: String
    ) {
        let before = Self.checksums(in: old)
        let after = Self.checksums(in: new)
        guard before != after else { return }
        changed[ExactName(record)] = after
        named.formUnion(after)
    }

    func save(in zone: Int64) throws {
        for (record, checksums) in changed {
            try transaction.setAssets(checksums, of: record.text, in: zone, of: database)
        }
        changed = [:]
    }

    /// An asset with a receipt is one that was uploaded. One without is taken where a record of the
    /// same database names the same content, be it by an earlier operation of the request: it is
    /// there, and the user may read it.
    private func settled(_ asset: RecordAsset) throws -> RecordAsset {
        let found = try asset.receipt.map(receipt) ?? found(asset)
        guard let (checksum, size) = found else { throw Self.notFound }
        guard asset.fileChecksum.map(checksum.isCalled) ?? true, asset.size ?? size == size else {
            throw RecordError(
                .badRequest,
                "The asset's checksum or size is not that of what was uploaded; send what the "
                    + "upload was answered with.")
        }
        return checksum.asset(size: size)
    }

    private func receipt(_ id: String) throws -> (AssetChecksum, Int64)? {
        guard let receipt = try transaction.assetReceipt(id), receipt.database == database,
            receipt.expires > now
        else { return nil }
        return (receipt.checksum, receipt.size)
    }

    private func found(_ asset: RecordAsset) throws -> (AssetChecksum, Int64)? {
        guard takesNamed, let checksum = asset.fileChecksum.flatMap({ AssetChecksum(text: $0) }),
            try named.contains(checksum) || transaction.usesAsset(checksum, in: database),
            let size = try transaction.assetSize(checksum)
        else { return nil }
        return (checksum, size)
    }

    private static let notFound = RecordError(
        .assetNotFound,
        "The service has no such asset of this user; upload it, and name the receipt within its "
            + "time.")

    private static func checksums(in fields: RecordFields) -> Set<AssetChecksum> {
        var found: Set<AssetChecksum> = []
        guard fields.holdAssets else { return found }
        for value in fields.values where value?.holdsAssets == true {
            _ = value?.mapAssets { asset in
                if let checksum = asset.fileChecksum.flatMap({ AssetChecksum(text: $0) }) {
                    found.insert(checksum)
                }
                return asset
            }
        }
        return found
    }
}
