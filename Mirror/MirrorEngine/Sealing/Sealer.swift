internal import Foundation
internal import ObjectModel
package import Platform

/// Seals values, and opens them.
///
/// A sealed value is a byte for the form, the key's ID, the nonce, the ciphertext and its tag. The
/// names of the record and the field, and the key's ID, are sealed with it, so that a value cannot
/// be put into another field or record.
package struct Sealer: Sendable {
    package let keys: SealingKeys
    private let randomness: any Randomness

    /// So many values one device seals under one key. Nonces are 96 random bits: that two of the
    /// values of 64 such devices have the same is less likely than one in a billion. (NIST SP
    /// 800-38D §8.3 asks for no more than 2³² under one key.)
    package static let sealsMax: Int64 = 1 << 26
    private static let form: UInt8 = 1
    private static let headBytes = 1 + SealingKey.idBytes + AuthenticatedCipher.nonceBytes

    package init(keys: SealingKeys, randomness: any Randomness) {
        self.keys = keys
        self.randomness = randomness
    }

    /// What opening a value came to.
    enum Opening: Equatable {
        case opened(Data)
        /// Sealed under a key that is not here.
        case locked
        /// Changed since it was sealed, or moved from elsewhere.
        case broken
    }

    func seal(_ message: Data, record: String, field: String) throws -> Data {
        let key = keys.current
        let nonce = randomness.bytes(AuthenticatedCipher.nonceBytes)
        let sealed = try AuthenticatedCipher.seal(
            message, key: key.secret, nonce: nonce,
            associated: Self.associated(record, field, key.id))
        return Data([Self.form]) + key.id + nonce + sealed
    }

    func open(_ sealed: Data, record: String, field: String) throws -> Opening {
        guard let id = Self.keyID(of: sealed) else { return .broken }
        guard let key = keys.key(id) else { return .locked }
        let head = sealed.prefix(Self.headBytes)
        let message = try AuthenticatedCipher.open(
            sealed.dropFirst(Self.headBytes), key: key.secret,
            nonce: head.suffix(AuthenticatedCipher.nonceBytes),
            associated: Self.associated(record, field, id))
        return message.map { .opened($0) } ?? .broken
    }

    /// The key under which a value was sealed; nil for what is no sealed value.
    static func keyID(of sealed: Data) -> Data? {
        guard sealed.count >= headBytes + AuthenticatedCipher.tagBytes, sealed.first == form
        else { return nil }
        return Data(sealed.dropFirst().prefix(SealingKey.idBytes))
    }

    /// Stands for a value where equal ones must be known as equal: a keyed digest (HMAC-SHA256),
    /// of which who lacks the key can guess nothing.
    func digest(of message: Data, record: String, field: String) -> Data {
        let secret = SHA2.sha256(Array("diptych digest".utf8) + keys.keys[0].secret)
        func padded(_ byte: UInt8) -> [UInt8] {
            secret.map { $0 ^ byte } + Array(repeating: byte, count: 64 - secret.count)
        }
        let place = Array(Self.associated(record, field, Data()))
        let inner = SHA2.sha256(padded(0x36) + place + message)
        return Data(SHA2.sha256(padded(0x5C) + inner))
    }

    private static func associated(_ record: String, _ field: String, _ id: Data) -> Data {
        var data = Data("diptych sealed value".utf8)
        for text in [record, field] {
            let bytes = Data(text.utf8)
            withUnsafeBytes(of: UInt64(bytes.count).bigEndian) { data.append(contentsOf: $0) }
            data += bytes
        }
        return data + id
    }
}
