internal import Foundation
internal import Platform

/// A folder of the moment: whatever ends the process, as a signal does or an output that nobody
/// reads, takes the folder along.
struct PassingFolder: Sendable {
    let url: URL

    /// A name within it, for who makes and removes its folder itself.
    var within: URL { url.appendingPathComponent("within", isDirectory: true) }

    /// Those there are; nil once the process ends.
    private static let present = Lock<Set<URL>?>([])
    private static let watchesEnd: Void = ProcessEnd.willCall { removeAll() }
    /// Others may still write there while the process ends.
    private static let triesMax = 3

    /// `word` tells what it is for. Only its owner can read it. Throws what the file system does,
    /// and `CancellationError` once the process ends.
    init(_ word: String) throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-\(word)-\(UUID().uuidString)", isDirectory: true)
        _ = Self.watchesEnd
        let url = url
        try Self.present.withLock { present in
            guard present != nil else { throw CancellationError() }
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
            present?.insert(url)
        }
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
        _ = Self.present.withLock { $0?.remove(url) }
    }

    private static func removeAll() {
        let last = present.withLock { present in
            defer { present = nil }
            return present ?? []
        }
        for folder in last {
            for _ in 0..<triesMax where FileManager.default.fileExists(atPath: folder.path) {
                try? FileManager.default.removeItem(at: folder)
            }
        }
    }
}
