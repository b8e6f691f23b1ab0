internal import COpenSSL

/// SHA-256 and SHA-512 (FIPS 180-4), which version hashes are made of. Computed by OpenSSL.
package enum SHA2 {
    /// The 32-byte digest of `message`.
    package static func sha256(_ message: [UInt8]) -> [UInt8] {
        // Room for what a hash of a hash has beside it.
        [UInt8](unsafeUninitializedCapacity: 2 * Int(SHA256_DIGEST_LENGTH)) { digest, count in
            diptych_sha256(message, message.count, digest.baseAddress)
            count = Int(SHA256_DIGEST_LENGTH)
        }
    }

    /// Makes `message` its own 32-byte digest, in the memory that it has.
    static func replaceBySHA256(_ message: inout [UInt8]) {
        var digest: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &digest) { bytes in
            diptych_sha256(
                message, message.count, bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
            message.removeAll(keepingCapacity: true)
            message += bytes
        }
    }

    /// The 64-byte digest of `message`.
    static func sha512(_ message: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(SHA512_DIGEST_LENGTH)) { digest, count in
            SHA512(message, message.count, digest.baseAddress)
            count = Int(SHA512_DIGEST_LENGTH)
        }
    }
}
