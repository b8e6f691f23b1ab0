internal import Foundation
internal import ObjectModel

/// Finds a model file by its name, where build tools put resources.
enum ModelSearch {
    private static let kinds = ["momd", "mom", "xcdatamodeld", "xcdatamodel"]

    /// The model `name` beside the program or in a resource bundle there; nil when there is none.
    static func model(named name: String) -> NSManagedObjectModel? {
        for folder in folders {
            for kind in kinds {
                let file = folder.appendingPathComponent("\(name).\(kind)")
                guard FileManager.default.fileExists(atPath: file.path) else { continue }
                if let model = NSManagedObjectModel(contentsOf: file) { return model }
            }
        }
        return nil
    }

    /// The models in those places, all versions of each.
    static var versions: [NSManagedObjectModel] {
        let files = Set(
            folders.flatMap { folder in
                ((try? FileManager.default.contentsOfDirectory(
                    at: folder, includingPropertiesForKeys: nil)) ?? [])
                    .filter { kinds.contains($0.pathExtension) }
            })
        return files.sorted { $0.path < $1.path }.flatMap(versions)
    }

    /// Whether a bundle of several versions in those places has the model: then the program knows
    /// the versions that came before.
    static func hasVersions(of model: NSManagedObjectModel) -> Bool {
        let hashes = model.entityVersionHashesByName
        let bundles = folders.flatMap { folder in
            ((try? FileManager.default.contentsOfDirectory(
                at: folder, includingPropertiesForKeys: nil)) ?? [])
                .filter { ["momd", "xcdatamodeld"].contains($0.pathExtension) }
        }
        return Set(bundles).contains { bundle in
            let found = versions(in: bundle)
            return found.count > 1 && found.contains { $0.entityVersionHashesByName == hashes }
        }
    }

    private static func versions(in file: URL) -> [NSManagedObjectModel] {
        guard let bundle = try? VersionBundle(at: file) else {
            return (try? NSManagedObjectModel.load(from: file)).map { [$0] } ?? []
        }
        return bundle.versions.compactMap {
            try? NSManagedObjectModel.load(from: file, version: $0)
        }
    }

    /// The mapping models in those places.
    static var mappingModels: [NSMappingModel] {
        let files = folders.flatMap { folder in
            ((try? FileManager.default.contentsOfDirectory(
                at: folder, includingPropertiesForKeys: nil)) ?? [])
                .filter { NSMappingModel.fileExtensions.contains($0.pathExtension) }
        }
        return Set(files).sorted { $0.path < $1.path }.compactMap(NSMappingModel.init(contentsOf:))
    }

    /// The main bundle's resources, the program's folder, and the bundles in it.
    private static var folders: [URL] {
        let main = Bundle.main
        let program = main.executableURL?.deletingLastPathComponent()
        let places = [main.resourceURL, program, main.bundleURL].compactMap { $0 }
        let inside = places.flatMap { place in
            (try? FileManager.default.contentsOfDirectory(
                at: place, includingPropertiesForKeys: nil))
                ?? []
        }
        let bundles = inside.filter { ["resources", "bundle"].contains($0.pathExtension) }
        return places + bundles.sorted { $0.path < $1.path }
    }
}
