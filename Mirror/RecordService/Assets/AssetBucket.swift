public import Foundation
internal import Platform
internal import RecordWire

/// The contents of assets in a store of objects, and the folder beside the service in which those
/// that were asked for last are kept: answers, ranges and checks are those of files.
///
/// Calls come from any thread.
final class AssetBucket: Sendable {
    private let store: any ObjectStore
    private let cache: AssetFiles
    private let limits: AssetBucketLimits
    private let log: ServiceLog
    private let state = Lock(State())

    private struct State {
        /// Contents that are being fetched.
        var fetching: Set<AssetChecksum> = []
        /// Downloads of ranges that pass through.
        var passing = 0
        /// Questions whether a content is there.
        var looking = 0
        /// Bytes that came into the folder since it was looked through; nil: never was.
        var added: Int64?
    }

    init(
        _ store: any ObjectStore, cache: AssetFiles, limits: AssetBucketLimits,
        log: @escaping ServiceLog
    ) {
        self.store = store
        self.cache = cache
        self.limits = limits
        self.log = log
    }

    /// Brings a whole file to the store, and keeps it in the folder. Throws TRY_AGAIN_LATER where
    /// the store does not take it.
    func keep(_ file: IncomingFile, as checksum: AssetChecksum) throws(RecordError) {
        try trying("kept") { () throws(ObjectStoreFailure) in
            try store.put(StoredObject(checksum, size: file.size), from: file.descriptor)
        }
        let size = file.size
        try cache.keep(file, as: checksum)
        trim(adding: size)
    }

    /// The content, open for reading; nil where neither folder nor store has it. Throws
    /// TRY_AGAIN_LATER where the store does not answer, or as many are fetched as may be at once.
    func open(_ checksum: AssetChecksum, size: Int64) throws(RecordError) -> AssetFile? {
        if let copy = try cache.copy(of: checksum, size: size) { return copy }
        let mayFetch = state.withLock { state in
            guard state.fetching.count < limits.fetchesMax, !state.fetching.contains(checksum)
            else { return false }
            state.fetching.insert(checksum)
            return true
        }
        guard mayFetch else { throw Self.busy("The asset is being fetched") }
        defer { state.withLock { _ = $0.fetching.remove(checksum) } }
        guard let file = try fetched(checksum, size) else { return nil }
        // Once it has its name another thread may remove it.
        let open = try cache.open(file, as: checksum)
        try cache.keep(file, as: checksum)
        trim(adding: size)
        return open
    }

    /// A range of the content: of the copy where there is one, and otherwise of the object, which
    /// passes through in pieces and leaves no copy. A small object, one that is asked for whole,
    /// and one for which too many pass through already, are brought here whole, and checked.
    /// Throws what `open` throws.
    func open(
        _ checksum: AssetChecksum, size: Int64, range: Range<Int64>
    ) throws(RecordError) -> AssetBody? {
        if let copy = try cache.copy(of: checksum, size: size) { return .file(copy) }
        let isWorthIt = size > limits.pieceBytes && range.count < size
        if isWorthIt, let place = takePlace() {
            let object = StoredObject(checksum, size: size)
            let pieces = AssetPieces(range, keeping: place) { [self] part throws(RecordError) in
                try piece(part, of: object)
            }
            // Before a word is answered it is known whether the store has the object.
            return try pieces.begin() ? .pieces(pieces) : nil
        }
        return try open(checksum, size: size).map { .file($0) }
    }

    /// Whether `open` would find the content, as the folder or the store tell it without its bytes.
    /// Throws what `open` throws.
    func holds(_ checksum: AssetChecksum, size: Int64) throws(RecordError) -> Bool {
        if try cache.copy(of: checksum, size: size) != nil { return true }
        let mayLook = state.withLock { state in
            guard state.looking < limits.fetchesMax else { return false }
            state.looking += 1
            return true
        }
        guard mayLook else { throw Self.busy("As many assets are asked for as may be at once") }
        defer { state.withLock { $0.looking -= 1 } }
        let object = StoredObject(checksum, size: size)
        let isThere = try trying("read") { () throws(ObjectStoreFailure) in try store.has(object) }
        if !isThere { noteDamage(of: object, Self.isMissing) }
        return isThere
    }

