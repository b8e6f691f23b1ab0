internal import Foundation
internal import ObjectModel
internal import Stores

/// A file or folder that is not there yet.
enum NewFile {
    /// Makes it by `write`, whole or not at all. Throws what `write` does, and a `CommandError` of
    /// its own where there is no room.
    static func make<Result>(_ url: URL, _ write: () throws -> Result) throws -> Result {
        let wasAbsent = FileKind(of: url) == .absent
        do {
            return try write()
        } catch {
            // Somebody else may have been faster.
            let isTaken = (error as? CocoaError)?.code == .fileWriteFileExists
            if wasAbsent, !isTaken { try? FileManager.default.removeItem(at: url) }
            let cause = (error as? ModelFileError)?.cause ?? error
            guard DiskRoom.isLacking(cause) || !DiskRoom.isLeft(beside: url.path) else {
                throw error
            }
            throw CommandError(
                "diskFull", "There is no room for \(url.path) on the disk.",
                hint: "Make room and run the command again; nothing was made.")
        }
    }
}
