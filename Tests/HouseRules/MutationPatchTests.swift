import Foundation
import Testing

/// The bugs that `Tools/mutate` plants: each is a patch of Tests/Mutations that must go on fitting
/// the tree, or it would try nothing.
@Suite struct MutationPatchTests {
    private static let folder = SourceTree.root.appendingPathComponent("Tests/Mutations")

    private static func patches() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "patch" }
            .sorted { $0.path < $1.path }
    }

    @Test func everyPatchFitsTheTree() throws {
        for patch in try Self.patches() {
            let git = Process()
            git.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            git.arguments = ["git", "apply", "--check", patch.path]
            git.currentDirectoryURL = SourceTree.root
            let errors = Pipe()
            git.standardError = errors
            try git.run()
            let words = errors.fileHandleForReading.readDataToEndOfFile()
            git.waitUntilExit()
            #expect(
                git.terminationStatus == 0,
                "\(patch.lastPathComponent): \(String(decoding: words, as: UTF8.self))")
        }
    }

    @Test func everyPatchSaysWhatItBreaks() throws {
        let patches = try Self.patches()
        #expect(patches.count >= 40)
        for patch in patches {
            let text = try String(contentsOf: patch, encoding: .utf8)
            #expect(text.hasPrefix("# ") && text.contains("\n--- a/"), "\(patch.lastPathComponent)")
        }
    }
}