    /// Room for one more download that passes through; nil where there is none.
    private func takePlace() -> PassingPlace? {
        let isTaken = state.withLock { state in
            guard state.passing < limits.passingMax else { return false }
            state.passing += 1
            return true
        }
        guard isTaken else { return nil }
        return PassingPlace { [self] in state.withLock { $0.passing -= 1 } }
    }

    /// The next bytes of a range, as many as are fetched at once or fewer; nil where the object is
    /// gone.
    private func piece(
        _ range: Range<Int64>, of object: StoredObject
    ) throws(RecordError) -> Data? {
        let end = min(range.upperBound, range.lowerBound + Int64(limits.pieceBytes))
        let part = range.lowerBound..<end
        var bytes = Data(capacity: part.count)
        let isThere = try trying("read") { () throws(ObjectStoreFailure) in
            // What breaks off goes on where it stopped.
            let isThere = try store.get(object, (part.lowerBound + Int64(bytes.count))..<end) {
                bytes.append(contentsOf: $0)
                return bytes.count <= part.count
            }
            // Less than a whole piece is a piece, too; nothing at all would be asked for for ever.
            guard !isThere || !bytes.isEmpty else {
                throw ObjectStoreFailure("it sent nothing of a range", isTransient: true)
            }
            return isThere
        }
        guard isThere else {
            noteDamage(of: object, Self.isMissing)
            return nil
        }
        return bytes
    }

    /// Removes a content for good. Called under the lock of who keeps new ones, so it tries once.
    func remove(_ checksum: AssetChecksum) throws(RecordError) {
        do {
            try store.remove(StoredObject.name(of: checksum))
        } catch {
            throw failure("removed", error)
        }
        try cache.remove(checksum)
    }

    /// Keeps a small object that is like no other, looks for it and removes it, so that whoever
    /// runs the service hears that the store cannot be reached, or what the keys may not do, before
    /// a user does. Throws what the log was told.
    func probe(_ drawn: UInt64) throws(RecordError) {
        let file = try cache.begin()
        try file.append("diptych looks whether its store of assets works: \(drawn)")
        let object = StoredObject(try file.finish(), size: file.size)
        try trying("kept") { () throws(ObjectStoreFailure) in
            try store.put(object, from: file.descriptor)
        }
        var isLeft = true
        defer { if isLeft { try? store.remove(object.name) } }
        let isThere = try trying("read") { () throws(ObjectStoreFailure) in
            try store.has(object)
        }
        guard isThere else {
            throw failure("read", ObjectStoreFailure(Self.isMissing, isTransient: false))
        }
        try trying("removed") { () throws(ObjectStoreFailure) in try store.remove(object.name) }
        isLeft = false
    }

    /// Where the objects are, without a secret.
    var place: String { store.place }

    /// What the store has, a page at a time. Throws TRY_AGAIN_LATER where it does not say.
    func list(after mark: String?) throws(RecordError) -> ObjectPage {
        try trying("listed") { () throws(ObjectStoreFailure) in try store.list(after: mark) }
    }

    /// Whether the store has the content, as large as it is to be. Throws TRY_AGAIN_LATER where it
    /// does not say.
    func has(_ content: NamedAsset) throws(RecordError) -> Bool {
        try trying("read") { () throws(ObjectStoreFailure) in
            let object = StoredObject(content.checksum, size: content.size)
            return try store.has(object)
        }
    }

    // MARK: Fetching

    /// What breaks off goes on where it stopped.
    private func fetched(
        _ checksum: AssetChecksum, _ size: Int64
    ) throws(RecordError) -> IncomingFile? {
        let object = StoredObject(checksum, size: size)
        let file = try cache.begin()
        var diskError: RecordError?
        var isThere = false
        do throws(RecordError) {
            isThere = try trying("read") { () throws(ObjectStoreFailure) in
                guard diskError == nil else {
                    throw ObjectStoreFailure("the folder of copies failed", isTransient: false)
                }
                return try store.get(object, min(file.size, size)..<size) { piece in
                    do throws(RecordError) {
                        guard file.size + Int64(piece.count) <= size else { return false }
                        try file.append(piece)
                        return true
                    } catch {
                        diskError = error
                        return false
                    }
                }
            }
        } catch {
            throw diskError ?? error
        }
        let cause: String? =
            if !isThere {
                Self.isMissing
            } else if file.size != size {
                "the object has another size"
            } else if try file.finish() != checksum {
                "its bytes are not those that its name says"
            } else {
                nil
            }
        guard let cause else { return file }
        noteDamage(of: object, cause)
        return nil
    }

