internal import COpenSSL
package import Foundation
package import RecordWire

/// The SHA-256 by which an asset's content is named.
struct AssetChecksum: Hashable, Sendable {
    let bytes: Data

    private static let bytesCount = 32

    /// nil unless the bytes are as many as a digest has.
    init?(_ bytes: Data) {
        guard bytes.count == Self.bytesCount else { return nil }
        self.bytes = bytes
    }

    /// As clients see it: base64.
    init?(text: String) {
        guard let bytes = Data(base64Encoded: text) else { return nil }
        self.init(bytes)
    }

    /// The checksum of a text.
    static func of(_ text: String) -> AssetChecksum {
        let message = Array(text.utf8)
        var digest = [UInt8](repeating: 0, count: bytesCount)
        diptych_sha256(message, message.count, &digest)
        return AssetChecksum(whole: Data(digest))
    }

    private init(whole bytes: Data) { self.bytes = bytes }

    /// As files are called.
    init?(hexDigits: String) {
        let digits = Array(hexDigits.utf8)
        guard digits.count == Self.bytesCount * 2 else { return nil }
        var bytes = Data(capacity: Self.bytesCount)
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index...index + 1], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        self.init(bytes)
    }

    var text: String { bytes.base64EncodedString() }

    /// Whether a client means it by what it was told in either dialect.
    func isCalled(_ name: String) -> Bool {
        name == text || name == RecordAsset.plainChecksum(of: text)
    }

    var hexDigits: String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

/// In the order of their bytes, which is that of their digits and of the names of objects.
extension AssetChecksum: Comparable {
    static func < (one: AssetChecksum, other: AssetChecksum) -> Bool {
        one.bytes.lexicographicallyPrecedes(other.bytes)
    }
}

/// SHA-256 of bytes that come piece by piece.
package final class RunningSHA256 {
    private let context: OpaquePointer

    package init() throws(RecordError) {
        guard let context = EVP_MD_CTX_new() else { throw Self.failed }
        self.context = context
        guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else { throw Self.failed }
    }

    deinit { EVP_MD_CTX_free(context) }

    package func update(_ bytes: UnsafeRawBufferPointer) throws(RecordError) {
        guard EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else {
            throw Self.failed
        }
    }

    /// Ends the digest; nothing can be added afterwards.
    func finish() throws(RecordError) -> AssetChecksum {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        guard EVP_DigestFinal_ex(context, &digest, &length) == 1,
            let checksum = AssetChecksum(Data(digest.prefix(Int(length))))
        else { throw Self.failed }
        return checksum
    }

    /// As `finish`, in 32 bytes.
    package func digest() throws(RecordError) -> Data { try finish().bytes }

    private static let failed = RecordError(
        .internalError, "OpenSSL cannot compute SHA-256 on this machine.")
}

/// HMAC-SHA-256. (RFC 2104)
enum KeyedHash {
    private static let blockBytes = 64

    static func of(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var block = key.count > blockBytes ? digest(key) : key
        block += [UInt8](repeating: 0, count: blockBytes - block.count)
        return digest(block.map { $0 ^ 0x5C } + digest(block.map { $0 ^ 0x36 } + message))
    }

    private static func digest(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        diptych_sha256(message, message.count, &digest)
        return digest
    }
}
