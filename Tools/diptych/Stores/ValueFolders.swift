internal import Foundation
internal import Stores

/// Where values lie that a SQLite store keeps in files of their own.
enum ValueFolders {
    /// The store's own, and that beside the link which leads to it: earlier versions kept values
    /// there, and they are found by that link.
    static func all(of store: URL) -> [URL] {
        [store.resolvingSymlinksInPath(), store].map(SupportFolder.values)
    }
}
