internal import Foundation
internal import ObjectModel
internal import Persistence
internal import Platform
internal import SQLiteStore
internal import Stores

/// A store that a verb works on, and the model it is read by.
struct StoreAccess: Sendable {
    let url: URL
    private let modelFile: URL?
    let pragmas: [String: String]

    /// The path as it was given, for messages.
    let name: String

    init(_ arguments: Arguments) {
        url = arguments.store
        name = arguments.operand(0)
        modelFile = arguments.file(.model)
        pragmas = Pragmas.read(arguments.environment)
    }

    private init(_ other: StoreAccess, url: URL, name: String) {
        self.url = url
        self.name = name
        modelFile = other.modelFile
        pragmas = other.pragmas
    }

    /// A store in the same folder, of the model that the call names.
    func beside(_ other: URL) -> StoreAccess {
        let own = url.lastPathComponent
        let isNamed = name.hasSuffix(own)
        return StoreAccess(
            self, url: other,
            name: isNamed ? name.dropLast(own.count) + other.lastPathComponent : other.path)
    }

    /// The model that was named, else the copy in the store; nil where there is neither.
    func knownModel() throws -> NSManagedObjectModel? {
        if let modelFile { return try ModelSource.load(modelFile) }
        guard try StoreFileKind(of: url) == .sqlite,
            let model = try SQLiteRowStore.cachedModel(at: url)
        else { return nil }
        try model.checkConsistency()
        return model
    }

    func model() throws -> NSManagedObjectModel {
        guard let model = try knownModel() else { throw ModelSource.noCache(url) }
        return model
    }

    /// Opens the store that is there; makes none.
    func open(readOnly: Bool = false) throws -> SQLiteRowStore {
        try requireStore()
        return try open(model: model(), readOnly: readOnly)
    }

    /// Opens the store that is there, of whatever type; makes none.
    func openAny(readOnly: Bool) throws -> any RowStore {
        let type = try StoreFileKind(of: url)
        return try type.open(url, model: model(), readOnly: readOnly, pragmas: pragmas)
    }

    /// Opens the store for a look, with its model or else with what the file tells of it.
    func openForLook() throws -> any RowStore {
        if let model = try knownModel() {
            let type = try StoreFileKind(of: url)
            return try type.open(url, model: model, readOnly: true, pragmas: pragmas)
        }
        let type = try StoreFileKind(of: url)
        return try type.open(
            url, model: type.inferredModel(of: url), readOnly: true, pragmas: pragmas,
            anyVersion: true)
    }

    /// `anyVersion` opens a store that was written with another model, as far as its columns go.
    func open(
        model: NSManagedObjectModel, readOnly: Bool, anyVersion: Bool = false
    ) throws -> SQLiteRowStore {
        var options = SQLiteStoreOptions()
        options.isReadOnly = readOnly
        options.ignoresVersioning = anyVersion
        options.pragmas = pragmas
        return try SQLiteRowStore(url: url, model: model, options: options, platform: .system)
    }

    /// Makes the store, which must not be there: whole before it has its name, and of two at once
    /// only one.
    func create(model: NSManagedObjectModel) throws -> SQLiteRowStore {
        guard FileKind(of: url) == .absent else { throw CommandError.exists(name) }
        try ParentFolder.require(of: url)
        let mark = Environment.system.randomness.uuid().uuidString
        let draft = url.deletingLastPathComponent()
            .appendingPathComponent(".\(mark).\(url.lastPathComponent)")
        DraftRegister.note(draft)
        defer { DraftRegister.forget(draft) }
        do {
            _ = try StoreAccess(self, url: draft, name: name).open(model: model, readOnly: false)
            try SQLiteRowStore.place(draft, at: url)
        } catch {
            SQLiteRowStore.discard(draft)
            throw described(error, of: draft)
        }
        return try open(model: model, readOnly: false)
    }

    /// What the making of a draft failed with, as of the store that was asked for.
    private func described(_ error: any Error, of draft: URL) -> any Error {
        guard var error = error as? StoreError else { return error }
        if error.fields["taken"] != nil { return CommandError.exists(name) }
        if error.fields["path"] == draft.path { error.fields["path"] = url.path }
        return error
    }

    /// Throws unless there is a SQLite file.
    func requireStore() throws {
        guard try StoreFileKind(of: url) == .sqlite else {
            throw CommandError(
                "unsupported", "\(name) may be a store, but is no SQLite file.",
                hint: "This verb works on SQLite stores only; make one of it: "
                    + "`diptych convert --to sqlite`.")
        }
    }
}

/// Further pragmas for each store that is opened: `DIPTYCH_SQLITE_PRAGMAS=name=value;…`. By these
/// the tests make a disk that is full.
enum Pragmas {
    static func read(_ environment: [String: String]) -> [String: String] {
        let text = environment["DIPTYCH_SQLITE_PRAGMAS"] ?? ""
        let pairs = text.split(separator: ";").compactMap { pair -> (String, String)? in
            let parts = pair.split(separator: "=", maxSplits: 1)
            return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
        }
        return Dictionary(pairs) { $1 }
    }
}
