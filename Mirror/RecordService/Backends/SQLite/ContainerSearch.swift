internal import Foundation
internal import Platform
internal import RecordWire
internal import SQLiteDriver

/// Finds files of containers that the service's own file does not name, as after that one was lost
/// or put back from another time. A file says itself whose it is; what does not say it, or says
/// what another file says too, stays as it is and is told in the log.
struct ContainerSearch {
    private let files: ContainerFiles
    private var main: SQLiteFile { files.main }

    init(_ files: ContainerFiles) { self.files = files }

    /// A file that may be taken up.
    private struct Finding {
        let file: String
        let container: String
        let id: Int64
    }

    /// Takes up again what can be, at the start of a service. Returns the containers. Cost: a look
    /// at the folder, and into each file that nothing names.
    func takeUp() throws -> [String] {
        var found: [Finding] = []
        for file in try unnamed() {
            do {
                found.append(try finding(file))
            } catch {
                tell(file, reason(error))
            }
        }
        let byContainer = Dictionary(grouping: found) { ExactName($0.container) }
        var taken: [String] = []
        for finding in found {
            guard byContainer[ExactName(finding.container)]?.count == 1 else {
                tell(finding.file, "several say that they are the container \(finding.container)'s")
                continue
            }
            guard try adopt(finding) else {
                tell(finding.file, "another file is in use for the container \(finding.container)")
                continue
            }
            taken.append(finding.container)
            main.settings.log(
                ServiceNotice(
                    "The file of a container that the service's own file did not name is in use "
                        + "again. Its users are known by their record names; issue them tokens.",
                    fields: ["container": finding.container, "file": path(finding.file)]))
        }
        return taken
    }

    /// Throws INTERNAL_ERROR while a file that is not in use may name contents that nothing else
    /// names. Cost: as `takeUp`.
    func requireNothingHidden() throws {
        for file in try unnamed() where ContainerFileName.isOne(file) {
            guard try hidesContents(file) else { continue }
            throw RecordError(
                .internalError,
                "\(path(file)) is not in use, and may name assets that nothing else names. Bring "
                    + "back what belongs to it, or move it out of the folder.")
        }
    }

    // MARK: Looking

    /// What is in the folder and has no row; the rows are read last, since they come before files.
    private func unnamed() throws -> [String] {
        let names = FileFolder.names(in: files.folder)
            .filter { $0.hasSuffix(ContainerFileName.suffix) && FileFolder.isFile(path($0)) }
        guard !names.isEmpty else { return [] }
        let named = try main.read { connection in
            Set(
                try connection.rows("SELECT file FROM container_files")
                    .compactMap { $0.first?.string.map { ExactName($0) } })
        }
        return names.filter { !named.contains(ExactName($0)) }
    }

    private func path(_ file: String) -> String { files.folder + "/" + file }

    private func finding(_ file: String) throws -> Finding {
        let (container, id) = try ContainerSchema.identity(of: .reading(path(file)))
        guard ServiceAccounts.isContainerName(container) else {
            throw RecordError(.internalError, "it names no container that could be")
        }
        // A copy that somebody made beside it has another name.
        guard ContainerFileName.text(container, id: id).isExactly(file) else {
            throw RecordError(
                .internalError,
                "it is not called as the file of the container \(container) is, as a copy of it")
        }
        return Finding(file: file, container: container, id: id)
    }

    private func hidesContents(_ file: String) throws -> Bool {
        var contents: [Data]
        do {
            let connection = try Connection.reading(path(file))
            _ = try ContainerSchema.identity(of: connection)
            contents = try connection.rows("SELECT checksum FROM asset_sizes")
                .compactMap { $0.first?.data }
        } catch {
            return true
        }
        return try main.read { connection in
            try contents.contains {
                try connection.value("SELECT 1 FROM assets WHERE checksum = ?", [.blob($0)]) == nil
            }
        }
    }

    // MARK: Taking up

    /// Returns false where the container has a file that may hold rows.
    private func adopt(_ finding: Finding) throws -> Bool {
        let owners = try owners(in: finding.file)
        let now = main.settings.platform.milliseconds
        return try main.write { connection in
            let row = try connection.rows(
                "SELECT file, made FROM container_files WHERE container = ?",
                [.text(finding.container)]
            ).first
            if let row {
                let isMade = row.last?.int64 != 0
                let isThere = access(path(row.first?.string ?? ""), F_OK) == 0
                guard !isMade, !isThere else { return false }
            }
            try connection.run(
                "INSERT OR IGNORE INTO containers(name, created_at) VALUES (?, ?)",
                [.text(finding.container), .integer(now)])
            try connection.run(
                "INSERT OR REPLACE INTO container_files(container, file, id, made) "
                    + "VALUES (?, ?, ?, 1)",
                [.text(finding.container), .text(finding.file), .integer(finding.id)])
            for owner in owners {
                try connection.run(
                    "INSERT OR IGNORE INTO users(record_name, label, created_at) "
                        + "VALUES (?1, ?1, ?2)",
                    [.text(owner), .integer(now)])
            }
            return true
        }
    }

    /// Whose databases it has; without them nobody could be given tokens for them.
    private func owners(in file: String) throws -> [String] {
        do {
            return try Connection.reading(path(file))
                .rows("SELECT DISTINCT owner FROM databases WHERE owner <> ''")
                .compactMap { $0.first?.string }
        } catch let fault as SQLiteFault where fault.isCorrupt {
            return []
        }
    }

    // MARK: Telling

    private func reason(_ error: any Error) -> String {
        switch error {
        case let error as RecordError: error.reason
        case let fault as SQLiteFault: "it cannot be read (SQLite \(fault.code): \(fault.message))"
        default: "it cannot be read"
        }
    }

    private func tell(_ file: String, _ cause: String) {
        main.settings.log(
            ServiceNotice(
                "A file among those of the containers is not in use, and stays as it is. Move it "
                    + "away where nobody needs it.", fields: ["file": path(file), "cause": cause]))
    }
}
