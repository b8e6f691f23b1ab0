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
