internal import Foundation
internal import ObjectModel
internal import Predicates

/// One run of the compiler: a target's sources and models in, classes, accessors and compiled
/// models out.
struct ModelCompilation {
    /// The module's name.
    var module = ""
    /// The target's own Swift files.
    var sources: [String] = []
    /// Models: `.xcdatamodeld` or `.xcdatamodel`.
    var models: [String] = []
    /// Where the classes of all models go; nil for nowhere.
    var classesFile: String?
    /// Where the accessors go; nil for nowhere.
    var accessorsFile: String?
    /// The folder that gets an `.momd` for each model; nil for nowhere.
    var compiledFolder: String?

    /// Reads everything first, then writes. Throws a `CompilerError`.
    func run() throws {
        let current = try models.map { path in
            try about(path) { try NSManagedObjectModel.load(from: URL(fileURLWithPath: path)) }
        }
        var files = try sources.map { path in
            try DeclarationReader.declarations(in: Self.read(path), file: path)
        }
        let classes = try classesText(of: current, beside: ImportLines(files: files))
        let generated = classesFile ?? "generated classes"
        files.append(try DeclarationReader.declarations(in: classes, file: generated))
        let keys = PropertyKeys(models: current, members: files.flatMap(\.members))
        var accessors = AccessorWriter(files: files, module: module, keys: keys)
        let accessorsText = try accessors.text()
        if let classesFile { try Self.write(classes, to: classesFile) }
        if let accessorsFile { try Self.write(accessorsText, to: accessorsFile) }
        if let compiledFolder {
            let classes = Self.classes(in: files)
            for path in models { try compile(path, into: compiledFolder, classes) }
        }
    }

    /// The generated classes of all models, in one file. Without any it imports nothing.
    private func classesText(
        of current: [NSManagedObjectModel], beside imports: ImportLines
    ) throws -> String {
        let sources = try zip(models, current).flatMap { path, model in
            try about(path) { try ClassGeneration(model: model).sources() }
        }
        let needed = ["Foundation", "CoreData"].filter { name in
            sources.contains { $0.text.contains("public import \(name)\n") }
        }
        var lines = ["// Classes generated from the models. Do not edit.", ""]
        if !sources.isEmpty { lines += imports.ofClasses(needing: Set(needed)) }
        for source in sources {
            let body = source.text.split(separator: "\n", omittingEmptySubsequences: false)
                .filter { !$0.hasPrefix("//") || $0.hasPrefix("// MARK") }
                .filter { !$0.hasPrefix("import ") && !$0.hasPrefix("public import ") }
                .drop { $0.isEmpty }
            lines += ["", "// \(source.fileName)", ""] + body.map(Self.isolated)
        }
        return lines.joined(separator: "\n")
    }

    /// A line of a class as it must stand in a module whose declarations are the main actor's
    /// unless they say otherwise: objects belong to their contexts' queues.
    private static func isolated(_ line: Substring) -> String {
        guard let place = line.range(of: "public class "), line.contains(": "),
            line[..<place.lowerBound].allSatisfy({ $0 == " " })
        else { return String(line) }
        return line.replacingCharacters(in: place, with: "nonisolated public class ")
    }

    /// The names of all classes, with the types that they are declared in.
    private static func classes(in files: [SourceDeclarations]) -> Set<String> {
        let types = files.flatMap(\.types).filter { $0.kind == .reference }
        return Set(types.map { $0.path.joined(separator: ".") })
    }

    /// Writes every version of the model at `path` as an `.momd`.
    private func compile(_ path: String, into folder: String, _ classes: Set<String>) throws {
        let url = URL(fileURLWithPath: path)
        let name = url.deletingPathExtension().lastPathComponent
        let target = URL(fileURLWithPath: folder).appendingPathComponent("\(name).momd")
        try about(path) {
            guard url.pathExtension == "xcdatamodeld" else {
                let model = try NSManagedObjectModel.load(from: url)
                qualifyClasses(of: model, classes)
                return try NSManagedObjectModel.writeCompiledBundle(
                    [name: model], current: name, to: target)
            }
            let bundle = try VersionBundle(at: url)
            let pairs = try bundle.versions.map { version in
                (version, try NSManagedObjectModel.load(from: url, version: version))
            }
            for (_, model) in pairs { qualifyClasses(of: model, classes) }
            let current = bundle.currentVersion ?? bundle.versions.first ?? name
            try NSManagedObjectModel.writeCompiledBundle(
                Dictionary(uniqueKeysWithValues: pairs), current: current, to: target)
        }
    }

    /// Puts the module before the names of the target's own classes: on Linux the runtime finds
    /// classes only by both. A name of several words has one already, unless a dot is before it.
    private func qualifyClasses(of model: NSManagedObjectModel, _ classes: Set<String>) {
        for entity in model.entities {
            let name = entity.managedObjectClassName.drop { $0 == "." }
            let isOwn = !name.contains(".") || entity.managedObjectClassName.hasPrefix(".")
            guard isOwn, classes.contains(String(name)) else { continue }
            entity.managedObjectClassName = "\(module).\(name)"
        }
    }

    private func about<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch {
            throw CompilerError(
                .model, "\(error)", at: SourcePlace(file: path, line: 1), cause: error)
        }
    }

    private static func read(_ path: String) throws -> String {
        do {
            return String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        } catch {
            throw CompilerError(
                .cannotRead, "\(path) cannot be read; check that it exists", cause: error)
        }
    }

    /// Leaves a file alone that says the same already, so that nothing is compiled anew for it.
    private static func write(_ text: String, to path: String) throws {
        let url = URL(fileURLWithPath: path)
        let data = Data(text.utf8)
        do {
            if let present = try? Data(contentsOf: url), present == data { return }
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: url, options: .atomic)
        } catch {
            throw CompilerError(
                .cannotWrite, "\(path) cannot be written; check the folder's rights", cause: error)
        }
    }
}
