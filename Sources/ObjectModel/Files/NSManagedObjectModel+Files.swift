public import Foundation

extension NSManagedObjectModel {
    /// Reads the model at `url`, or returns nil when there is none that can be understood;
    /// `load(from:version:)` says why. Source: Apple, NSManagedObjectModel.
    public convenience init?(contentsOf url: URL) {
        guard let model = try? Self.load(from: url) else { return nil }
        self.init()
        takeOver(model)
    }

    /// Reads the model at `url`: an `.xcdatamodel`, the current or the named version of an
    /// `.xcdatamodeld`, or the XML file itself. The contents decide, not the name.
    /// Throws `ModelFileError`.
    public static func load(from url: URL, version: String? = nil) throws -> NSManagedObjectModel {
        let file = try ModelFile(at: url, version: version)
        guard !file.isArchive else {
            throw ModelFileError(
                .unsupportedFormat, file: file.path,
                "the model is compiled; load the .xcdatamodel it was made from")
        }
        return try ModelReader.model(in: file.data, file: file.path)
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

    /// The model as the text of an `.xcdatamodel`'s `contents`.
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
        entities = taken
    }
}
