internal import Foundation
internal import ObjectStorage
internal import RecordService

/// The bucket for contents of assets that `serve --assets s3://…` names.
struct AssetChoice: Sendable {
    static let endpoint = Option(
        "assets-endpoint", "URL", setting: true,
        "of the S3-compatible store that --assets s3://… is in (AWS's, in the region)")
    static let region = Option(
        "assets-region", "NAME", setting: true, "the bucket's region (us-east-1)")
    static let keys = Option(
        "assets-keys", "FILE", setting: true,
        "lines 'access: …' and 'secret: …'; else AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    static let authority = Option(
        "assets-ca-file", "FILE", setting: true,
        "the authorities to trust for --assets-endpoint (PEM)")
    static let cache = Option(
        "assets-cache", "BYTES", setting: true,
        "copies of assets that are kept beside the service (4294967296)")
    static let options = [endpoint, region, keys, authority, cache]
    static let scheme = "s3://"

    let place: ObjectPlace
    /// What others than the owner may read.
    let warning: String?

    /// nil where --assets names no bucket.
    init?(_ arguments: Arguments, folder: URL) throws {
        guard let text = arguments.value(RecordPlace.assets), text.hasPrefix(Self.scheme) else {
            guard let stray = Self.options.first(where: { arguments.has($0) }) else { return nil }
            throw Self.misuse(
                "--\(stray.name) does nothing without --assets s3://BUCKET/PREFIX.",
                "Name the bucket, or leave the option out.")
        }
        let path = text.dropFirst(Self.scheme.count).split(separator: "/", maxSplits: 1)
        let words = path.joined(separator: "/").utf8
        guard let bucket = path.first, !bucket.isEmpty, words.allSatisfy(Self.isPlain),
            // An address with them leads elsewhere, into another bucket perhaps.
            !text.split(separator: "/").contains(where: { $0 == "." || $0 == ".." })
        else {
            throw Self.misuse(
                "--assets names no bucket that can be used.",
                "Write s3://BUCKET or s3://BUCKET/PREFIX, in letters, digits, dots, dashes and "
                    + "underscores; no part of it is . or ..")
        }
        let region = arguments.value(Self.region) ?? "us-east-1"
        guard !region.isEmpty, region.utf8.allSatisfy({ Self.isPlain($0) && $0 != Self.slash })
        else {
            throw Self.misuse("--assets-region is no region.", "Such as eu-central-1.")
        }
        let keys = try Self.keys(arguments)
        warning = keys.warning
        var address = S3Address(
            endpoint: try Self.endpoint(arguments, region), region: region,
            bucket: String(bucket), prefix: path.count > 1 ? String(path[1]) : "",
            accessKey: keys.access, secretKey: keys.secret)
        address.authorityFile = arguments.file(Self.authority)
        var limits = AssetBucketLimits()
        if let bytes = try arguments.number(Self.cache, in: 0...(1 << 50)) {
            limits.cacheBytesMax = Int64(bytes)
        }
        place = ObjectPlace(
            S3Bucket(address), cache: folder.appendingPathComponent("assets-cache"),
            limits: limits)
    }

    private static let slash = UInt8(ascii: "/")

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
            UInt8(ascii: "_"), slash:
            true
        default: false
        }
    }

    private static func endpoint(_ arguments: Arguments, _ region: String) throws -> URL {
        let text = arguments.value(endpoint) ?? "https://s3.\(region).amazonaws.com"
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(),
            ["https", "http"].contains(scheme), let host = url.host, !host.isEmpty,
            url.query == nil, url.user == nil
        else {
            throw misuse(
                "--assets-endpoint is no address of a store.", "Write https://HOST or http://HOST.")
        }
        guard scheme == "https" || ["127.0.0.1", "localhost", "::1"].contains(host) else {
            throw misuse(
                "--assets-endpoint is http to another machine; assets would travel in the clear.",
                "Write https://, with --assets-ca-file for an authority of your own.")
        }
        return url
    }

    private static func keys(
        _ arguments: Arguments
    ) throws -> (access: String, secret: String, warning: String?) {
        guard let file = arguments.file(keys) else {
            guard let access = arguments.environment["AWS_ACCESS_KEY_ID"],
                let secret = arguments.environment["AWS_SECRET_ACCESS_KEY"], !access.isEmpty,
                !secret.isEmpty
            else {
                throw misuse(
                    "The keys of the bucket are missing.",
                    "Give --assets-keys FILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.")
            }
            return (access, secret, nil)
        }
        let (words, isOpen) = try TokenFile.words(of: file)
        guard let access = words["access"], let secret = words["secret"], !access.isEmpty,
            !secret.isEmpty
        else {
            throw misuse(
                "\(file.path) holds no keys.", "It has two lines, 'access: …' and 'secret: …'.")
        }
        let warning = "others may read \(file.path); chmod 600 keeps it private"
        return (access, secret, isOpen ? warning : nil)
    }

    private static func misuse(_ message: String, _ hint: String) -> CommandError {
        CommandError("usage", message, hint: hint, status: .usage)
    }
}
