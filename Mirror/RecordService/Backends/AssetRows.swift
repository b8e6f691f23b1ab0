/// An upload that a record of its database may name.
struct AssetReceipt {
    var id: String
    var database: Int64
    var checksum: AssetChecksum
    var size: Int64
    /// Milliseconds since 1970.
    var expires: Int64
}

/// Rows of assets, inside one transaction.
///
/// An asset is a candidate for removal from its upload on until a record names it, and again from
/// the moment at which one that named it does so no more.
protocol AssetRows: AnyObject {
    /// Lets nobody else keep or name an asset until the transaction ends: for who removes files.
    func lockAssets() throws

    /// The secret by which addresses are signed; nil where none was drawn yet.
    func assetSecret() throws -> [UInt8]?
    func setAssetSecret(_ secret: [UInt8]) throws

    /// The content that marks where assets are; nil where none was kept yet.
    func assetHome() throws -> NamedAsset?
    func setAssetHome(_ mark: NamedAsset) throws

    /// Notes a content whose file is there; it is a candidate from `milliseconds` on.
    func addAsset(_ checksum: AssetChecksum, size: Int64, at milliseconds: Int64) throws
    func assetSize(_ checksum: AssetChecksum) throws -> Int64?
    /// Contents that records name, in the order of their checksums from behind `checksum` on, at
    /// most `limit`.
    func namedAssets(after checksum: AssetChecksum?, limit: Int) throws -> [NamedAsset]
    /// Whether a record of the database names the content.
    func usesAsset(_ checksum: AssetChecksum, in database: Int64) throws -> Bool
    /// The contents that a record names now, and no others.
    func setAssets(
        _ checksums: Set<AssetChecksum>, of record: String, in zone: Int64, of database: Int64)
        throws

    func add(_ receipt: AssetReceipt) throws
    func assetReceipt(_ id: String) throws -> AssetReceipt?
    func removeReceipt(_ id: String) throws
    /// Bytes of the different contents that the owner's records and good receipts name.
    func assetBytes(ofOwner owner: String, at milliseconds: Int64) throws -> Int64

    /// Whether any record names the content.
    func isAssetUsed(_ checksum: AssetChecksum) throws -> Bool
    /// Until when the last receipt for the content is good.
    func lastPromise(of checksum: AssetChecksum) throws -> Int64?
    /// Candidates that nobody has looked at yet, or since before `milliseconds`, at most `limit`.
    func assetCandidates(before milliseconds: Int64, limit: Int) throws -> [AssetCandidate]
    /// Since when nobody names the content; 0 where that is to be found out, nil where a record
    /// names it, so that it is no candidate.
    func setAsset(_ checksum: AssetChecksum, idleSince milliseconds: Int64?) throws
    func removeAsset(_ checksum: AssetChecksum) throws
    /// Forgets receipts that are too old, at most `limit`. Returns how many there were.
    func removeReceipts(before milliseconds: Int64, limit: Int) throws -> Int
}

extension AssetRows {
    func lockAssets() throws {}
}

/// A content that a record names.
struct NamedAsset {
    var checksum: AssetChecksum
    var size: Int64
}

/// A content that may be named by nobody.
struct AssetCandidate {
    var checksum: AssetChecksum
    /// Milliseconds since 1970; 0 where that is still to be found out.
    var idleSince: Int64
}
