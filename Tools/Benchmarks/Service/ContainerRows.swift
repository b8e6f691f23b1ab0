internal import Foundation
internal import SQLiteDriver

/// The rows of the one container of a measured service, in the file that it has for them.
enum ContainerRows {
    /// How large a record is as the service in `folder` keeps it, in bytes.
    static func bytesOfRecord(in folder: URL) throws -> Int {
        let files = try FileManager.default.contentsOfDirectory(
            at: folder.appendingPathComponent("records.sqlite.containers"),
            includingPropertiesForKeys: nil
        ).filter { $0.pathExtension == "sqlite" }
        let sizes = try files.map { file in
            let connection = try Connection(path: file.path, access: .readOnly)
            return Int(try connection.value("SELECT avg(length(fields)) FROM records")?.double ?? 0)
        }
        return sizes.max() ?? 0
    }
}
