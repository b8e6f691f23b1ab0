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
        let words = FileManager.default.temporaryDirectory
            .appendingPathComponent("patches-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: words) }
        for patch in try Self.patches() {
            let git = Process()
            git.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            git.arguments = ["git", "apply", "--check", patch.path]
            git.currentDirectoryURL = SourceTree.root
            // No pipe: a server that another suite starts at the moment would hold its other end,
            // and nobody would see the end of what git says.
            try Data().write(to: words)
            git.standardError = try FileHandle(forWritingTo: words)
            try git.run()
            git.waitUntilExit()
            let said = try String(contentsOf: words, encoding: .utf8)
            #expect(git.terminationStatus == 0, "\(patch.lastPathComponent): \(said)")
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
