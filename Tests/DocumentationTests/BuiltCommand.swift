import ChildProcesses
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

    /// Starts one line of a document, run by bash in `place`, with `diptych` on the path and no
    /// settings of whoever runs the test; what it prints goes to a file in `outputs`, which is
    /// made. The thread of a test may block signals, which a child would go on doing. One that
    /// hangs is ended, in the end, where it is not told to end anyway.
    static func start(
        _ line: String, in place: URL, outputs: URL, isToldToEnd: Bool = false
    ) throws -> Child {
        try FileManager.default.createDirectory(at: outputs, withIntermediateDirectories: true)
        var environment = ProcessInfo.processInfo.environment
        for name in environment.keys where name.hasPrefix("DIPTYCH_") {
            environment.removeValue(forKey: name)
        }
        environment["PATH"] = "\(folder.path):\(environment["PATH"] ?? "")"
        environment["XDG_CONFIG_HOME"] = place.appendingPathComponent("none").path
        environment["NO_COLOR"] = "1"
        let limit = isToldToEnd ? [] : ["timeout", "--kill-after=600", "900"]
        return try Child(
            "/usr/bin/env", ["--default-signal"] + limit + ["bash", "-c", line],
            environment: environment, folder: outputs, directory: place, joinsErrors: true)
    }

    /// Runs a line to its end.
    static func run(_ line: String, in place: URL) throws -> Outcome {
        let outputs = FileManager.default.temporaryDirectory
            .appendingPathComponent("documentation-output-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: outputs) }
        let child = try start(line, in: place, outputs: outputs)
        let status = child.wait()
        return Outcome(status: status, text: child.printed)
    }
}
