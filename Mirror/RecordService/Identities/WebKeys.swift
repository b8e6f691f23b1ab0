internal import COpenSSL
package import Foundation
package import RecordWire

/// The public keys of a provider, as it publishes them. (RFC 7517)
package struct WebKeys: Sendable {
    /// How a token may be signed. `none` and what is made with a shared secret are not among them.
    enum Algorithm: String, Sendable {
        case rs256 = "RS256"
        case es256 = "ES256"
    }

    private struct Key: Sendable {
        let id: String?
        let algorithm: Algorithm
        /// In DER.
        let encoded: [UInt8]
    }

    private struct Entry: Decodable {
        var kty: String?
        var kid: String?
        var use: String?
        var alg: String?
        var crv: String?
        var n: String?
        var e: String?
        var x: String?
        var y: String?
    }

    /// One of the set; nil for what is no key as far as this program knows.
    private struct Slot: Decodable {
        var entry: Entry?

        init(from decoder: any Decoder) { entry = try? Entry(from: decoder) }
    }

    private struct Document: Decodable {
        var keys: [Slot]
    }

    private static let bytesMax = 256 << 10
    private static let keysMax = 100

    private let keys: [Key]

    /// Takes those keys that sign as RS256 or ES256, and passes over the others. Throws BAD_REQUEST
    /// for what is no set of keys.
    package init(json: Data) throws(RecordError) {
        guard json.count <= Self.bytesMax,
            let document = try? JSONDecoder().decode(Document.self, from: json),
            document.keys.count <= Self.keysMax
        else {
            throw RecordError(.badRequest, "The provider's keys cannot be read.")
        }
        keys = document.keys.compactMap { $0.entry.flatMap(Self.key) }
    }

    private static func key(_ entry: Entry) -> Key? {
        guard entry.use ?? "sig" == "sig" else { return nil }
        func number(_ text: String?) -> [UInt8] { text.flatMap(Base64URL.bytes) ?? [] }
        let found: (Algorithm, [UInt8])? =
            switch entry.kty {
            case "RSA":
                WebKeyDER.rsa(modulus: number(entry.n), exponent: number(entry.e))
                    .map { (Algorithm.rs256, $0) }
            case "EC" where entry.crv == "P-256":
                WebKeyDER.p256(x: number(entry.x), y: number(entry.y)).map { (Algorithm.es256, $0) }
            default: nil
            }
        guard let (algorithm, encoded) = found,
            entry.alg == nil || entry.alg == algorithm.rawValue
        else { return nil }
        return Key(id: entry.kid, algorithm: algorithm, encoded: encoded)
    }

    /// Whether newer keys would help with the token as little as these: one of these has signed it,
    /// or it is none. Its name of a key alone does not tell: new keys may have that of a former
    /// one, or none.
    package func suffice(for token: String) -> Bool {
        guard let token = try? WebToken(token) else { return true }
        return haveSigned(token)
    }

    /// Keys of the name that the token says, or of none, and of the kind that its algorithm needs.
    private func fitting(_ token: WebToken) -> [Key] {
        keys.filter { key in
            let isNamed = token.keyID == nil || key.id == nil || key.id == token.keyID
            return isNamed && key.algorithm == token.algorithm
        }
    }

    func haveSigned(_ token: WebToken) -> Bool {
        fitting(token).contains { key in
            switch key.algorithm {
            case .rs256:
                RSAVerifyingKey(encoded: key.encoded)?
                    .isSigned(token.signed, by: token.signature) ?? false
            case .es256:
                WebKeyDER.signature(token.signature).flatMap(ECDSASignature.init).map {
                    VerifyingKey(encoded: Data(key.encoded))?.isSigned(token.signed, by: $0)
                        ?? false
                } ?? false
            }
        }
    }
}

/// The public half of a key of RSA, in OpenSSL's hands.
private final class RSAVerifyingKey {
    private let pointer: OpaquePointer

    private static let bits: ClosedRange<Int32> = 2_048...8_192

    init?(encoded: [UInt8]) {
        let read = encoded.withUnsafeBufferPointer { buffer in
            var next = buffer.baseAddress
            return d2i_PUBKEY(nil, &next, buffer.count)
        }
        guard let read else {
            ERR_clear_error()
            return nil
        }
        pointer = read
        guard EVP_PKEY_get_base_id(read) == EVP_PKEY_RSA,
            Self.bits.contains(EVP_PKEY_get_bits(read))
        else { return nil }
    }

    deinit { EVP_PKEY_free(pointer) }

    /// Whether it is signed by RSASSA-PKCS1-v1_5 with SHA-256.
    func isSigned(_ message: [UInt8], by signature: [UInt8]) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, pointer) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}

/// Writes keys and signatures of JSON in the DER that OpenSSL reads. (RFC 5280, RFC 3279, RFC 5480)
private enum WebKeyDER {
    private static let numberBytesMax = 1_024
    private static let coordinateBytes = 32
    private static let rsaName: [UInt8] = [
        0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
    private static let p256Head: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08,
        0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    static func rsa(modulus: [UInt8], exponent: [UInt8]) -> [UInt8]? {
        guard (1...numberBytesMax).contains(modulus.count), (1...8).contains(exponent.count) else {
            return nil
        }
        let numbers = element(0x30, number(modulus) + number(exponent))
        return element(0x30, rsaName + element(0x03, [0] + numbers))
    }

    static func p256(x: [UInt8], y: [UInt8]) -> [UInt8]? {
        guard x.count == coordinateBytes, y.count == coordinateBytes else { return nil }
        return p256Head + x + y
    }

    /// Of two numbers of 32 bytes each, as tokens have them. (RFC 7518 §3.4)
    static func signature(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count == 2 * coordinateBytes else { return nil }
        let (r, s) = (bytes.prefix(coordinateBytes), bytes.suffix(coordinateBytes))
        return element(0x30, number(Array(r)) + number(Array(s)))
    }

    private static func number(_ bytes: [UInt8]) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.first.map({ $0 > 0x7F }) ?? true { digits.insert(0, at: 0) }
        return element(0x02, digits)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count > 0x7F else { return [tag, UInt8(content.count)] + content }
        let high = UInt8(content.count >> 8)
        let low = UInt8(content.count & 0xFF)
        return [tag] + (high > 0 ? [0x82, high, low] : [0x81, low]) + content
    }
}
