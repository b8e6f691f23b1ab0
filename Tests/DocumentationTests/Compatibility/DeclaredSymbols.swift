import Foundation

/// What the built modules declare in public, by the compiler's symbol graphs.
enum DeclaredSymbols {
    /// The modules that bring Apple's names.
    private static let modules = ["ObjectModel", "Predicates", "Persistence", "CloudKit"]

    static let canBeRead = (ProcessInfo.processInfo.environment["PATH"] ?? "")
        .split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/swift-symbolgraph-extract")
        }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private struct Graph: Decodable {
        struct Symbol: Decodable {
            var pathComponents: [String]
        }

        var symbols: [Symbol]
    }

    /// The dotted names, each whole and by its last two parts.
    static func names() throws -> Set<String> {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("CompatibilityTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for module in modules { try extract(module, into: folder) }
        var names: Set<String> = []
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where name.hasSuffix(".symbols.json") {
            let data = try Data(contentsOf: folder.appendingPathComponent(name))
            for symbol in try JSONDecoder().decode(Graph.self, from: data).symbols {
                names.insert(symbol.pathComponents.joined(separator: "."))
                names.insert(symbol.pathComponents.suffix(2).joined(separator: "."))
            }
        }
        return names
    }

    private static func extract(_ module: String, into folder: URL) throws {
        let systems = Document.root.appendingPathComponent("Sources/Systems")
        let maps = try FileManager.default.contentsOfDirectory(atPath: systems.path).sorted()
            .map { "-Xcc -fmodule-map-file='\(systems.path)/\($0)/module.modulemap'" }
        let line = """
            swift-symbolgraph-extract -module-name \(module) \
            -I '\(BuiltCommand.folder.appendingPathComponent("Modules").path)' \
            -target "$(uname -m)-unknown-linux-gnu" -output-dir '\(folder.path)' \
            -minimum-access-level public -skip-synthesized-members \(maps.joined(separator: " "))
            """
        let run = try BuiltCommand.run(line, in: folder)
        guard run.status == 0 else { throw Failure(description: "\(module): \(run.text)") }
    }
}
