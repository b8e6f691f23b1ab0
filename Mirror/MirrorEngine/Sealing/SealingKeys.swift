public import Foundation
internal import ObjectModel
public import Platform

/// A key under which values are sealed on the device (AES-256). It never reaches the service.
public struct SealingKey: Hashable, Sendable, CustomStringConvertible {
    /// Tells keys apart, in each sealed value; made of the key, and tells nothing of it.
    public let id: Data
    let secret: Data

    /// A key of the app's own, of 32 unguessable bytes. Throws `MirrorError` (`.keyRefused`) for
    /// another number of bytes.
    public init(secret: Data) throws {
        guard secret.count == AuthenticatedCipher.keyBytes else {
            throw MirrorError(
                .keyRefused,
                "A sealing key has \(AuthenticatedCipher.keyBytes) bytes, not \(secret.count).")
        }
        self.secret = secret
        id = Data(SHA2.sha256(Array("diptych key id".utf8) + secret).prefix(Self.idBytes))
    }

    /// A new key of the machine's random bytes.
    public static func drawn(
        from randomness: any Randomness = Environment.system.randomness
    ) throws
        -> SealingKey
    {
        try SealingKey(secret: randomness.bytes(AuthenticatedCipher.keyBytes))
    }

    /// The ID in hexadecimal digits; never the key.
    public var description: String { id.hexadecimal }

    static let idBytes = 8
}

/// The keys of a store: the last seals, all open.
public struct SealingKeys: Hashable, Sendable {
    public let keys: [SealingKey]

    /// Throws `MirrorError` (`.keyRefused`) where there is none.
    public init(_ keys: [SealingKey]) throws {
        guard !keys.isEmpty else {
            throw MirrorError(.keyRefused, "There are no sealing keys; give at least one.")
        }
        self.keys = keys
    }

    var current: SealingKey { keys[keys.count - 1] }

    func key(_ id: Data) -> SealingKey? { keys.last { $0.id == id } }
}

extension Data {
    /// Two digits a byte.
    package var hexadecimal: String {
        map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

extension Randomness {
    /// Random bytes: unguessable where the source is the system's.
    func bytes(_ count: Int) -> Data {
        var data = Data()
        while data.count < count {
            withUnsafeBytes(of: next()) { data.append(contentsOf: $0) }
        }
        return Data(data.prefix(count))
    }
}
