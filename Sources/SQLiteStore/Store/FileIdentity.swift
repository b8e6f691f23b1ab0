internal import Foundation

/// Which file stands at a path, whatever its name.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// Nil where nothing stands.
    package init?(of path: String) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        device = UInt64(facts.st_dev)
        number = UInt64(facts.st_ino)
    }
}
