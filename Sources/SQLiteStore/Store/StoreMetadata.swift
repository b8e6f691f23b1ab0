internal import Foundation
internal import ObjectModel
internal import SQLiteDriver
internal import Stores

/// The dictionary in `Z_METADATA`: the store's own keys, and whatever the application adds.
struct StoreMetadata {
    var values: [String: Any]
    var identifier: String

    static let hashesKey = "NSStoreModelVersionHashes"
    static let identifierKey = "NSStoreUUID"
    private static let hashesVersionKey = "NSStoreModelVersionHashesVersion"
    private static let hashesVersion = 3
    /// The version of Apple's framework whose format this is (macOS 26.1).
    private static let frameworkVersion = 1522

    /// The metadata of a new store.
    init(hashes: [String: Data], model: NSManagedObjectModel, identifier: String) {
        self.identifier = identifier
        values = [
            "NSPersistenceFrameworkVersion": Self.frameworkVersion,
            "NSPersistenceMaximumFrameworkVersion": Self.frameworkVersion,
            "NSStoreType": "SQLite",
            Self.hashesKey: hashes,
            Self.hashesVersionKey: Self.hashesVersion,
            "NSStoreModelVersionHashesDigest": NSManagedObjectModel.digest(of: hashes),
            "NSStoreModelVersionChecksumKey": NSManagedObjectModel.checksum(of: hashes),
            "NSStoreModelVersionIdentifiers": model.versionIdentifiers.compactMap {
                $0.base as? String
            }
            .sorted(),
            "_NSAutoVacuumLevel": "2",
        ]
    }

    /// Reads the metadata of an open file.
    init(reading connection: Connection, path: String) throws {
        let row = try connection.rows("SELECT Z_UUID, Z_PLIST FROM Z_METADATA LIMIT 1").first
        guard let row, let identifier = row[0].string, let values = Self.dictionary(row[1]) else {
            throw StoreError(
                .corrupt,
                "The store's metadata is missing or damaged; restore the file from a copy.",
                fields: ["path": path])
        }
        self.values = values
        self.identifier = identifier
    }

    /// A store that was emptied of its metadata fits no model, yet opens without versioning.
    private static func dictionary(_ stored: SQLiteValue) -> [String: Any]? {
        if stored.isNull { return [:] }
        return stored.data.flatMap {
            try? PropertyListValues.dictionary(in: $0, file: "Z_METADATA")
        }
    }

    /// The dictionary as applications see it.
    var dictionary: [String: Any] {
        values.merging([Self.identifierKey: identifier]) { _, new in new }
    }

    var hashes: [String: Data] { values[Self.hashesKey] as? [String: Data] ?? [:] }

    /// Takes the application's keys from `dictionary`; the store's own stay as they are.
    mutating func replaceApplicationKeys(with dictionary: [String: Any]) {
        values = values.filter { Self.isOwn($0.key) }
        values.merge(dictionary.filter { !Self.isOwn($0.key) }) { _, new in new }
    }

    private static func isOwn(_ key: String) -> Bool {
        StoreMetadataKey.isOwn(key) || key == "migrationManagerClass"
    }

    func write(to connection: Connection) throws {
        let data: Data
        do {
            data = try PropertyListSerialization.data(
                fromPropertyList: values, format: .binary, options: 0)
        } catch {
            throw StoreError(
                .invalidValue,
                "The metadata holds a value that no property list can hold; remove it.",
                cause: error)
        }
        do {
            _ = try PropertyListValues.dictionary(in: data, file: "metadata")
        } catch {
            throw StoreError(
                .invalidValue,
                "The metadata nests deeper or has more values than a store reads; remove some.",
                cause: error)
        }
        try connection.run(
            "INSERT OR REPLACE INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)",
            [.text(identifier), .blob(data)])
    }

    // MARK: Fitting a model

    /// Throws when the file was made for other entities than these, or in a newer way.
    func check(against hashes: [String: Data], path: String) throws {
        if let version = values[Self.hashesVersionKey] as? Int, version > Self.hashesVersion {
            throw StoreError(
                .unsupported,
                "The store's version hashes are of a newer kind; use a newer version.",
                fields: ["path": path, "version": "\(version)"])
        }
        let stored = self.hashes
        guard stored != hashes else { return }
        func list(_ names: [String]) -> String { names.sorted().joined(separator: ", ") }
        let changed = hashes.filter { stored[$0.key] != nil && stored[$0.key] != $0.value }.map(
            \.key)
        let fields = [
            "path": path, "changed": list(changed),
            "onlyInModel": list(hashes.keys.filter { stored[$0] == nil }),
            "onlyInStore": list(stored.keys.filter { hashes[$0] == nil }),
        ]
        let differing = [
            ("changed", "differ"), ("onlyInModel", "are missing in the store"),
            ("onlyInStore", "are missing in the model"),
        ].compactMap { key, what in fields[key].flatMap { $0.isEmpty ? nil : "\($0) \(what)" } }
        throw StoreError(
            .modelMismatch,
            "The store was written with another model (\(differing.joined(separator: "; "))); "
                + "open it with the model it was made for, or let it be migrated.",
            fields: fields)
    }
}
