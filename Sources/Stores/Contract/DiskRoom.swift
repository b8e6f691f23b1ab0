internal import Foundation

/// Whether a disk is full, for errors that say so in other words.
package enum DiskRoom {
    /// As little as SQLite wants at a time for a log's shared memory, and some blocks.
    private static let bytesMin: UInt64 = 64 << 10

    /// Whether there is room for anything beside the file at `path`; true where nobody knows.
    package static func isLeft(beside path: String) -> Bool {
        var facts = statvfs()
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard statvfs(folder, &facts) == 0 else { return true }
        // Some file systems count no files.
        if facts.f_files > 0, facts.f_favail == 0 { return false }
        return UInt64(facts.f_bavail) * UInt64(facts.f_frsize) >= bytesMin
    }

    /// Whether a failure of the system's, or what caused one, is that there is no room.
    package static func isLacking(_ error: any Error) -> Bool {
        let error = error as NSError
        if error.domain == NSPOSIXErrorDomain {
            return [ENOSPC, EDQUOT, EFBIG].contains(Int32(error.code))
        }
        if error.domain == NSCocoaErrorDomain, error.code == CocoaError.fileWriteOutOfSpace.rawValue
        {
            return true
        }
        return (error.userInfo[NSUnderlyingErrorKey] as? any Error).map(isLacking) ?? false
    }
}
