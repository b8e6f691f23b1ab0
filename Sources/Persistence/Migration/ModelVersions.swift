public import Foundation
public import ObjectModel

/// The versions of a model, oldest first, and the mapping models between them.
public struct ModelVersions: Sendable {
    /// One version.
    public struct Version: Sendable {
        /// What people call it.
        public let name: String
        /// Its hashes tell which stores are of this version.
        public let model: NSManagedObjectModel

        /// A version of a program's own.
        public init(name: String, model: NSManagedObjectModel) {
            self.name = name
            self.model = model
        }
    }

    /// Oldest first.
    public let versions: [Version]
    /// Those that fit two versions are preferred to inference between them.
    public let mappings: [NSMappingModel]
    /// The place in `versions` of the version that stores are to have.
    public let current: Int

    /// Versions at hand, at least one, oldest first; `current` is the place of the one that stores
    /// are to have, the last unless told.
    public init(_ versions: [Version], mappings: [NSMappingModel] = [], current: Int? = nil) {
        self.versions = versions
        self.mappings = mappings
        self.current = current ?? versions.count - 1
    }

    /// The versions in a folder: a bundle (`.xcdatamodeld`, `.momd`), or a plain folder of models
    /// and bundles, with the mapping models (`.cdm`, `.xcmappingmodel`) beside and below.
    ///
    /// They are taken to be in the order in which people count their names (`Model`, `Model 2`,
    /// `Model 10`), and the one that is marked as current to be the last; `named` makes another the
    /// current one. Throws `ModelFileError` where there is no version, or a file cannot be read.
    /// Cost: reads every model and mapping model in the folder.
    public init(in folder: URL, current named: String? = nil) throws {
        let found = try VersionFolder(folder)
        var versions = try found.versions()
        guard !versions.isEmpty else {
            throw ModelFileError(
                .notAModel, "\(folder.path) holds no version of a model; check the path",
                fields: ["file": folder.path])
        }
        if let marked = found.marked, let place = versions.firstIndex(where: { $0.name == marked })
        {
            versions.append(versions.remove(at: place))
        }
        self.versions = versions
        mappings = try found.mappings()
        guard let named else {
            current = versions.count - 1
            return
        }
        guard let place = versions.firstIndex(where: { $0.name == named }) else {
            let names = versions.map(\.name).joined(separator: ", ")
            throw ModelFileError(
                .missingVersion, "\(folder.path) has no version “\(named)”; it has \(names)",
                fields: ["file": folder.path])
        }
        current = place
    }
}

/// The files in a folder of versions.
private struct VersionFolder {
    private let folder: URL
    private let files: [URL]
    /// The version that the bundle says is current.
    let marked: String?

    init(_ folder: URL) throws {
        self.folder = folder
        let suffixes = ["xcdatamodeld", "momd"]
        marked =
            suffixes.contains(folder.pathExtension)
            ? try VersionBundle(at: folder).currentVersion : nil
        files = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
    }

    func versions() throws -> [ModelVersions.Version] {
        try files.flatMap { file -> [ModelVersions.Version] in
            let name = file.deletingPathExtension().lastPathComponent
            switch file.pathExtension {
            case "xcdatamodel", "mom":
                return [.init(name: name, model: try NSManagedObjectModel.load(from: file))]
            case "xcdatamodeld", "momd":
                return try VersionBundle(at: file).versions.map {
                    .init(name: $0, model: try NSManagedObjectModel.load(from: file, version: $0))
                }
            default: return []
            }
        }.sorted { $0.name.compare($1.name, options: .numeric) == .orderedAscending }
    }

    /// Mapping models in the folder and beside it.
    func mappings() throws -> [NSMappingModel] {
        let parent = folder.deletingLastPathComponent()
        let beside =
            marked == nil
            ? []
            : (try? FileManager.default.contentsOfDirectory(
                at: parent, includingPropertiesForKeys: nil)) ?? []
        return try (files + beside)
            .filter { NSMappingModel.fileExtensions.contains($0.pathExtension) }
            .sorted { $0.path < $1.path }
            .map(NSMappingModel.load)
    }
}
