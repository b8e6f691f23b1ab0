import Foundation

/// The built `diptych`, and the shell in which documents call it.
enum BuiltCommand {
    /// The folder of the build's products, where this test runs.
    static let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()

    static var isPresent: Bool {
        FileManager.default.isExecutableFile(atPath: folder.appendingPathComponent("diptych").path)
    }

    /// Whether documents that ask a service by hand can be followed.
    static let hasCurl =
        (try? run("command -v curl", in: FileManager.default.temporaryDirectory))?.status == 0

    struct Outcome {
        var status: Int32
        /// Standard output and standard error as they came.
        var text: String
    }

    /// A process for one line of a document: run by bash in `place`, with `diptych` on the path and
    /// no settings of whoever runs the test. The thread of a test may block signals, which a child
    /// would go on doing. One that hangs is ended, in the end, where it is not told to end anyway.
    static func shell(
        _ line: String, in place: URL, to output: FileHandle, isToldToEnd: Bool = false
    ) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let limit = isToldToEnd ? [] : ["timeout", "--kill-after=600", "900"]
        process.arguments = ["--default-signal"] + limit + ["bash", "-c", line]
        process.currentDirectoryURL = place
        var environment = ProcessInfo.processInfo.environment
        for name in environment.keys where name.hasPrefix("DIPTYCH_") {
            environment.removeValue(forKey: name)
        }
        environment["PATH"] = "\(folder.path):\(environment["PATH"] ?? "")"
        environment["XDG_CONFIG_HOME"] = place.appendingPathComponent("none").path
        environment["NO_COLOR"] = "1"
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        return process
    }

    /// Runs a line to its end.
    static func run(_ line: String, in place: URL) throws -> Outcome {
        let file = place.appendingPathComponent(".output-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: file) }
        let handle = try FileHandle(forWritingTo: file)
        let process = shell(line, in: place, to: handle)
        try process.run()
        process.waitUntilExit()
        let text = try String(contentsOf: file, encoding: .utf8)
        return Outcome(status: process.terminationStatus, text: text)
    }
}
