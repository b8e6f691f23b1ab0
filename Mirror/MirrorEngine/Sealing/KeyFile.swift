public import Foundation
public import Platform

/// A file with the keys of a store, wrapped by a passphrase (scrypt, AES-256-GCM): what a second
/// device joins with, and what one keeps to recover.
///
/// It is kept by its owner and is no record of the zone: who has the service's data has nothing
/// to try passphrases on. All functions that take a passphrase cost a tenth of a second and 32 MB
/// or more, and throw `MirrorError` (`.keyRefused`) for a wrong one or a damaged file.
public struct KeyFile: Hashable, Sendable {
    private struct Wrapped: Hashable, Sendable, Codable {
        var id: Data
        var nonce: Data
        var key: Data
    }

    private struct Form: Hashable, Sendable, Codable {
        var version = 1
        var scrypt: KeyDerivationCost
        var salt: Data
        var keys: [Wrapped]
    }

    private let form: Form
    private static let bytesMax = 1_000_000

    /// Reads a file.
    public init(_ data: Data) throws {
        guard data.count <= Self.bytesMax,
            let form = try? JSONDecoder().decode(Form.self, from: data), form.version == 1,
            form.scrypt.isBearable, !form.keys.isEmpty
        else {
            throw MirrorError(
                .keyRefused, "The key file cannot be read: it is damaged, or of another form.")
        }
        self.form = form
    }

    /// Wraps keys. An empty passphrase is refused.
    public init(
        wrapping keys: SealingKeys, passphrase: String,
        randomness: any Randomness = Environment.system.randomness
    ) throws {
        guard !passphrase.isEmpty else {
            throw MirrorError(.keyRefused, "An empty passphrase protects nothing; choose one.")
        }
        var form = Form(scrypt: .standard, salt: randomness.bytes(16), keys: [])
        let wrapping = try AuthenticatedCipher.key(
            of: passphrase, salt: form.salt, cost: form.scrypt)
        form.keys = try keys.keys.map { key in
            let nonce = randomness.bytes(AuthenticatedCipher.nonceBytes)
            return Wrapped(
                id: key.id, nonce: nonce,
                key: try AuthenticatedCipher.seal(
                    key.secret, key: wrapping, nonce: nonce, associated: Self.associated(key.id)))
        }
        self.form = form
    }

    /// The file's bytes.
    public var data: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(form)
        }
    }

    /// The IDs of its keys, as `SealingKey.description` has them; the last one seals.
    public var keyIDs: [String] {
        form.keys.map(\.id.hexadecimal)
    }

    /// The keys.
    public func open(passphrase: String) throws -> SealingKeys {
        let wrapping = try AuthenticatedCipher.key(
            of: passphrase, salt: form.salt, cost: form.scrypt)
        return try SealingKeys(
            form.keys.map { wrapped in
                guard wrapped.nonce.count == AuthenticatedCipher.nonceBytes,
                    let secret = try AuthenticatedCipher.open(
                        wrapped.key, key: wrapping, nonce: wrapped.nonce,
                        associated: Self.associated(wrapped.id)),
                    let key = try? SealingKey(secret: secret), key.id == wrapped.id
                else {
                    throw MirrorError(
                        .keyRefused,
                        "The passphrase is not that of the key file, or it was changed."
                    )
                }
                return key
            })
    }

    /// The same with a new key, which seals from now on; the former ones still open.
    public func rotated(
        passphrase: String, randomness: any Randomness = Environment.system.randomness
    ) throws -> KeyFile {
        let keys = try open(passphrase: passphrase).keys + [SealingKey.drawn(from: randomness)]
        return try KeyFile(
            wrapping: SealingKeys(keys), passphrase: passphrase, randomness: randomness)
    }

    /// The same keys under another passphrase.
    public func rewrapped(
        from passphrase: String, to other: String,
        randomness: any Randomness = Environment.system.randomness
    ) throws -> KeyFile {
        try KeyFile(
            wrapping: open(passphrase: passphrase), passphrase: other, randomness: randomness)
    }

    private static func associated(_ id: Data) -> Data { Data("diptych key file".utf8) + id }
}
