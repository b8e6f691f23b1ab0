internal import COpenSSL
internal import Foundation
internal import RecordWire

/// The file of an asset while it comes: beside its place, under a name of its own, so that an
/// interrupted download goes on.
final class AssetPart {
    private let file: URL
    private let part: URL
    private let asset: RecordAsset
    private let namesDigests: Bool
    /// nil where the digest is the tag.
    private let tag: PartTag?
    private let descriptor: Int32
    /// What came before.
    private let offset: Int64

    /// The digest of what came is compared with the asset's where the service speaks in digests.
    init(_ file: URL, of asset: RecordAsset, in dialect: ServiceDialect) throws {
        namesDigests = dialect == .extended
        self.file = file
        self.asset = asset
        part = file.appendingPathExtension("part")
        tag = namesDigests ? nil : PartTag(besides: part)
        descriptor = open(part.path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CurlFailure.output(errno) }
        var status = stat()
        offset = fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    deinit { close(descriptor) }

    /// Encoded bytes could not be gone on with.
    var headers: [(String, String)] {
        var headers = [("Accept-Encoding", "identity")]
        guard offset > 0 else { return headers }
        if let tag {
            // Without the tag of what came nobody knows whether the rest would fit.
            guard let value = tag.value else { return headers }
            return headers + [("Range", "bytes=\(offset)-"), ("If-Range", value)]
        }
        headers.append(("Range", "bytes=\(offset)-"))
        if let checksum = asset.fileChecksum { headers.append(("If-Range", "\"\(checksum)\"")) }
        return headers
    }

    var output: CurlOutput {
        let (descriptor, offset, part, tag) = (descriptor, offset, part, tag)
        return CurlOutput(descriptor: descriptor, bytesMax: asset.size ?? .max) { status, headers in
            guard let tag else { return true }
            guard status == 206 else {
                // Before the tag: the bytes of before must not come back beside it.
                guard fsync(descriptor) == 0 else { return false }
                tag.keep(headers["etag"])
                return true
            }
            // A rest of other bytes, or from another place, would spoil what came.
            let known = tag.value
            let fits =
                offset > 0 && known != nil && headers["etag"].map { $0 == known } ?? true
                && headers["content-range"]?.hasPrefix("bytes \(offset)-") == true
            if !fits {
                unlink(part.path)
                tag.remove()
            }
            return fits
        }
    }

    func discard() {
        unlink(part.path)
        tag?.remove()
    }

    /// Gives the whole file its name. Throws where it is not what the asset says; the next try
    /// begins anew then.
    func finish() throws {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw CurlFailure.output(errno) }
        let isWhole =
            try asset.size.map { $0 == Int64(status.st_size) } ?? true
            && asset.fileChecksum.map { try !namesDigests || isSHA256($0) } ?? true
        guard isWhole else {
            discard()
            throw CurlFailure.otherAsset
        }
        guard fsync(descriptor) == 0 else { throw CurlFailure.output(errno) }
        // First, so that none is left behind: a part without it begins anew.
        tag?.remove()
        guard rename(part.path, file.path) == 0 else { throw CurlFailure.output(errno) }
    }

    /// Whether the file has this digest; true for text that is no such digest.
    private func isSHA256(_ text: String) throws -> Bool {
        guard let wanted = Data(base64Encoded: text), wanted.count == SHA256_DIGEST_LENGTH else {
            return true
        }
        let bytes = try Data(contentsOf: part, options: .alwaysMapped)
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        bytes.withUnsafeBytes { diptych_sha256($0.baseAddress, $0.count, &digest) }
        return Data(digest) == wanted
    }
}
