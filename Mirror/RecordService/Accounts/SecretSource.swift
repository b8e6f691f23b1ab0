internal import COpenSSL
package import Foundation
internal import RecordWire

/// Draws bytes that nobody can guess. Tests put fixed ones in its place.
public protocol SecretSource: Sendable {
    /// Returns `count` unguessable bytes; throws when there are none to be had.
    func bytes(_ count: Int) throws -> [UInt8]
}

/// OpenSSL's generator for secrets.
public struct OpenSSLSecrets: SecretSource {
    public init() {}

    public func bytes(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard RAND_bytes(&bytes, Int32(count)) == 1 else {
            throw RecordError(
                .internalError, "OpenSSL has no random bytes; the machine's generator is not ready."
            )
        }
        return bytes
    }
}

/// SHA-256, and a comparison whose time tells nothing.
package enum SecretHash {
    package static func sha256(_ text: String) throws -> Data {
        Data(try sha256(bytes: Array(text.utf8)))
    }

    static func sha256(bytes: [UInt8]) throws -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        guard EVP_Digest(bytes, bytes.count, &digest, &length, EVP_sha256(), nil) == 1 else {
            throw RecordError(.internalError, "OpenSSL cannot compute SHA-256 on this machine.")
        }
        return Array(digest.prefix(Int(length)))
    }

    package static func areEqual(_ one: Data, _ other: Data) -> Bool {
        guard one.count == other.count else { return false }
        return one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in
                CRYPTO_memcmp(one.baseAddress, other.baseAddress, one.count) == 0
            }
        }
    }
}
