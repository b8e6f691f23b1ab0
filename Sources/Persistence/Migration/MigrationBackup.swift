internal import Foundation
internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// The copy of a store that its migration leaves beside it, where an option asks for one.
struct MigrationBackup {
    private let parameters: StoreParameters
    private let url: URL

    init(_ parameters: StoreParameters, at url: URL) {
        self.parameters = parameters
        self.url = url
    }

    /// Makes the copy, and returns its place; nil where none is wanted. The migration does not
    /// begin where that fails.
    @discardableResult
    func makeIfWanted(of metadata: [String: Any]) throws -> URL? {
        guard parameters.flag(NSPersistentStoreMigrationBackupOption) ?? false else { return nil }
        return try make(of: metadata)
    }

    /// Makes the copy, whole or not at all, and returns its place.
    @discardableResult
    func make(of metadata: [String: Any]) throws -> URL {
        let place = place(of: metadata)
        do {
            try StoreFileType(parameters.type).replace(
                place, with: url, timeout: parameters.sqliteOptions.busyMilliseconds,
                platform: parameters.platform)
        } catch {
            throw PersistenceErrors.make(
                NSMigrationError,
                "The store cannot be copied before its migration, which did not begin: "
                    + (PersistenceErrors.translate(error) as NSError).localizedDescription,
                [NSUnderlyingErrorKey: error, NSFilePathErrorKey: place.path])
        }
        return place
    }

    /// A name beside the store that nothing has: an older copy stays what it is.
    private func place(of metadata: [String: Any]) -> URL {
        let name = url.deletingPathExtension().lastPathComponent
        let copy = "\(name)-before-\(Self.version(of: metadata))"
        var (place, number) = (beside(copy), 1)
        while FileKind(at: place.path, followsLinks: false) != .nothing {
            number += 1
            place = beside("\(copy)-\(number)")
        }
        return place
    }

    private func beside(_ name: String) -> URL {
        let place = url.deletingLastPathComponent().appendingPathComponent(name)
        return url.pathExtension.isEmpty ? place : place.appendingPathExtension(url.pathExtension)
    }

    /// What a file's name can say of a version: its identifiers, else the beginning of its
    /// checksum.
    static func version(of metadata: [String: Any]) -> String {
        let identifiers = (metadata[NSStoreModelVersionIdentifiersKey] as? [Any] ?? [])
            .map { "\($0)".filter { $0.isLetter || $0.isNumber || ".-_ ".contains($0) } }
            .filter { !$0.isEmpty && !$0.hasPrefix(".") }
        if !identifiers.isEmpty { return identifiers.sorted().joined(separator: "+") }
        let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        let checksum = Data(base64Encoded: NSManagedObjectModel.checksum(of: hashes)) ?? Data()
        return checksum.prefix(4).map { String($0, radix: 16) }
            .map { $0.count == 1 ? "0" + $0 : $0 }.joined()
    }
}
