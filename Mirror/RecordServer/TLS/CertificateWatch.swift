internal import Foundation
internal import Platform

/// Tells when the files of a certificate were exchanged.
final class CertificateWatch: Sendable {
    /// What tells one state of a file from another.
    private struct Stamp: Hashable {
        var device: UInt64 = 0
        var file: UInt64 = 0
        var bytes: Int64 = 0
        var seconds = 0
        var nanoseconds = 0
    }

    private let files: [URL]
    private let seen: Lock<[Stamp]>

    /// Files as they are now are what was read.
    init(_ files: [URL]) {
        self.files = files
        seen = Lock(Self.stamps(of: files))
    }

    /// Whether a file is another than when this was last asked. Cost: a look at each file's entry.
    func hasChanged() -> Bool {
        let now = Self.stamps(of: files)
        return seen.withLock { seen in
            defer { seen = now }
            return seen != now
        }
    }

    private static func stamps(of files: [URL]) -> [Stamp] {
        files.map { file in
            var facts = stat()
            guard stat(file.path, &facts) == 0 else { return Stamp() }
            return Stamp(
                device: UInt64(facts.st_dev), file: UInt64(facts.st_ino),
                bytes: Int64(facts.st_size), seconds: facts.st_mtim.tv_sec,
                nanoseconds: facts.st_mtim.tv_nsec)
        }
    }
}
