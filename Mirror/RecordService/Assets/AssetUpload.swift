internal import Foundation
public import RecordWire

/// The bytes of one asset on their way in, from an address of `assets/upload`.
///
/// They go to a file piece by piece. What was not finished goes with this object. One thread at a
/// time.
public final class AssetUpload: @unchecked Sendable {
    // @unchecked: belongs to the connection that brings the bytes, whose calls come one by one.
    /// Who sends it; the asset will be this user's, or the owner's of a zone that is shared.
    public var userRecordName: String { grant.participant ?? grant.database.owner }
    public var container: String { grant.database.container }

    private let store: AssetStore
    private let grant: AssetGrant
    private let file: IncomingFile
    private var reserved: Int64 = 0

    /// Room is taken in steps, so that a piece costs no lock.
    private static let reservedAtOnce: Int64 = 1 << 20

    init(_ store: AssetStore, _ grant: AssetGrant, announced: Int64?) throws(RecordError) {
        self.store = store
        self.grant = grant
        try Self.check(announced ?? 0, store.limits)
        file = try store.files.begin()
        if let announced { try reserve(announced) }
    }

    deinit { store.release(reserved, of: userRecordName) }

    /// Takes the next piece. Throws LIMIT_EXCEEDED for more than an asset may have, and
    /// TRY_AGAIN_LATER where disk or room fails; nothing is kept then.
    public func take(_ bytes: UnsafeRawBufferPointer) throws(RecordError) {
        let size = file.size + Int64(bytes.count)
        try Self.check(size, store.limits)
        if size > reserved { try reserve(max(Int64(bytes.count), Self.reservedAtOnce)) }
        try file.append(bytes)
    }

    /// Keeps the asset: it is on the disk when this returns what a record may name it by. Throws
    /// QUOTA_EXCEEDED, or TRY_AGAIN_LATER where the disk fails.
    public func finish() throws(RecordError) -> RecordAsset {
        try store.keep(file, try file.finish(), for: grant)
    }

    private func reserve(_ bytes: Int64) throws(RecordError) {
        try store.reserve(bytes, for: userRecordName)
        reserved += bytes
    }

    private static func check(_ bytes: Int64, _ limits: AssetLimits) throws(RecordError) {
        guard bytes > limits.bytesMax else { return }
        throw RecordError(
            .limitExceeded,
            "The asset has more than the \(limits.bytesMax) bytes that are taken; send a smaller "
                + "one.")
    }
}
