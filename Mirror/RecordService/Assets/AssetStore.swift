internal import Foundation
internal import Platform
internal import RecordWire

/// The assets of a service: their files, the addresses under which they come and go, and what is
/// on its way in.
final class AssetStore: Sendable {
    /// All contents, or, with a bucket, those that come in and copies of some.
    let files: AssetFiles
    /// nil for files that cannot be written to again.
    let parts: PartShelf?
    /// Where the contents are, unless they are in the folder.
    let bucket: AssetBucket?
    let limits: AssetLimits
    let dialect: ServiceDialect
    private let accounts: ServiceAccounts
    private let secrets: any SecretSource
    private let platform: Environment
    private let secret = Lock<[UInt8]?>(nil)
    private let incoming = Lock(IncomingBytes())
    private let counts = AssetByteCounts()
    /// Whether the other services on the database have another place.
    let isElsewhere = Lock(false)

    private static let secretBytes = 32
    private static let receiptBytes = 16

    /// Bytes of uploads that are not whole, in all and by user.
    private struct IncomingBytes {
        var total: Int64 = 0
        var perUser: [String: Int64] = [:]
    }

    init(
        files: AssetFiles, bucket: AssetBucket?, limits: AssetLimits, dialect: ServiceDialect,
        accounts: ServiceAccounts, secrets: any SecretSource
    ) {
        self.dialect = dialect
        self.files = files
        self.bucket = bucket
        parts = bucket == nil ? PartShelf(files, limits.parts) : nil
        self.limits = limits
        self.accounts = accounts
        self.secrets = secrets
        platform = accounts.platform
    }

    var now: Int64 { platform.milliseconds }
    var backend: any Backend { accounts.backend }

    // MARK: Addresses

    /// Where bytes of a new asset go.
    func uploadAddress(
        to database: DatabaseKey, _ caller: Caller, base: String?
    ) throws(RecordError) -> String {
        let grant = AssetGrant.upload(
            to: database, caller, until: now + Int64(limits.uploadAddressSeconds) * 1_000,
            nonce: platform.randomness.next())
        return "\(base ?? "")\(AssetPath.upload)?key=\(grant.signed(with: try signature()))"
    }

    /// Where the content of an asset is to be had.
    func downloadAddress(
        of checksum: AssetChecksum, in database: DatabaseKey, _ caller: Caller, base: String?
    ) throws(RecordError) -> String {
        let grant = AssetGrant.download(
            checksum, of: database, caller,
            until: now + Int64(limits.downloadAddressSeconds) * 1_000)
        return "\(base ?? "")\(AssetPath.download)?key=\(grant.signed(with: try signature()))"
    }

    /// What the key of an address allows now. Throws ACCESS_DENIED for one that was not given out
    /// here or is too old, AUTHENTICATION_FAILED where the token it was given out for was revoked.
    func grant(_ key: String, _ kind: AssetGrant.Kind) throws(RecordError) -> AssetGrant {
        guard let grant = AssetGrant(signed: key, secret: try signature()), grant.kind == kind
        else {
            throw RecordError(
                .accessDenied, "The address of the asset was not given out by this service.")
        }
        guard grant.expires > now else {
            throw RecordError(
                .accessDenied, "The address of the asset is too old; ask for another.")
        }
        try accounts.requireContainer(grant.database.container)
        try accounts.requireGood(tokenID: grant.tokenID)
        return grant
    }

    /// The secret, drawn once in the life of a database.
    private func signature() throws(RecordError) -> [UInt8] {
        if let known = secret.withLock({ $0 }) { return known }
        let found = try backend.read { try $0.assetSecret() }
        let kept = if let found { found } else { try drawSecret() }
        secret.withLock { $0 = kept }
        return kept
    }

    private func drawSecret() throws(RecordError) -> [UInt8] {
        let drawn = try bytes(Self.secretBytes)
        return try backend.write { transaction in
            if let other = try transaction.assetSecret() { return other }
            try transaction.setAssetSecret(drawn)
            return drawn
        }
    }

    /// Like no others.
    func drawnWords() throws(RecordError) -> String {
        Base64URL.text(try bytes(Self.secretBytes))
    }

    private func bytes(_ count: Int) throws(RecordError) -> [UInt8] {
        do {
            return try secrets.bytes(count)
        } catch {
            throw RecordError(.internalError, "No secret could be drawn: \(error).")
        }
    }

    // MARK: Receipts

    /// A new receipt for a content that is kept.
    func makeReceipt(
        for checksum: AssetChecksum, size: Int64, in database: Int64
    ) throws(RecordError) -> AssetReceipt {
        AssetReceipt(
            id: Base64URL.text(try bytes(Self.receiptBytes)), database: database,
            checksum: checksum, size: size,
            expires: now + Int64(limits.receiptSeconds) * 1_000)
    }

