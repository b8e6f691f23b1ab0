internal import Foundation
internal import RecordService

/// The folder of a record service: records, certificates, tokens. One service at a time works in
/// it.
final class DataFolder {
    let url: URL
    private let lock: Int32

    /// Makes the folder where it is missing, and takes it for this process.
    init(_ url: URL) throws {
        self.url = url
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw DataFolder.failure(url)
        }
        let file = url.appendingPathComponent("serve.lock").path
        lock = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw DataFolder.failure(url) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let holder = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
            close(lock)
            throw DataFolder.inUse(url, by: holder.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        let words = Array("\(getpid())\n".utf8)
        if ftruncate(lock, 0) == 0 { _ = write(lock, words, words.count) }
    }

    deinit { close(lock) }

    var database: URL { Self.database(in: url) }
    /// Those that are asked for in the console.
    var backups: URL { url.appendingPathComponent("backups") }
    var certificates: URL { url.appendingPathComponent("tls") }
    func tokens(of container: String) -> URL { url.appendingPathComponent("\(container).tokens") }

    static func database(in folder: URL) -> URL {
        folder.appendingPathComponent("records.sqlite")
    }

    /// What was done to the service in this folder, and by whom.
    static func audit(in folder: URL) -> AuditLog {
        AuditLog(auditFile(in: folder), by: actor)
    }

    static func auditFile(in folder: URL) -> URL { folder.appendingPathComponent("audit.jsonl") }

    private static var actor: String {
        getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "user \(geteuid())"
    }

    /// Where the folder is when nobody says: in XDG_DATA_HOME.
    static func standard(_ environment: [String: String]) -> URL {
        let home =
            UserFolder.home(environment)
            ?? URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
        let data = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let folder =
            data.map { URL(fileURLWithPath: $0) } ?? home.appendingPathComponent(".local/share")
        return folder.appendingPathComponent("diptych")
    }

    private static func inUse(_ url: URL, by holder: String) -> CommandError {
        CommandError(
            "dataFolderInUse",
            "A service\(holder.isEmpty ? "" : " (process \(holder))") works in "
                + "\(url.path).",
            hint: "Stop that one, or give another folder with --data.")
    }

    private static func failure(_ url: URL) -> CommandError {
        CommandError(
            "cannotWrite", "The data folder \(url.path) cannot be made or written.",
            hint: "Check the rights of the folder above it, or give another with --data.")
    }
}
