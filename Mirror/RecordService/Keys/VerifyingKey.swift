internal import COpenSSL
internal import Foundation
internal import RecordWire

/// The public half of a key on the curve P-256, in OpenSSL's hands.
final class VerifyingKey {
    private let pointer: OpaquePointer

    private static let pemBytesMax = 4_096
    private static let curve = "prime256v1"

    /// nil for no key, and for one on another curve.
    private init?(taking pointer: OpaquePointer?) {
        guard let pointer else {
            ERR_clear_error()
            return nil
        }
        self.pointer = pointer
        var name = [UInt8](repeating: 0, count: 64)
        var length = 0
        let isNamed = name.withUnsafeMutableBytes { bytes in
            EVP_PKEY_get_group_name(
                pointer, bytes.bindMemory(to: CChar.self).baseAddress, bytes.count, &length)
        }
        guard isNamed == 1, String(decoding: name.prefix(length), as: UTF8.self) == Self.curve
        else {
            ERR_clear_error()
            return nil
        }
    }

    deinit { EVP_PKEY_free(pointer) }

    /// Reads PEM text. Throws BAD_REQUEST for what is no public key on P-256.
    static func read(pem: String) throws(RecordError) -> VerifyingKey {
        guard !pem.contains("PRIVATE KEY") else {
            throw RecordError(
                .badRequest,
                "That is a private key, which no service needs; give its public half: "
                    + "openssl ec -in key.pem -pubout.")
        }
        let bytes = Array(pem.utf8)
        guard bytes.count <= pemBytesMax else { throw noKey }
        let read = bytes.withUnsafeBytes { buffer in
            let source = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count))
            defer { BIO_free(source) }
            // Without a callback of ours OpenSSL would ask for a passphrase on the terminal.
            return PEM_read_bio_PUBKEY(source, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let key = VerifyingKey(taking: read) else { throw noKey }
        return key
    }

    private static let noKey = RecordError(
        .badRequest,
        "That is no public key on the curve P-256 (prime256v1) in PEM form, which begins with "
            + "-----BEGIN PUBLIC KEY-----.")

    /// Reads what `encoded` gave; nil for anything else.
    convenience init?(encoded: Data) {
        let bytes = Array(encoded)
        let read = bytes.withUnsafeBufferPointer { buffer in
            var next = buffer.baseAddress
            return d2i_PUBKEY(nil, &next, buffer.count)
        }
        self.init(taking: read)
    }

    /// The key in DER, with the curve's name; nil where OpenSSL has no memory.
    var encoded: Data? {
        let count = Int(i2d_PUBKEY(pointer, nil))
        guard count > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let written = bytes.withUnsafeMutableBufferPointer { buffer in
            var next = buffer.baseAddress
            return i2d_PUBKEY(pointer, &next)
        }
        return written == count ? Data(bytes) : nil
    }

    /// Whether the key's owner signed `message` (ECDSA, SHA-256).
    func isSigned(_ message: [UInt8], by signature: ECDSASignature) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, pointer) == 1
            && EVP_DigestVerify(
                context, signature.bytes, signature.bytes.count, message, message.count) == 1
    }
}

/// A signature in DER that is spelled as DER demands.
struct ECDSASignature {
    let bytes: [UInt8]
    /// Its first number. No two signatures of one key share it but by being made of one another:
    /// from a good one everybody can make a second for the same message, with the same `r`.
    let r: [UInt8]

    private static let bytesMax = 80
    private static let numberBytes = 32

    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.bytesMax else { return nil }
        let (parsed, isWhole) = bytes.withUnsafeBufferPointer { buffer in
            var next = buffer.baseAddress
            let parsed = d2i_ECDSA_SIG(nil, &next, buffer.count)
            return (parsed, next == buffer.baseAddress.map { $0 + buffer.count })
        }
        defer { ECDSA_SIG_free(parsed) }
        var r = [UInt8](repeating: 0, count: Self.numberBytes)
        guard let parsed, isWhole,
            BN_bn2binpad(ECDSA_SIG_get0_r(parsed), &r, Int32(r.count)) == r.count
        else {
            ERR_clear_error()
            return nil
        }
        self.bytes = bytes
        self.r = r
    }

    init?(base64 text: String) {
        guard let data = Data(base64Encoded: text) else { return nil }
        self.init(Array(data))
    }
}
