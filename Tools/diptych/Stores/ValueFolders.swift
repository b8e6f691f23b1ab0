internal import Foundation

/// Where values lie that a SQLite store keeps in files of their own.
enum ValueFolders {
    /// The folder of a store by this name.
    static func beside(_ store: URL) -> URL {
        let name = store.deletingPathExtension().lastPathComponent
        return store.deletingLastPathComponent()
            .appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
            .appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
    }

    /// The store's own, and that beside the link which leads to it: earlier versions kept values
    /// there, and they are found by that link.
    static func all(of store: URL) -> [URL] {
        [beside(store.resolvingSymlinksInPath()), beside(store)]
    }
}