    /// Names the file that came in, counts it for its user, and gives a receipt for it, in one
    /// transaction. A bucket gets it afterwards, when the receipt keeps it from being collected,
    /// and before anybody is told the receipt; `waited` grows by the milliseconds that it takes.
    /// What it does not take counts no longer. Throws QUOTA_EXCEEDED.
    func keep(
        _ file: IncomingFile, _ checksum: AssetChecksum, for grant: AssetGrant,
        _ waited: inout Int64
    ) throws(RecordError) -> RecordAsset {
        let receiptID = Base64URL.text(try bytes(Self.receiptBytes))
        let now = now
        let resting = parts?.bytes(ofOwner: grant.database.owner) ?? 0
        let inPart = file.isPart ? file.size : 0
        let asset = try backend.write(grant.database.place) { transaction in
            let incarnation = self.platform.randomness.next()
            let database = try transaction.databaseForWriting(
                grant.database, incarnation: incarnation)
            let receipt = AssetReceipt(
                id: receiptID, database: database.id, checksum: checksum,
                size: file.size, expires: now + Int64(self.limits.receiptSeconds) * 1_000)
            try transaction.addAsset(checksum, size: file.size, at: now)
            try transaction.add(receipt)
            let fits = try self.fits(
                file.size, beside: resting - inPart, of: grant.database, transaction, at: now)
            guard fits else { throw self.quota(file.size) }
            // Under the lock of the writer: who removes files holds it, too.
            if self.bucket == nil { try self.files.keep(file, as: checksum) }
            return receipt.asset
        }
        if let bucket {
            let began = self.now
            defer { waited += max(0, self.now - began) }
            do {
                try bucket.keep(file, as: checksum)
            } catch {
                // Nobody was told it. Where it stays, it counts until its time is over.
                try? backend.write(grant.database.place) { try $0.removeReceipt(receiptID) }
                throw error
            }
        }
        return asset
    }

    /// Whether a user's assets, with one that comes in and what rests in parts `beside` them, take
    /// no more than they may. They are counted where what is known of them could be too little:
    /// where there is little room, other services on the database may have filled it meanwhile.
    private func fits(
        _ size: Int64, beside parts: Int64, of database: DatabaseKey,
        _ transaction: any BackendTransaction, at now: Int64
    ) throws -> Bool {
        let max = limits.bytesPerUserMax
        let isShared = backend.file(of: database.place) == nil
        if let known = counts.add(size, of: database.owner, at: now),
            known + parts <= (isShared ? max - max / 8 : max)
        {
            return true
        }
        let bytes = try transaction.assetBytes(ofOwner: database.owner, at: now)
        counts.keep(bytes, of: database.owner, at: now)
        return bytes + parts <= max
    }

    /// The content of an asset; nil where it is gone.
    func open(_ checksum: AssetChecksum, size: Int64) throws(RecordError) -> AssetFile? {
        try requireHome()
        guard let bucket else { return try files.open(checksum, size: size) }
        return try bucket.open(checksum, size: size)
    }

    /// The content, or the range of it that is wanted; nil where it is gone.
    func open(
        _ checksum: AssetChecksum, size: Int64, range: Range<Int64>?
    ) throws(RecordError) -> AssetBody? {
        try requireHome()
        guard let bucket, let range else {
            return try open(checksum, size: size).map { .file($0) }
        }
        return try bucket.open(checksum, size: size, range: range)
    }

    /// Whether `open` would find the content; a bucket tells it without its bytes.
    func holds(_ checksum: AssetChecksum, size: Int64) throws(RecordError) -> Bool {
        try requireHome()
        guard let bucket else { return try files.open(checksum, size: size) != nil }
        return try bucket.holds(checksum, size: size)
    }

    /// Removes a content that nothing names, under the lock of the writer.
    func remove(_ checksum: AssetChecksum) throws(RecordError) {
        guard let bucket else { return try files.remove(checksum) }
        try bucket.remove(checksum)
    }

    /// How many contents are removed under one lock of the writer: a bucket may be slow.
    var removedAtOnceMax: Int { bucket == nil ? 100 : 10 }

    private func quota(_ bytes: Int64) -> RecordError {
        RecordError(
            .quotaExceeded,
            "With \(bytes) bytes more the user's assets would take more than the "
                + "\(limits.bytesPerUserMax) bytes that are kept for one user; delete some. "
                + "What was deleted counts until \(limits.receiptSeconds / 3_600) hours after its "
                + "upload.")
    }

    // MARK: On the way in

    /// Makes room for bytes that come in. Throws TRY_AGAIN_LATER where there is none.
    func reserve(_ bytes: Int64, for user: String) throws(RecordError) {
        let fits = incoming.withLock { incoming in
            let ofUser = incoming.perUser[user, default: 0] + bytes
            guard incoming.total + bytes <= limits.incomingBytesMax,
                ofUser <= limits.incomingBytesPerUserMax
            else { return false }
            incoming.total += bytes
            incoming.perUser[user] = ofUser
            return true
        }
        guard !fits else { return }
        var error = RecordError(
            .tryAgainLater, "As many assets come in as the service can take; try again soon.")
        error.retryAfterSeconds = Self.busyRetrySeconds
        throw error
    }

    private static let busyRetrySeconds = 5.0

    func release(_ bytes: Int64, of user: String) {
        incoming.withLock { incoming in
            incoming.total -= bytes
            let left = incoming.perUser[user, default: bytes] - bytes
            incoming.perUser[user] = left > 0 ? left : nil
        }
    }
}

/// The paths of addresses of assets.
public enum AssetPath {
    public static let upload = "/assets/upload"
    public static let download = "/assets/file"
}

extension AssetReceipt {
    /// What a client puts into a record. The protocol's other two names of the content are for
    /// clients that want to find them.
    var asset: RecordAsset {
        var asset = checksum.asset(size: size)
        asset.receipt = id
        asset.referenceChecksum = checksum.text
        asset.wrappingKey = checksum.text
        return asset
    }
}

extension AssetChecksum {
    /// The asset as records keep it.
    func asset(size: Int64) -> RecordAsset {
        var asset = RecordAsset()
        asset.fileChecksum = text
        asset.size = size
        return asset
    }
}
