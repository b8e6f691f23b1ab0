public import Foundation

/// The list of versions beside the compiled models of an `.momd`.
enum VersionInfo {
    static let fileName = "VersionInfo.plist"
    static let currentVersionKey = "NSManagedObjectModel_CurrentVersionName"
    static let hashesKey = "NSManagedObjectModel_VersionHashes"
    static let checksumsKey = "NSManagedObjectModel_VersionChecksums"

    /// The file's contents for these versions.
    static func data(_ versions: [String: NSManagedObjectModel], current: String) throws -> Data {
        let list: [String: Any] = [
            currentVersionKey: current,
            hashesKey: versions.mapValues(\.entityVersionHashesByName),
            checksumsKey: versions.mapValues(\.versionChecksum),
        ]
        return try PropertyListSerialization.data(
            fromPropertyList: list, format: .binary, options: 0)
    }
}

extension NSManagedObjectModel {
    /// Writes the versions of a model as an `.momd` at `url`: a `.mom` for each, and the list that
    /// names the current one; `predicates` archives their predicates. Throws `ModelFileError`.
    package static func writeCompiledBundle(
        _ versions: [String: NSManagedObjectModel], current: String, to url: URL,
        _ predicates: any PredicateArchiving
    ) throws {
        guard versions[current] != nil else {
            throw ModelFileError(
                .missingVersion, file: url.path,
                "the current version “\(current)” is not among \(versions.keys.sorted())")
        }
        let compiled = try versions.mapValues { try $0.archived(as: .compiled, predicates) }
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            for (name, data) in compiled {
                try data.write(to: url.appendingPathComponent("\(name).mom"), options: .atomic)
            }
            try VersionInfo.data(versions, current: current)
                .write(to: url.appendingPathComponent(VersionInfo.fileName), options: .atomic)
        } catch {
            throw ModelFileError(
                .cannotWrite, file: url.path,
                "the bundle cannot be written; check the folder's rights",
                cause: error)
        }
    }

    /// The checksum of each version in the bundle at `modelURL`, by version name: from the bundle's
    /// own list, or computed where it has none. Source: Apple, checksumsForVersionedModel(at:).
    /// Throws `ModelFileError` for a bundle without versions, and for a version that is no model.
    /// Cost: reads one list, or each version.
    public class func checksumsForVersionedModel(at modelURL: URL) throws -> [String: String] {
        let listed = ModelFile.propertyList(modelURL.appendingPathComponent(VersionInfo.fileName))
        if let checksums = listed?[VersionInfo.checksumsKey] as? [String: String] {
            return checksums
        }
        let bundle = try VersionBundle(at: modelURL)
        let pairs = try bundle.versions.map { name in
            (name, try load(from: modelURL, version: name).versionChecksum)
        }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }
}
