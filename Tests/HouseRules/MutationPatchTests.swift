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

    /// In one child of the C library, to a file. No pipe: a server that another suite starts at the
    /// moment would hold its other end, and nobody would see the end of what git says. Foundation
    /// copies the names of open descriptors from beyond their end, by which a process that has more
    /// than a thousand of them may end.
    @Test func everyPatchFitsTheTree() throws {
        let words = FileManager.default.temporaryDirectory
            .appendingPathComponent("patches-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: words) }
        let command = """
            cd '\(SourceTree.root.path)' && for patch in Tests/Mutations/*.patch; do
                git apply --check "$patch" || echo "$patch does not fit"
            done >'\(words.path)' 2>&1
            """
        #expect(system(command) == 0)
        #expect(try String(contentsOf: words, encoding: .utf8) == "")
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
