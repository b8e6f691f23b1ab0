package import Foundation

/// What stands at a path, for all that removes or replaces files: only plain files are ever ours.
package enum FileKind: Sendable {
    /// Nothing, or a link that leads nowhere.
    case nothing
    /// A plain file.
    case file
    case folder
    /// A link that was not followed.
    case link
    /// A device, a pipe, a socket.
    case other

    /// `followsLinks` says whether a link counts as what it leads to.
    package init(at path: String, followsLinks: Bool = true) {
        var facts = stat()
        guard (followsLinks ? stat(path, &facts) : lstat(path, &facts)) == 0 else {
            self = .nothing
            return
        }
        switch facts.st_mode & S_IFMT {
        case S_IFREG: self = .file
        case S_IFDIR: self = .folder
        case S_IFLNK: self = .link
        default: self = .other
        }
    }

    /// The bytes of the file at a path, or of what a link there leads to; 0 where nothing stands.
    package static func size(at path: String) -> Int64 {
        var facts = stat()
        return stat(path, &facts) == 0 ? Int64(facts.st_size) : 0
    }

    /// Removes the plain file at a path, where there is one; anything else stays. Returns whether
    /// no file is there now. No link is followed.
    @discardableResult
    package static func removeFile(at path: String) -> Bool {
        switch FileKind(at: path, followsLinks: false) {
        case .nothing: true
        case .file: unlink(path) == 0 || errno == ENOENT
        case .folder, .link, .other: false
        }
    }

    /// The error of whoever wanted to remove or replace what is no file.
    package static func refusal(at path: String) -> StoreError {
        StoreError(
            .notAStore,
            "There is no plain file at the path but a folder, device, pipe or socket; it stays as "
                + "it is. Give the path of a store.", fields: ["path": path])
    }
}

extension URL {
    /// Whether this is `/dev/null`, the address of a store in memory.
    package var isNullDevice: Bool { isFileURL && standardizedFileURL.path == "/dev/null" }
}
