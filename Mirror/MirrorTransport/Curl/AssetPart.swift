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
    private let descriptor: Int32
    /// What came before.
    private let offset: Int64

    /// The digest of what came is compared with the asset's where the service speaks in digests.
    init(_ file: URL, of asset: RecordAsset, in dialect: ServiceDialect) throws {
        namesDigests = dialect == .extended
        self.file = file
        self.asset = asset
        part = file.appendingPathExtension("part")
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
        headers.append(("Range", "bytes=\(offset)-"))
        if let checksum = asset.fileChecksum { headers.append(("If-Range", "\"\(checksum)\"")) }
        return headers
    }

    var output: CurlOutput {
        CurlOutput(descriptor: descriptor, bytesMax: asset.size ?? .max)
    }

    func discard() { unlink(part.path) }

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
            throw TransportError(
                .connectionLost, "The asset that came is not the one that was asked for; try again."
            )
        }
        guard fsync(descriptor) == 0, rename(part.path, file.path) == 0 else {
            throw CurlFailure.output(errno)
        }
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
