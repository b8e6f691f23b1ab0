internal import COpenSSL
internal import Foundation

/// AES-256-GCM, and what derives a key of a passphrase, by OpenSSL.
enum AuthenticatedCipher {
    static let keyBytes = 32
    static let nonceBytes = 12
    static let tagBytes = 16

    /// The ciphertext with its tag. A key and a nonce must never come together twice.
    static func seal(
        _ message: Data, key: Data, nonce: Data, associated: Data
    ) throws -> Data {
        guard let context = EVP_CIPHER_CTX_new() else { throw failed() }
        defer { EVP_CIPHER_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: message.count + tagBytes)
        var (length, end): (Int32, Int32) = (0, 0)
        let message = [UInt8](message)
        let associated = [UInt8](associated)
        guard
            EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, [UInt8](key), [UInt8](nonce)) == 1,
            EVP_EncryptUpdate(context, nil, &length, associated, Int32(associated.count)) == 1,
            EVP_EncryptUpdate(context, &output, &length, message, Int32(message.count)) == 1
        else { throw failed() }
        let closed = output.withUnsafeMutableBufferPointer { buffer in
            EVP_EncryptFinal_ex(context, buffer.baseAddress.map { $0 + Int(length) }, &end) == 1
                && EVP_CIPHER_CTX_ctrl(
                    context, EVP_CTRL_AEAD_GET_TAG, Int32(tagBytes),
                    buffer.baseAddress.map { $0 + message.count }) == 1
        }
        guard closed else { throw failed() }
        return Data(output)
    }

    /// The message; nil where anything was changed, or another key sealed it.
    static func open(
        _ sealed: Data, key: Data, nonce: Data, associated: Data
    ) throws -> Data? {
        guard sealed.count >= tagBytes else { return nil }
        guard let context = EVP_CIPHER_CTX_new() else { throw failed() }
        defer { EVP_CIPHER_CTX_free(context) }
        let message = [UInt8](sealed.dropLast(tagBytes))
        var tag = [UInt8](sealed.suffix(tagBytes))
        let associated = [UInt8](associated)
        var output = [UInt8](repeating: 0, count: message.count + tagBytes)
        var (length, end): (Int32, Int32) = (0, 0)
        guard
            EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, [UInt8](key), [UInt8](nonce)) == 1,
            EVP_DecryptUpdate(context, nil, &length, associated, Int32(associated.count)) == 1,
            EVP_DecryptUpdate(context, &output, &length, message, Int32(message.count)) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagBytes), &tag) == 1
        else { throw failed() }
        let isWhole = output.withUnsafeMutableBufferPointer { buffer in
            EVP_DecryptFinal_ex(context, buffer.baseAddress.map { $0 + Int(length) }, &end) == 1
        }
        return isWhole ? Data(output.prefix(message.count)) : nil
    }

    /// A key made of a passphrase by scrypt.
    static func key(
        of passphrase: String, salt: Data, cost: KeyDerivationCost
    ) throws -> Data {
        let passphrase = Array(passphrase.utf8CString.map { CChar($0) })
        var key = [UInt8](repeating: 0, count: keyBytes)
        let done = EVP_PBE_scrypt(
            passphrase, passphrase.count - 1, [UInt8](salt), salt.count, cost.n, cost.r, cost.p,
            cost.memoryBytesMax, &key, key.count)
        guard done == 1 else { throw failed() }
        return Data(key)
    }

    private static func failed() -> MirrorError {
        MirrorError(
            .keyRefused, "OpenSSL cannot do AES-256-GCM or scrypt on this machine, or lacks memory."
        )
    }
}

/// What scrypt costs: as much for us as for who guesses.
struct KeyDerivationCost: Hashable, Sendable, Codable {
    /// 32 MB and about a tenth of a second.
    static let standard = KeyDerivationCost(n: 32_768, r: 8, p: 1)

    var n: UInt64
    var r: UInt64
    var p: UInt64

    /// A stranger's file must not take all memory or time.
    var isBearable: Bool {
        n.nonzeroBitCount == 1 && (2...1_048_576).contains(n) && (1...32).contains(r)
            && (1...16).contains(p) && n * r <= 8_388_608
    }

    fileprivate var memoryBytesMax: UInt64 { 128 * r * (n + p + 2) + 1_048_576 }
}
