import Foundation
import PackagePlugin

/// Builds the Core Data models of a target: classes, compiled models and `@NSManaged` accessors.
@main struct CoreDataModels: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? SwiftSourceModuleTarget else { return [] }
        let sources = target.sourceFiles(withSuffix: "swift").map(\.url)
            .filter { !$0.path.hasPrefix(context.pluginWorkDirectoryURL.path) }
        let models = Self.models(in: target.directoryURL)
        let folder = context.pluginWorkDirectoryURL
        let classes = folder.appending(path: "ManagedClasses.swift")
        let accessors = folder.appending(path: "ManagedAccessors.swift")
        var arguments = [
            "--module", target.moduleName, "--classes", classes.path,
            "--accessors", accessors.path, "--compiled", folder.path,
        ]
        for model in models { arguments += ["--model", model.path] }
        let compiled = models.map { model in
            folder.appending(path: model.deletingPathExtension().lastPathComponent + ".momd")
        }
        return [
            .buildCommand(
                displayName: "Compiling the Core Data models of \(target.name)",
                executable: try context.tool(named: "diptych-modelc").url,
                arguments: arguments + sources.map(\.path),
                inputFiles: sources + models.flatMap(Self.files),
                outputFiles: [classes, accessors] + compiled)
        ]
    }

    /// The model sources below `folder`: bundles of versions, and models on their own.
    private static func models(in folder: URL) -> [URL] {
        let below = FileManager.default.enumerator(
            at: folder, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
        var models: [URL] = []
        while let url = below?.nextObject() as? URL {
            guard ["xcdatamodeld", "xcdatamodel"].contains(url.pathExtension) else { continue }
            models.append(url)
            below?.skipDescendants()
        }
        return models.sorted { $0.path < $1.path }
    }

    /// Every file of a model, so that a change of one compiles it anew.
    private static func files(of model: URL) -> [URL] {
        let below = FileManager.default.enumerator(
            at: model, includingPropertiesForKeys: [.isRegularFileKey])
        let all = below?.compactMap { $0 as? URL } ?? []
        return all.filter {
            (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true
        }
    }
}
