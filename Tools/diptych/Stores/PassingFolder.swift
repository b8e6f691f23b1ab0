internal import Foundation
internal import Platform

/// A place for a folder of the moment: whatever ends the process by `exit`, as a signal does or an
/// output that nobody reads, takes the folder along.
struct PassingFolder: Sendable {
    let url: URL

    private static let present = Lock<Set<URL>>([])
    private static let watchesExit: Void = { atexit { PassingFolder.removeAll() } }()
    /// Others may still write there while the process ends.
    private static let triesMax = 3

    /// Makes no folder yet; `word` tells what it is for.
    init(_ word: String) {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-\(word)-\(UUID().uuidString)", isDirectory: true)
        _ = Self.watchesExit
        let url = url
        Self.present.withLock { _ = $0.insert(url) }
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
        _ = Self.present.withLock { $0.remove(url) }
    }

    private static func removeAll() {
        for folder in present.withLock({ $0 }) {
            for _ in 0..<triesMax where FileManager.default.fileExists(atPath: folder.path) {
                try? FileManager.default.removeItem(at: folder)
            }
        }
    }
}
