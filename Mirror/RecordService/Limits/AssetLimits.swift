/// How much a service keeps and takes of assets, the files beside the records.
public struct AssetLimits: Hashable, Sendable, Codable {
    /// Bytes of one asset [50 MB, or 15 by another of Apple's pages].
    public var bytesMax: Int64 = 256 << 20
    /// Bytes of the different assets that one user's records and receipts name.
    public var bytesPerUserMax: Int64 = 64 << 30
    /// Bytes on the disk of uploads that are not whole, of all users and of one.
    public var incomingBytesMax: Int64 = 8 << 30
    public var incomingBytesPerUserMax: Int64 = 2 << 30
    /// How long the addresses are good that are given out.
    public var uploadAddressSeconds = 900
    public var downloadAddressSeconds = 3_600
    /// How long a record may name an upload after it was taken.
    public var receiptSeconds = 3 * 86_400
    /// How long a file stays that no record names any more.
    public var graceSeconds = 86_400
    /// Uploads that broke off.
    public var parts = PartLimits()

    public init() {}
}
