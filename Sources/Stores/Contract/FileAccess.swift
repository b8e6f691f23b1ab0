internal import Foundation

/// Who owns a file and who may read and write it: files beside a store, and copies of it, get what
/// the store has, as SQLite does with its journals. Their owner may always write: a copy of a file
/// that nobody may write, as one in a program's bundle, is made to be worked with.
package struct FileAccess: Sendable {
    private let mode: mode_t
    private let owner: uid_t
    private let group: gid_t
    private let isKnown: Bool

    /// That of the file at `path`; nothing is known of a file that is not there.
    package init(of path: String) {
        var facts = stat()
        isKnown = stat(path, &facts) == 0
        mode = facts.st_mode & 0o666 | 0o600
        owner = facts.st_uid
        group = facts.st_gid
    }

    /// The mode of a file that is made for it.
    var modeOfNew: mode_t { isKnown ? mode : 0o644 }

    /// Makes an empty file with the same access, so that nobody else reads what is written there
    /// then. What is there already stays; who writes to it finds out why none could be made.
    package func makeFile(at path: String) {
        guard isKnown else { return }
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard file >= 0 else { return }
        fchmod(file, mode)
        if geteuid() == 0 { _ = fchown(file, owner, group) }
        close(file)
    }

    /// Gives the file at `path` the same access, as far as this process may.
    package func apply(to path: String) {
        guard isKnown else { return }
        chmod(path, mode)
        if geteuid() == 0 { _ = chown(path, owner, group) }
    }

    /// Gives an open file or folder the same access, as far as this process may.
    package func apply(to file: Int32, isFolder: Bool) {
        guard isKnown else { return }
        // Who may read a file may look into a folder.
        fchmod(file, isFolder ? mode | (mode & 0o444) >> 2 : mode)
        if geteuid() == 0 { _ = fchown(file, owner, group) }
    }
}
