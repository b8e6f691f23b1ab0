internal import Foundation
internal import ObjectModel

/// The metadata of an atomic store: the keys of a SQLite store, and whatever the application adds.
struct GraphMetadata {
    private(set) var values: [String: Any]

    private static let hashesKey = "NSStoreModelVersionHashes"
    private static let identifierKey = "NSStoreUUID"
    private static let typeKey = "NSStoreType"
    private static let hashesVersionKey = "NSStoreModelVersionHashesVersion"
    private static let hashesVersion = 3
    /// The version of Apple's framework whose format this is (macOS 26.1).
    private static let frameworkVersion = 1522

    init(_ stored: [String: Any]) { values = stored }

    /// The metadata of a new store.
    init(for layout: ModelLayout, type: String) {
        let hashes = NSManagedObjectModel.hashes(of: layout.entities.map(\.entity))
        values = [
            "NSPersistenceFrameworkVersion": Self.frameworkVersion,
            "NSPersistenceMaximumFrameworkVersion": Self.frameworkVersion,
            Self.typeKey: type,
            Self.hashesKey: hashes,
            Self.hashesVersionKey: Self.hashesVersion,
            "NSStoreModelVersionHashesDigest": NSManagedObjectModel.digest(of: hashes),
            "NSStoreModelVersionChecksumKey": NSManagedObjectModel.checksum(of: hashes),
            "NSStoreModelVersionIdentifiers": layout.model.versionIdentifiers.compactMap {
                $0.base as? String
            }
            .sorted(),
        ]
    }

    /// The dictionary as applications see it.
    func dictionary(identifier: String, type: String) -> [String: Any] {
        var all = values
        all[Self.identifierKey] = identifier
        all[Self.typeKey] = type
        return all
    }

    /// Takes the application's keys from `dictionary`; the store's own stay as they are.
    mutating func replaceApplicationKeys(with dictionary: [String: Any]) {
        values = values.filter { Self.isOwn($0.key) }
        values.merge(dictionary.filter { !Self.isOwn($0.key) }) { _, new in new }
    }

    private static func isOwn(_ key: String) -> Bool {
        StoreMetadataKey.isOwn(key)
            || key == "migrationManagerClass"
    }

    /// Throws when the file was made for other entities than the layout's, or in a newer way.
    func check(against layout: ModelLayout, path: String) throws {
        if let version = values[Self.hashesVersionKey] as? Int, version > Self.hashesVersion {
            throw StoreError(
                .unsupported,
                "The store's version hashes are of a newer kind; use a newer version.",
                fields: ["path": path, "version": "\(version)"])
        }
        let stored = values[Self.hashesKey] as? [String: Data] ?? [:]
        let wanted = NSManagedObjectModel.hashes(of: layout.entities.map(\.entity))
        guard stored != wanted else { return }
        let lists = [
            (
                "changed", "differ",
                wanted.keys.filter { stored[$0] != nil && stored[$0] != wanted[$0] }
            ),
            ("onlyInModel", "are missing in the store", wanted.keys.filter { stored[$0] == nil }),
            ("onlyInStore", "are missing in the model", stored.keys.filter { wanted[$0] == nil }),
        ]
        var fields = ["path": path]
        var differing: [String] = []
        for (key, what, names) in lists {
            let list = names.sorted().joined(separator: ", ")
            fields[key] = list
            if !list.isEmpty { differing.append("\(list) \(what)") }
        }
        throw StoreError(
            .modelMismatch,
            "The store was written with another model (\(differing.joined(separator: "; "))); "
                + "open it with the model it was made for, or let it be migrated.",
            fields: fields)
    }
}
