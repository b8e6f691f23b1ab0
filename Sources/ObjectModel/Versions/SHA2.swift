internal import COpenSSL

/// SHA-256 and SHA-512 (FIPS 180-4), which version hashes are made of. Computed by OpenSSL.
package enum SHA2 {
    /// Looked for once: OpenSSL takes longer to find it than for a short message's digest. Never
    /// changed, and kept for the life of the process.
    nonisolated(unsafe) private static let method256 = EVP_MD_fetch(nil, "SHA256", nil)

    /// The 32-byte digest of `message`.
    package static func sha256(_ message: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { digest, count in
            let start = digest.baseAddress
            if method256 == nil
                || EVP_Digest(message, message.count, start, nil, method256, nil) != 1
            {
                SHA256(message, message.count, start)
            }
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
