package import Foundation

/// The folder beside a SQLite store for what is kept outside of its file: `.<name>_SUPPORT`, as
/// Apple's framework calls it.
package enum SupportFolder {
    package static func beside(_ store: URL) -> URL {
        let name = store.deletingPathExtension().lastPathComponent
        return store.deletingLastPathComponent()
            .appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
    }

    /// Where values lie that have files of their own.
    package static func values(of store: URL) -> URL {
        beside(store).appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
    }
}
