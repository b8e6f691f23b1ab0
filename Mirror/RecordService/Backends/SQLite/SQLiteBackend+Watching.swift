internal import Foundation
internal import Platform
internal import SQLiteDriver

/// What who watches the service wants to know of its files.
extension SQLiteBackend {
    func facts() -> BackendFacts {
        var facts = BackendFacts(commitSizes: main.settings.commitSizes.summary)
        guard !main.isInMemory else { return facts }
        let containers = FileFolder.names(in: files.folder).map { files.folder + "/" + $0 }
        facts.storageBytes = ([main.path, main.path + "-wal"] + containers).reduce(0) {
            $0 + Self.size(of: $1)
        }
        facts.freeBytes = Self.freeBytes(at: main.path)
        return facts
    }

    private static func size(of path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    private static func freeBytes(at path: String) -> Int64? {
        var disk = statvfs()
        guard statvfs(path, &disk) == 0 else { return nil }
        let bytes = UInt64(disk.f_bavail).multipliedReportingOverflow(by: UInt64(disk.f_frsize))
        return bytes.overflow ? .max : Int64(clamping: bytes.partialValue)
    }
}
