import Foundation

/// Every file of the package that people write.
enum SourceTree {
    /// The folder that holds Package.swift, found from this file upward.
    static let root: URL = {
        var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        while folder.path != "/" {
            let manifest = folder.appendingPathComponent("Package.swift")
            if FileManager.default.fileExists(atPath: manifest.path) { return folder }
            folder.deleteLastPathComponent()
        }
        return folder
    }()

    static let areas = ["Sources", "Mirror", "Tools", "Tests"]

    /// Reads the four areas, the workshop's scripts and the documents at the top.
    static func files() throws -> [SourceFile] {
        var paths = try FileManager.default.contentsOfDirectory(atPath: root.path)
            .filter { $0.hasSuffix(".md") || $0 == "Package.swift" }
        for area in areas + [".ci", "docs"] { paths += below(area) }
        return try paths.sorted().compactMap { path in
            guard isWritten(path) else { return nil }
            let data = try Data(contentsOf: root.appendingPathComponent(path))
            guard let text = String(data: data, encoding: .utf8) else { return nil }
            return SourceFile(path: path, text: text)
        }
    }

    private static func below(_ area: String) -> [String] {
        let folder = root.appendingPathComponent(area).path
        guard let all = FileManager.default.enumerator(atPath: folder) else { return [] }
        return all.compactMap { ($0 as? String).map { "\(area)/\($0)" } }
    }

    /// Models, stores and other samples are data, not writing of ours.
    private static func isWritten(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        if parts.contains(where: { ["Fixtures", "Resources", ".build"].contains($0) }) {
            return false
        }
        let name = parts.last.map(String.init) ?? path
        let kinds = ["swift", "md", "sh", "h", "c", "modulemap", "py"]
        guard let dot = name.lastIndex(of: ".") else {
            // Scripts have no extension, nor have folders.
            var isFolder: ObjCBool = false
            let full = root.appendingPathComponent(path).path
            return FileManager.default.fileExists(atPath: full, isDirectory: &isFolder)
                && !isFolder.boolValue
        }
        return kinds.contains(String(name[name.index(after: dot)...]))
    }
}
