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

    /// The 64-byte digest of `message`.
    static func sha512(_ message: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(SHA512_DIGEST_LENGTH)) { digest, count in
            SHA512(message, message.count, digest.baseAddress)
            count = Int(SHA512_DIGEST_LENGTH)
        }
    }
}
