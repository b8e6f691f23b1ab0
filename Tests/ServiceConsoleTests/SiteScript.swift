import Foundation

/// Scripts beside the modules of the console's page, as Node runs them.
enum SiteScript {
    static let node = ["/usr/bin/node", "/usr/local/bin/node"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private static let site = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Mirror/ServiceConsole/Site")

    /// What a script prints that imports `./NAME.js`.
    static func printed(by script: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("console-site-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        try copyModules(to: folder)
        let file = folder.appendingPathComponent("script.js")
        try script.write(to: file, atomically: true, encoding: .utf8)
        return try run(file)
    }

    private static func copyModules(to folder: URL) throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: site, includingPropertiesForKeys: nil)
        for file in files where file.pathExtension == "js" {
            let text = try String(contentsOf: file, encoding: .utf8)
            try text.replacing("\"/console/", with: "\"./").write(
                to: folder.appendingPathComponent(file.lastPathComponent), atomically: true,
                encoding: .utf8)
        }
        try #"{"type":"module"}"#.write(
            to: folder.appendingPathComponent("package.json"), atomically: true, encoding: .utf8)
    }

    /// By the C library: Foundation copies the names of open descriptors from beyond their end, by
    /// which a process that has more than a thousand of them may end.
    private static func run(_ file: URL) throws -> String {
        guard let output = popen("'\(node ?? "")' '\(file.path)' 2>&1", "re") else {
            throw CocoaError(.executableLoad)
        }
        defer { pclose(output) }
        var printed = Data()
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while case let count = fread(&bytes, 1, bytes.count, output), count > 0 {
            printed += bytes.prefix(count)
        }
        return String(decoding: printed, as: UTF8.self)
    }
}
