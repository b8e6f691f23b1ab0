internal import CCurl
public import Foundation
internal import Platform
public import RecordService

/// Where a bucket is, and who may use it. It prints without its keys.
public struct S3Address: Sendable {
    /// Such as `https://s3.eu-central-1.amazonaws.com`, or that of any S3-compatible service.
    public var endpoint: URL
    public var region: String
    public var bucket: String
    /// Stands before all names, such as `records/`; empty or with a slash at its end.
    public var prefix: String
    public var accessKey: String
    public var secretKey: String
    /// PEM file of the authorities to trust, and no others; nil for those of the system.
    public var authorityFile: URL?

    public init(
        endpoint: URL, region: String, bucket: String, prefix: String = "", accessKey: String,
        secretKey: String
    ) {
        self.endpoint = endpoint
        self.region = region
        self.bucket = bucket
        self.prefix = prefix.isEmpty || prefix.hasSuffix("/") ? prefix : prefix + "/"
        self.accessKey = accessKey
        self.secretKey = secretKey
    }
}

extension S3Address: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "s3://\(bucket)/\(prefix) at \(endpoint.host ?? "")" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A bucket, by libcurl, which signs each request (AWS Signature Version 4). Its body's SHA-256 is
/// its name, so it is part of the signature, and the store checks what came.
public final class S3Bucket: ObjectStore {
    private let address: S3Address
    private let limits: S3Limits
    /// libcurl's handles that nobody uses now: their connections stay open.
    private let idle = Lock<[S3Handle]>([])
    private static let idleMax = 8
    private static let emptyDigest =
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    public var place: String { address.description }

    public init(_ address: S3Address, limits: S3Limits = S3Limits()) {
        self.address = address
        self.limits = limits
    }

    public func put(
        _ object: StoredObject, from descriptor: Int32
    ) throws(ObjectStoreFailure) {
        let transfer = S3Transfer()
        transfer.source = (descriptor, 0, object.size)
        let status = try perform("PUT", object.name, object.digest, transfer)
        guard (200...299).contains(status) else { throw Self.refused(status) }
    }

    public func get(
        _ object: StoredObject, _ range: Range<Int64>, _ take: (UnsafeRawBufferPointer) -> Bool
    ) throws(ObjectStoreFailure) -> Bool {
        // HTTP has no name for a range of nothing.
        guard !range.isEmpty || object.size == 0 else { return true }
        return try withoutActuallyEscaping(take) { take throws(ObjectStoreFailure) -> Bool in
            let transfer = S3Transfer()
            let passage = S3Passage(range, of: object.size, take)
            transfer.passage = passage
            let status = try perform("GET", object.name, Self.emptyDigest, transfer)
            transfer.passage = nil
            switch status {
            case 200: return true
            case 206:
                switch passage.finding {
                case .sound: return true
                case .otherSize: return false
                case .otherRange:
                    throw ObjectStoreFailure(
                        "it sends another range than it was asked for", isTransient: false)
                }
            // An object that has none of these bytes is another.
            case 416: return false
            case 404:
                try expectBucket()
                return false
            default: throw Self.refused(status)
            }
        }
    }

    public func has(_ object: StoredObject) throws(ObjectStoreFailure) -> Bool {
        let transfer = S3Transfer()
        let status = try perform("HEAD", object.name, Self.emptyDigest, transfer)
        switch status {
        case 200:
            guard let size = transfer.size else {
                throw ObjectStoreFailure(
                    "it does not say how large an object is", isTransient: false)
            }
            return size == object.size
        case 404:
            try expectBucket()
            return false
        default: throw Self.refused(status)
        }
    }

    public func remove(_ name: String) throws(ObjectStoreFailure) {
        let status = try perform("DELETE", name, Self.emptyDigest, S3Transfer())
        guard (200...299).contains(status) || status == 404 else { throw Self.refused(status) }
    }

    /// Throws where what is not there is the bucket: nothing is known of its objects then. Who may
    /// not ask for it, 403, has heard that it is there.
    private func expectBucket() throws(ObjectStoreFailure) {
        let status = try perform("HEAD", at: address.bucket, Self.emptyDigest, S3Transfer())
        guard (200...299).contains(status) || status == 403 else { throw Self.refused(status) }
    }

    private static func refused(_ status: Int) -> ObjectStoreFailure {
        let words =
            switch status {
            case 301, 307: "it redirects, so the region or the endpoint is another"
            case 403: "it denies access; look at the keys and the clock"
            case 404: "it has no such bucket"
            case 503: "it is busy"
            default: "it failed"
            }
        return ObjectStoreFailure(
            "status \(status): \(words)", isTransient: status >= 500 || status == 429)
    }

    /// Asks for a page of ListObjectsV2. Names that are not those of contents are left out, and so
    /// are all outside the prefix.
    public func list(after mark: String?) throws(ObjectStoreFailure) -> ObjectPage {
        let answer = S3Answer(bytesMax: S3Listing.bytesMax)
        let transfer = S3Transfer()
        transfer.kept = answer
        let query = S3Listing.query(prefix: address.prefix, mark: mark)
        let status: Int
        do throws(ObjectStoreFailure) {
            status = try perform(
                "GET", at: "\(address.bucket)?\(query)", Self.emptyDigest, transfer)
        } catch {
            guard answer.isTooLong else { throw error }
            throw S3Listing.unreadable
        }
        guard status != 403 else {
            throw ObjectStoreFailure(
                "status 403: it denies access; listing needs ListBucket", isTransient: false)
        }
        guard status == 200 else { throw Self.refused(status) }
        let page = try S3Listing.page(answer.bytes, prefix: address.prefix)
        // It would never end.
        guard page.mark == nil || page.mark != mark else { throw S3Listing.unreadable }
        return page
    }

    // MARK: Requests

    private func perform(
        _ method: String, _ name: String, _ digest: String, _ transfer: S3Transfer
    ) throws(ObjectStoreFailure) -> Int {
        try perform(method, at: "\(address.bucket)/\(address.prefix)\(name)", digest, transfer)
    }

    private func perform(
        _ method: String, at path: String, _ digest: String, _ transfer: S3Transfer
    ) throws(ObjectStoreFailure) -> Int {
        let kept = idle.withLock { $0.popLast() }
        let handle = if let kept { kept } else { try S3Handle() }
        let base = address.endpoint.absoluteString.trimmingSuffix("/")
        let status = try handle.perform(
            S3Request(
                method: method, url: "\(base)/\(path)", digest: digest, address: address,
                limits: limits), transfer)
        idle.withLock { idle in
            if idle.count < Self.idleMax { idle.append(handle) }
        }
        return status
    }
}

/// Seconds that a store is waited for.
public struct S3Limits: Sendable {
    public var connectSeconds = 5.0
    /// A transfer that is slower than `bytesPerSecondMin` for so long is given up.
    public var stallSeconds = 15.0
    public var bytesPerSecondMin = 1_024

    public init() {}
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
