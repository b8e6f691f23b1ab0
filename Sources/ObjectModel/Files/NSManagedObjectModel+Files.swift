public import Foundation

extension NSManagedObjectModel {
    /// Reads the model at `url`, or returns nil when there is none that can be understood;
    /// `load(from:version:)` says why. Source: Apple, NSManagedObjectModel.
    public convenience init?(contentsOf url: URL) {
        guard let model = try? Self.load(from: url) else { return nil }
        self.init()
        takeOver(model)
    }

    /// Reads the model at `url`: a source (`.xcdatamodel`, or its XML file), a compiled model
    /// (`.mom`), or the current or named version of a bundle of either (`.xcdatamodeld`, `.momd`).
    /// The contents decide, not the name. Throws `ModelFileError`.
    public static func load(from url: URL, version: String? = nil) throws -> NSManagedObjectModel {
        let file = try ModelFile(at: url, version: version)
        guard !file.isArchive else {
            return try ModelArchiveReader.model(in: file.data, file: file.path)
        }
        return try ModelReader.model(in: file.data, file: file.path)
    }

    /// Reads a compiled model out of its archive: the bytes of a `.mom`, or of a store's model
    /// cache once inflated. `name` stands for the file in errors. Throws `ModelFileError`.
    package static func load(
        fromArchive data: Data, name: String = "model archive"
    ) throws -> NSManagedObjectModel {
        try ModelArchiveReader.model(in: data, file: name)
    }

    /// Reads the XML of a model's source, as it stands in the `contents` of an `.xcdatamodel`.
    /// `name` stands for the file in errors. Throws `ModelFileError`.
    package static func load(
        fromSource data: Data, name: String = "model source"
    ) throws -> NSManagedObjectModel {
        try ModelReader.model(in: data, file: name)
    }

    /// Writes the model as an `.xcdatamodel` folder at `url`, replacing one that is there.
    /// Of several version identifiers the file keeps the first. Throws `ModelFileError` when the
    /// model holds what such a file cannot, or the system refuses.
    public func writeSource(to url: URL) throws {
        let text = try sourceText()
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url.appendingPathComponent("contents"), options: .atomic)
        } catch {
            throw ModelFileError(
                .cannotWrite, file: url.path,
                "the model cannot be written; check the folder's rights",
                cause: error)
        }
    }

    /// The model as an archive's bytes, which `load(fromArchive:)` and `load(from:)` read back;
    /// `predicates` archives its predicates. Throws `ModelFileError` where the model holds what no
    /// archive can.
    package func archived(
        as shape: ModelArchiveShape, _ predicates: any PredicateArchiving
    ) throws -> Data {
        try ModelArchiver.data(of: self, as: shape, predicates)
    }

    /// The model as the text of an `.xcdatamodel`'s `contents`. Throws `ModelFileError` where the
    /// model holds what the form has no place for. Cost: O(properties).
    public func sourceText() throws -> String { try ModelWriter(model: self).text() }

    /// Takes everything out of `other`, which is left without entities.
    private func takeOver(_ other: NSManagedObjectModel) {
        let taken = other.entities
        other.entities = []
        configurationMembers = other.configurationMembers
        fetchRequestTemplates = other.fetchRequestTemplates
        versionIdentifiers = other.versionIdentifiers
        localizationDictionary = other.localizationDictionary
        documentFacts = other.documentFacts
        unreadParts = other.unreadParts
        readingNotes = other.readingNotes
        entities = taken
    }
}