    private static let isMissing = "the store has no such object, or one of another size"

    private func noteDamage(of object: StoredObject, _ cause: String) {
        log(
            ServiceNotice(
                "An asset that a record names cannot be read. Restore its object from a backup.",
                fields: ["object": object.name, "store": store.place, "cause": cause]))
    }

    // MARK: Failures

    private func trying<Result>(
        _ what: String, _ body: () throws(ObjectStoreFailure) -> Result
    ) throws(RecordError) -> Result {
        var attempt = 1
        while true {
            do throws(ObjectStoreFailure) {
                return try body()
            } catch {
                guard error.isTransient, attempt < limits.attemptsMax else {
                    throw failure(what, error)
                }
                attempt += 1
            }
        }
    }

    private static func busy(_ reason: String) -> RecordError {
        var error = RecordError(.tryAgainLater, "\(reason); ask for it again in a moment.")
        error.retryAfterSeconds = 1
        return error
    }

    private func failure(_ what: String, _ failure: ObjectStoreFailure) -> RecordError {
        log(
            ServiceNotice(
                "An asset cannot be \(what) in the store of objects. Look at its address, its keys "
                    + "and what they may do.",
                fields: ["store": store.place, "cause": failure.cause]))
        var error = RecordError(
            .tryAgainLater, "The service's store of assets failed; try again later.")
        error.retryAfterSeconds = failure.isTransient ? 5 : 60
        return error
    }

    // MARK: The folder

    /// Removes files that were asked for longest ago until the folder is as large as it may be.
    private func trim(adding bytes: Int64) {
        let isDue = state.withLock { state in
            let added = (state.added ?? limits.cacheBytesMax) + bytes
            let isDue = added >= limits.cacheBytesMax / 16
            state.added = isDue ? 0 : added
            return isDue
        }
        guard isDue else { return }
        cache.trim(to: limits.cacheBytesMax)
    }
}

/// How a service works with a store of objects.
public struct AssetBucketLimits: Sendable {
    /// Bytes of the folder in which contents are kept that were asked for last. It may be larger by
    /// a sixteenth, and by what is on its way.
    public var cacheBytesMax: Int64 = 4 << 30
    /// Contents that are fetched at once, and as many that are only asked for.
    public var fetchesMax = 8
    /// Downloads of ranges that pass through at once; each may have a thread of the server wait for
    /// the store.
    public var passingMax = 16
    /// Bytes of a range that are fetched, and held in memory, at once.
    public var pieceBytes = 1 << 20
    /// Attempts, one after another, before a client is told to try again later.
    public var attemptsMax = 3

    public init() {}
}

/// Contents of assets in a store of objects, in the place of a folder beside the records.
public struct ObjectPlace: Sendable {
    private let store: any ObjectStore
    private let cache: URL?
    private let limits: AssetBucketLimits

    /// `cache`: a folder of this service's own, for what comes in and for copies of what was asked
    /// for last; nil: one that ends with the service. It must not be a folder in which contents of
    /// assets are kept without a store: copies are removed.
    public init(
        _ store: any ObjectStore, cache: URL?, limits: AssetBucketLimits = AssetBucketLimits()
    ) {
        self.store = store
        self.cache = cache
        self.limits = limits
    }

    func files(_ platform: Environment, _ log: @escaping ServiceLog) -> AssetFiles {
        AssetFiles(in: cache?.path, platform: platform, log: log)
    }

    func bucket(_ files: AssetFiles, _ log: @escaping ServiceLog) -> AssetBucket {
        AssetBucket(store, cache: files, limits: limits, log: log)
    }
}
