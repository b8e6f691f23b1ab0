public import Foundation

extension NSPropertyDescription {
    /// The property's part of the version hash: 32 bytes. Source: Apple, NSPropertyDescription.
    public var versionHash: Data {
        var hashing = VersionHashing()
        return Data(hashing.hash(of: self))
    }
}

extension NSEntityDescription {
    /// What stores compare to tell whether they fit the entity: 32 bytes, equal to Apple's.
    /// Cost: one SHA-256 per property and ancestor, at each call.
    public var versionHash: Data {
        var hashing = VersionHashing()
        return Data(hashing.hash(of: self))
    }
}

extension NSManagedObjectModel {
    /// The version hash of each entity. Cost: one SHA-256 per property and entity, at each call,
    /// until a coordinator uses the model, then O(entities).
    public var entityVersionHashesByName: [String: Data] { versionHashes(of: entities) }

    /// The model's fingerprint in `VersionInfo.plist` and in newer stores' metadata: SHA-256 over
    /// the entities' hashes, in base64.
    public var versionChecksum: String { Self.checksum(of: entityVersionHashesByName) }

    /// The model's fingerprint in stores' metadata: SHA-512 over the entities' names and hashes, in
    /// base64.
    public var versionHashesDigest: String { Self.digest(of: entityVersionHashesByName) }

    /// Whether a store with this metadata was made for exactly the entities of the configuration
    /// (nil: all of them). False when the metadata holds no version hashes.
    public func isConfiguration(
        withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
    ) -> Bool {
        guard let stored = metadata[Self.versionHashesKey] as? [String: Data],
            let entities = entities(forConfigurationName: configuration)
        else { return false }
        return stored == versionHashes(of: entities)
    }

    /// The digest of a store's or a configuration's hashes, as `versionHashesDigest`.
    package static func digest(of hashes: [String: Data]) -> String {
        let message = inNameOrder(hashes).flatMap { Array($0.key.utf8) + Array($0.value) }
        return Data(SHA2.sha512(message)).base64EncodedString()
    }

    /// The checksum of a store's or a configuration's hashes, as `versionChecksum`.
    package static func checksum(of hashes: [String: Data]) -> String {
        let message = inNameOrder(hashes).flatMap { Array($0.value) }
        return Data(SHA2.sha256(message)).base64EncodedString()
    }

    /// The version hashes of `entities` by name, each computed once.
    package static func hashes(of entities: [NSEntityDescription]) -> [String: Data] {
        var hashing = VersionHashing()
        var hashes: [String: Data] = [:]
        hashes.reserveCapacity(entities.count)
        for entity in entities {
            if let name = entity.name { hashes[name] = Data(hashing.hash(of: entity)) }
        }
        return hashes
    }

    private static func inNameOrder(_ hashes: [String: Data]) -> [(key: String, value: Data)] {
        hashes.sorted { VersionHashing.precedes($0.key, $1.key) }
    }

    /// The key of the entities' hashes in a store's metadata.
    static let versionHashesKey = "NSStoreModelVersionHashes"
}
