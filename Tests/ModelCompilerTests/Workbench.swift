import ChildProcesses
import Foundation
import Testing

@testable import ModelCompiler

/// A folder with sources, and the Swift compiler that builds them.
final class Workbench {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("ModelCompilerTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        let url = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
        return url.path
    }

    func read(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: folder.appendingPathComponent(name)), as: UTF8.self)
    }

    static let hasTools = ["swiftc", "nm"].allSatisfy { tool in
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)")
        }
    }

    /// What a tool prints; records an issue where it fails.
    @discardableResult
    func run(_ arguments: [String]) throws -> String {
        let child = try Child(
            "/usr/bin/env", arguments, folder: folder, directory: folder, joinsErrors: true)
        let status = child.wait()
        let text = child.printed
        #expect(status == 0, "\(arguments.joined(separator: " "))\n\(text)")
        return text
    }

    /// The symbols of `module` that the compiled `sources` use and do not define.
    func undefinedSymbols(_ sources: [String], module: String) throws -> Set<String> {
        try write(
            """
            import Foundation
            open class NSManagedObject: NSObject {}
            open class NSManagedObjectID: NSObject {}
            """, to: "Persistence.swift")
        try run([
            "swiftc", "-emit-module", "-parse-as-library", "-module-name", "Persistence",
            "Persistence.swift",
        ])
        let objects = sources.map { ($0 as NSString).lastPathComponent + ".o" }
        try run(
            ["swiftc", "-c", "-parse-as-library", "-module-name", module, "-I", "."] + sources)
        let names = try objects.map { name in
            try run(["nm", "-u", name.replacingOccurrences(of: ".swift", with: "")])
        }
        let all = names.joined(separator: "\n").split(separator: "\n").compactMap {
            $0.split(separator: " ").last.map(String.init)
        }
        return Set(all.filter { $0.hasPrefix("$s\(module.utf8.count)\(module)") })
    }
}

/// The accessors that `files` (text by name) ask for.
func accessors(
    _ files: [String: String], module: String = "App"
) throws -> (text: String, symbols: [String]) {
    let read = try files.sorted { $0.key < $1.key }.map { name, text in
        try DeclarationReader.declarations(in: text, file: name)
    }
    let keys = PropertyKeys(models: [], members: read.flatMap(\.members))
    var writer = AccessorWriter(files: read, module: module, keys: keys)
    return (try writer.text(), writer.symbols)
}

/// The error that `text` leads to.
func refusal(_ text: String) -> CompilerError? {
    #expect(throws: CompilerError.self) { try accessors(["Test.swift": text]) }
}
