package import Foundation
internal import Platform
internal import SQLiteStore
internal import Stores

/// The stores that this process is writing and that have no place yet.
///
/// A program that ends in the middle of its work, as a signal asks it to, leaves none of them.
package enum DraftRegister {
    private static let drafts = Lock<Set<URL>>([])

    package static func note(_ draft: URL) { _ = drafts.withLock { $0.insert(draft) } }
    package static func forget(_ draft: URL) { _ = drafts.withLock { $0.remove(draft) } }

    /// Removes them all, for who ends the process at once: whatever still writes to one fails.
    package static func removeAll() {
        let all = drafts.withLock { drafts in
            defer { drafts = [] }
            return drafts
        }
        for draft in all {
            SQLiteRowStore.discard(draft)
            for part in parts(of: draft) { FileKind.removeFile(at: part.path) }
        }
    }

    /// What the draft itself was being written to, where its type writes files whole.
    private static func parts(of draft: URL) -> [URL] {
        let folder = draft.deletingLastPathComponent()
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (names ?? []).filter { $0.hasPrefix(".\(draft.lastPathComponent).") }
            .map(folder.appendingPathComponent)
    }
}
