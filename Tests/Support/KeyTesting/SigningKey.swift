internal import COpenSSL
public import Foundation

/// A private key of a test's own, with which it signs what a service is to verify.
public final class SigningKey: @unchecked Sendable {
    // @unchecked: OpenSSL reads the key, and nothing changes it.
    let pointer: OpaquePointer

    public struct Failure: Error {}

    private init(_ pointer: OpaquePointer?) throws {
        guard let pointer else { throw Failure() }
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }

    /// A new one on the curve P-256.
    public static func p256() throws -> SigningKey { try SigningKey(diptych_new_p256_key()) }

    /// A new one of RSA.
    public static func rsa(bits: Int32 = 2_048) throws -> SigningKey {
        try SigningKey(made(EVP_PKEY_RSA) { EVP_PKEY_CTX_set_rsa_keygen_bits($0, bits) })
    }

    /// A new one on another curve.
    public static func p384() throws -> SigningKey {
        try SigningKey(
            made(EVP_PKEY_EC) { EVP_PKEY_CTX_set_ec_paramgen_curve_nid($0, NID_secp384r1) })
    }

    private static func made(
        _ kind: Int32, _ choose: (OpaquePointer) -> Int32
    ) -> OpaquePointer? {
        guard let context = EVP_PKEY_CTX_new_id(kind, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, choose(context) == 1 else { return nil }
        EVP_PKEY_keygen(context, &key)
        return key
    }

    /// Signed with SHA-256: ECDSA in DER, or RSASSA-PKCS1-v1_5.
    public func signature(of message: Data) throws -> Data {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var bytes = [UInt8](repeating: 0, count: 1_024)
        var count = bytes.count
        let message = [UInt8](message)
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, pointer) == 1,
            EVP_DigestSign(context, &bytes, &count, message, message.count) == 1
        else { throw Failure() }
        return Data(bytes.prefix(count))
    }

    public var publicPEM: String { text { PEM_write_bio_PUBKEY($0, pointer) } }

    public var privatePEM: String {
        text { PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) }
    }

    private func text(_ write: (OpaquePointer?) -> Int32) -> String {
        let target = BIO_new(BIO_s_mem())
        defer { BIO_free(target) }
        _ = write(target)
        var bytes: UnsafeMutablePointer<CChar>?
        let count = diptych_bio_bytes(target, &bytes)
        guard let bytes, count > 0 else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    public static func sha256(_ data: Data) -> Data {
        var digest = [UInt8](repeating: 0, count: 32)
        let bytes = [UInt8](data)
        diptych_sha256(bytes, bytes.count, &digest)
        return Data(digest)
    }
}

/// Tokens as a provider of identities signs them.
extension SigningKey {
    private static let coordinateBytes = 32

    public static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// The public half as an entry of a set of keys.
    public func webKey(id: String, _ change: [String: String] = [:]) -> [String: String] {
        var entry = ["kid": id, "use": "sig"]
        if EVP_PKEY_get_base_id(pointer) == EVP_PKEY_RSA {
            entry["kty"] = "RSA"
            entry["n"] = number("n")
            entry["e"] = number("e")
        } else {
            entry["kty"] = "EC"
            entry["crv"] = "P-256"
            entry["x"] = number("qx", Self.coordinateBytes)
            entry["y"] = number("qy", Self.coordinateBytes)
        }
        return entry.merging(change) { $1 }
    }

    private func number(_ name: String, _ count: Int? = nil) -> String {
        var number: OpaquePointer?
        EVP_PKEY_get_bn_param(pointer, name, &number)
        defer { BN_free(number) }
        let count = count ?? Int(BN_num_bits(number) + 7) / 8
        var bytes = [UInt8](repeating: 0, count: count)
        BN_bn2binpad(number, &bytes, Int32(count))
        return Self.base64URL(Data(bytes))
    }

    /// A token of this head and these claims, each JSON.
    public func token(_ head: String, _ claims: String) throws -> String {
        let message = [head, claims].map { Self.base64URL(Data($0.utf8)) }.joined(separator: ".")
        var signature = try signature(of: Data(message.utf8))
        if EVP_PKEY_get_base_id(pointer) != EVP_PKEY_RSA { signature = Self.plain(signature) }
        return "\(message).\(Self.base64URL(signature))"
    }

    /// The two numbers of a signature in DER, one after the other.
    private static func plain(_ der: Data) -> Data {
        let bytes = [UInt8](der)
        let split = 4 + Int(bytes[3])
        return [Array(bytes[4..<split]), Array(bytes[(split + 2)...])].reduce(into: Data()) {
            let digits = Array($1.drop { $0 == 0 })
            $0 += [UInt8](repeating: 0, count: coordinateBytes - digits.count) + digits
        }
    }
}
