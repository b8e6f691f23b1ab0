internal import Foundation
internal import ObjectModel
internal import SQLiteStore

/// Where the model comes from: a file, or the copy a store keeps of its own.
enum ModelSource {
    /// The model in `file`, which may be a store; of several versions the one named or else the
    /// current one. Throws for one that contradicts itself.
    static func load(_ file: URL, version: String? = nil) throws -> NSManagedObjectModel {
        let model = try read(file, version: version)
        try model.checkConsistency()
        return model
    }

    /// The same, whether it contradicts itself or not.
    static func read(_ file: URL, version: String?) throws -> NSManagedObjectModel {
        guard FileKind(of: file) == .sqlite else {
            return try NSManagedObjectModel.load(from: file, version: version)
        }
        guard let cached = try SQLiteRowStore.cachedModel(at: file) else {
            throw CommandError(
                "noModel", "\(file.path) keeps no copy of its model.",
                hint: "Give the model's own file: an .xcdatamodel(d) or a .mom(d).")
        }
        return cached
    }

    static func noCache(_ store: URL) -> CommandError {
        CommandError(
            "noModel", "\(store.path) keeps no copy of its model.",
            hint: "Give --model MODEL, or put 'model = …' into diptych.conf beside the store; "
                + "`diptych inspect` does without.")
    }
}

/// What a file is, by its first bytes. For files that this process has not open: reading one in
/// this way drops the locks that SQLite has on it.
enum FileKind {
    case absent, folder, empty, sqlite, xml, propertyList, other

    init(of file: URL) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder) else {
            self = .absent
            return
        }
        guard !isFolder.boolValue else {
            self = .folder
            return
        }
        let handle = try? FileHandle(forReadingFrom: file)
        let head = (try? handle?.read(upToCount: 16)) ?? Data()
        try? handle?.close()
        if head.isEmpty {
            self = .empty
        } else if head == Data("SQLite format 3\0".utf8) {
            self = .sqlite
        } else if head.starts(with: Data("<?xml".utf8)) {
            self = .xml
        } else if head.starts(with: Data("bplist00".utf8)) {
            self = .propertyList
        } else {
            self = .other
        }
    }
}
