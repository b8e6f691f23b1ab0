internal import Foundation
internal import Platform
internal import RecordService
internal import SQLiteDriver

/// Puts a backup in the place of a service's database. What was there is kept under another name.
struct ServiceRestore {
    private let backup: URL
    private let folder: URL
    private static let suffixes = ["-wal", "-shm", ""]

    init(of backup: URL, in folder: URL) {
        self.backup = backup
        self.folder = folder
    }

    /// Returns where the earlier database is, nil where there was none, and the containers that the
    /// backup says to be without.
    func run() throws -> (kept: URL?, lacking: [String]) {
        try requireFile()
        let held = try DataFolder(folder)
        defer { removePart() }
        try copy()
        let lacking = try look()
        // More than the database names do no harm.
        try ServiceAdministration.copyAssets(
            besides: backup.path, to: held.database.path, platform: .system)
        let kept = try moveAway(held.database)
        let (new, place) = (containers(of: part), containers(of: held.database.path))
        if FileManager.default.fileExists(atPath: new) {
            guard rename(new, place) == 0 else { throw failure(held.database) }
        }
        guard rename(part, held.database.path) == 0 else { throw failure(held.database) }
        try DataFolder.audit(in: folder).note(
            .restore, backup.path, ["before": kept?.path ?? ""])
        return (kept, lacking)
    }

    /// Throws unless it is a service's database, and sound in what it has. Returns what it lacks;
    /// the file is closed again.
    private func look() throws -> [String] {
        // An empty one would be opened as a new service's.
        guard try ServiceAdministration.isDatabase(at: part) else { throw noBackup }
        let service = try ServiceAdministration(path: part, platform: .system, isAlone: true)
        if let first = try service.damageInBackup().first { throw damaged(first) }
        return try service.lackingContainers()
    }

    private var part: String { DataFolder.database(in: folder).path + ".restoring" }

    private func containers(of path: String) -> String {
        ServiceAdministration.containersFolder(besides: path)
    }

    private func removePart() {
        Self.suffixes.forEach { unlink(part + $0) }
        try? FileManager.default.removeItem(atPath: containers(of: part))
    }

    /// Before anything is made for it.
    private func requireFile() throws {
        var facts = stat()
        guard stat(backup.path, &facts) == 0 else {
            throw CommandError(
                "noSuchFile", "There is no backup at \(backup.path).", hint: "Check the path.")
        }
        guard facts.st_mode & S_IFMT == S_IFREG, facts.st_size > 0 else { throw noBackup }
    }

    private var noBackup: CommandError {
        CommandError(
            "noBackup", "\(backup.path) is no backup of a service.",
            hint: "Name a file that `diptych service backup FILE` made.")
    }

    /// Copies the backup into the folder, so that the one at hand stays as it is. SQLite reads it,
    /// which takes in what stands in a log beside it.
    private func copy() throws {
        try refuseHalfWritten()
        removePart()
        do {
            // Nobody else may read it while it is written.
            close(open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
            try Connection(path: part).replaceContents(with: .reading(backup.path))
            try ServiceAdministration.copyContainers(besides: backup.path, to: part)
        } catch let fault as SQLiteFault where fault.isNotADatabase {
            throw damaged("it is no database")
        }
        chmod(part, 0o600)
        let file = open(part, O_RDWR | O_CLOEXEC)
        defer { close(file) }
        guard file >= 0, fsync(file) == 0 else { throw failure(URL(fileURLWithPath: part)) }
    }

    /// A journal takes back a write that was cut off, and only where the backup may be written.
    private func refuseHalfWritten() throws {
        let journal = backup.path + "-journal"
        let facts = try? FileManager.default.attributesOfItem(atPath: journal)
        guard let size = facts?[.size] as? NSNumber, size.intValue > 0 else { return }
        throw damaged("\(journal) says that a write to it was cut off")
    }

    private func damaged(_ reason: String) -> CommandError {
        CommandError(
            "damagedBackup", "\(backup.path) is damaged (\(reason)).", hint: "Use another backup.")
    }

    private func moveAway(_ database: URL) throws -> URL? {
        let folder = containers(of: database.path)
        let isThere = [database.path, folder].map { FileManager.default.fileExists(atPath: $0) }
        guard isThere.contains(true) else { return nil }
        var number = 1
        func name() -> String { "\(database.path).before-\(number)" }
        while [name(), containers(of: name())].contains(where: {
            FileManager.default.fileExists(atPath: $0)
        }) { number += 1 }
        // The log first: without its database it is nothing, the database without it is older.
        for suffix in Self.suffixes {
            let old = database.path + suffix
            guard FileManager.default.fileExists(atPath: old) else { continue }
            guard rename(old, name() + suffix) == 0 else { throw failure(database) }
        }
        if isThere[1] {
            guard rename(folder, containers(of: name())) == 0 else { throw failure(database) }
        }
        return isThere[0] ? URL(fileURLWithPath: name()) : nil
    }

    private func failure(_ url: URL) -> CommandError {
        CommandError(
            "cannotWrite", "\(url.path) cannot be written: \(String(cString: strerror(errno))).",
            hint: "Check the folder's rights and the free space.")
    }
}
