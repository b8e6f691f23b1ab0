internal import Foundation
public import RecordWire

/// The bytes of one asset on their way in, from an address of `assets/upload`.
///
/// They go to a file piece by piece. What was not finished goes with this object, unless the client
/// told its content by an `UploadSpan`: then it may go on later. One thread at a time.
public final class AssetUpload: @unchecked Sendable {
    // @unchecked: belongs to the connection that brings the bytes, whose calls come one by one.
    /// Who sends it; the asset will be this user's, or the owner's of a zone that is shared.
    public var userRecordName: String { grant.participant ?? grant.database.owner }
    public var container: String { grant.database.container }

    private let store: AssetStore
    private let grant: AssetGrant
    private let file: IncomingFile
    private let span: UploadSpan?
    private var reserved: Int64 = 0
    /// Whether what came is worth something to an upload that goes on.
    private var isBroken = false

    /// Room is taken in steps, so that a piece costs no lock.
    private static let reservedAtOnce: Int64 = 1 << 20

    init(_ store: AssetStore, _ grant: AssetGrant, announced: Int64?) throws(RecordError) {
        self.store = store
        self.grant = grant
        span = nil
        try store.requireHome()
        try Self.check(announced ?? 0, store.limits)
        file = try store.files.begin()
        if let announced { try reserve(announced) }
    }

    /// One that may go on later. Throws also `UploadOffsetMismatch`.
    init(_ store: AssetStore, _ grant: AssetGrant, _ span: UploadSpan, on shelf: PartShelf) throws {
        self.store = store
        self.grant = grant
        self.span = span
        try store.requireHome()
        try Self.check(span.length, store.limits)
        file = try shelf.open(span, grant.partPlace)
        try reserve(span.length)
    }

    deinit {
        store.release(reserved, of: userRecordName)
        guard span != nil, !file.isKept else { return }
        if isBroken { file.drop() }
        file.leave()
        store.parts?.trim()
    }

    /// Whether the whole is there after what comes; if not, that waits for the rest.
    public var isLast: Bool { span?.isLast ?? true }

    /// How long a store of objects was waited for. The user has no part in that.
    public private(set) var millisecondsAtStore: Int64 = 0

    /// Bytes that are there.
    public var size: Int64 { file.size }

    /// Takes the next piece. Throws LIMIT_EXCEEDED for more than an asset may have,
    /// TRY_AGAIN_LATER where disk or room fails, and BAD_REQUEST for more than was told; nothing is
    /// kept then.
    public func take(_ bytes: UnsafeRawBufferPointer) throws(RecordError) {
        do {
            try append(bytes)
        } catch {
            isBroken = true
            throw error
        }
    }

    private func append(_ bytes: UnsafeRawBufferPointer) throws(RecordError) {
        let size = file.size + Int64(bytes.count)
        if let span, size > span.length { throw Self.isOtherThanTold }
        try Self.check(size, store.limits)
        if size > reserved { try reserve(max(Int64(bytes.count), Self.reservedAtOnce)) }
        try file.append(bytes)
    }

    /// Keeps the asset: it is on the disk when this returns what a record may name it by. Throws
    /// QUOTA_EXCEEDED, or TRY_AGAIN_LATER where the disk fails.
    public func finish() throws(RecordError) -> RecordAsset {
        isBroken = true
        let checksum = try file.finish()
        if let span {
            guard file.size == span.length else { throw Self.isOtherThanTold }
            guard checksum == span.content else { throw Self.isOtherContent(span) }
        }
        // Where only the rows fail, the client need not send it again.
        isBroken = false
        do {
            let asset = try store.keep(file, checksum, for: grant, &millisecondsAtStore)
            return store.dialect == .plain ? asset.withoutExtensions : asset
        } catch {
            isBroken = error.code != .tryAgainLater
            throw error
        }
    }

    private static let isOtherThanTold = RecordError(
        .badRequest, "What came has another length than Upload-Length says; send it again.")

    /// Of an upload that went on, what came before may be damaged; else the client is.
    private static func isOtherContent(_ span: UploadSpan) -> RecordError {
        RecordError(
            span.offset > 0 ? .tryAgainLater : .badRequest,
            "What came is not what its digest says, and was thrown away; send it again, from its "
                + "beginning.")
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
