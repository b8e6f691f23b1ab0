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

    private static func run(_ file: URL) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: node ?? "")
        process.arguments = [file.path]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let printed = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: printed, as: UTF8.self)
    }
}
