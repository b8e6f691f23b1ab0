public import Foundation

/// A store of whole objects by name, such as a bucket of an S3 service. Calls come from any thread
/// and block; all throw `ObjectStoreFailure`.
public protocol ObjectStore: Sendable {
    /// Where it is, without a secret.
    var place: String { get }
    /// Keeps an object whole, or not at all. Read from its start to its end, in pieces.
    func put(_ object: StoredObject, from descriptor: Int32) throws(ObjectStoreFailure)
    /// Gives bytes of an object, no others than those of `range`, in pieces, to `take`, which says
    /// whether it wants more; they cross the network alone, where the store knows ranges. Returns
    /// false where there is no such object, or one of another size. Throws as well where the end
    /// of the range did not come; what `take` got is right up to there.
    func get(
        _ object: StoredObject, _ range: Range<Int64>, _ take: (UnsafeRawBufferPointer) -> Bool
    ) throws(ObjectStoreFailure) -> Bool
    /// Whether there is such an object, as large as it is to be. No byte of it crosses the network.
    func has(_ object: StoredObject) throws(ObjectStoreFailure) -> Bool
    /// One that is not there is gone as well.
    func remove(_ name: String) throws(ObjectStoreFailure)
    /// Objects that are called as contents are, and no others, a page at a time; `mark` is the
    /// former page's, nil at the start.
    func list(after mark: String?) throws(ObjectStoreFailure) -> ObjectPage
}

/// Some of what a store of objects has.
public struct ObjectPage: Sendable {
    public var objects: [ListedObject] = []
    /// Where the next page begins; nil after the last.
    public var mark: String?

    public init() {}
}

/// An object as a store lists it.
public struct ListedObject: Hashable, Sendable {
    /// As `StoredObject.name`.
    public let name: String
    public let size: Int64
    public let modified: Date
    let checksum: AssetChecksum

    /// nil where the name is none of a content's, letter by letter.
    public init?(name: String, size: Int64, modified: Date) {
        let digits = name.replacing("/", with: "")
        guard size >= 0, let checksum = AssetChecksum(hexDigits: digits),
            StoredObject.name(of: checksum) == name
        else { return nil }
        self.name = name
        self.size = size
        self.modified = modified
        self.checksum = checksum
    }
}

/// What is kept of one content.
public struct StoredObject: Hashable, Sendable {
    /// Lower-case hexadecimal digits and one slash, such as `0a/1b2c…`: the SHA-256 of the content.
    public let name: String
    public let size: Int64

    init(_ checksum: AssetChecksum, size: Int64) {
        name = Self.name(of: checksum)
        self.size = size
    }

    /// As a folder of assets calls the file, so that one can be copied into a bucket as it is.
    static func name(of checksum: AssetChecksum) -> String {
        let digits = checksum.hexDigits
        return "\(digits.prefix(2))/\(digits.dropFirst(2))"
    }

    /// The SHA-256 in 64 digits.
    public var digest: String { name.replacing("/", with: "") }
}

/// What a store of objects would not do.
public struct ObjectStoreFailure: Error, Hashable, Sendable {
    /// In words for who runs the service; no secret, and nothing of what the store wrote.
    public let cause: String
    /// Whether the same may go well a moment later.
    public let isTransient: Bool

    public init(_ cause: String, isTransient: Bool) {
        self.cause = cause
        self.isTransient = isTransient
    }
}
