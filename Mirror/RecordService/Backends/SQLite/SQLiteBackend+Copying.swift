internal import Foundation
internal import RecordWire
internal import SQLiteDriver

/// Copies of all files.
extension SQLiteBackend {
    private static let attemptsMax = 20

    /// Writes the rows to a new file, and those of each container to one in `folder`, beside
    /// readers and writers. Each file has the state of one moment. The service's is the last, so
    /// that it knows whatever the others name. Returns the containers that cannot be read, of which
    /// the copy says that it lacks them.
    func copy(to path: String, containersTo folder: String) throws -> [String] {
        try FileFolder.make(folder)
        var copied: Set<ExactName> = []
        var lacking: [String] = []
        for _ in 0..<Self.attemptsMax {
            for case .container(let name) in try places()
            where copied.insert(ExactName(name)).inserted {
                try CopyWork.checkIsWanted()
                if try !copy(name, to: folder) { lacking.append(name) }
            }
            try CopyWork.checkIsWanted()
            try FileFolder.makeFile(path)
            try main.copy(to: path)
            if try Self.containers(in: path).isSubset(of: copied) {
                try CopyGaps.write(lacking, into: path)
                return lacking
            }
        }
        throw RecordError(
            .tryAgainLater, "Containers were made all the time while they were copied.")
    }

    /// Returns false for a container that cannot be read, which is said in the log.
    private func copy(_ container: String, to folder: String) throws -> Bool {
        var isOpen = false
        do {
            return try files.with(container) { file in
                isOpen = true
                let name = URL(fileURLWithPath: file.path).lastPathComponent
                guard try copy(file, container, to: folder + "/" + name) else { return false }
                try FileFolder.protect(folder + "/" + name)
                return true
            }
        } catch let error as RecordError where error.code == .internalError && !isOpen {
            return false
        }
    }

    private func copy(_ file: SQLiteFile, _ container: String, to path: String) throws -> Bool {
        do {
            try file.copy(to: path)
            return true
        } catch let fault as SQLiteFault where fault.isUnreadable {
            for end in ["", "-journal"] { unlink(path + end) }
            files.noteUnreadable(container, fault)
            return false
        } catch {
            throw file.failures.translate(error)
        }
    }

    private static func containers(in path: String) throws -> Set<ExactName> {
        let copy = try Connection(path: path, access: .readOnly)
        return Set(
            try copy.rows("SELECT container FROM container_files WHERE made = 1")
                .compactMap { $0.first?.string.map { ExactName($0) } })
    }
}

/// A copy as work that may be ended.
enum CopyWork {
    /// Throws TRY_AGAIN_LATER where the task that does it was cancelled.
    static func checkIsWanted() throws(RecordError) {
        guard Task.isCancelled else { return }
        throw RecordError(.tryAgainLater, "The copy was ended; nothing of it is left.")
    }
}

/// What a copy says of itself: which containers it lacks.
enum CopyGaps {
    /// Also where the original is a copy that came back, which says of itself what it lacked.
    static func write(_ containers: [String], into path: String) throws {
        let copy = try Connection(path: path, access: .readWrite)
        try copy.transaction(.immediate) {
            try copy.script("DROP TABLE IF EXISTS lacking_containers")
            guard !containers.isEmpty else { return }
            try copy.script("CREATE TABLE lacking_containers(container TEXT PRIMARY KEY)")
            for container in containers {
                try copy.run("INSERT INTO lacking_containers VALUES (?)", [.text(container)])
            }
        }
    }

    /// Those whose file was not brought to it meanwhile.
    static func read(_ connection: Connection) throws -> [String] {
        let isSaid = try connection.value(
            "SELECT 1 FROM sqlite_schema WHERE name = 'lacking_containers'")
        guard isSaid != nil else { return [] }
        let folder = ContainerFileName.folder(beside: connection.path)
        return try connection.rows(
            """
            SELECT l.container, f.file FROM lacking_containers l
            JOIN container_files f ON f.container = l.container ORDER BY l.container
            """
        ).compactMap { row in
            let file = folder + "/" + (row.last?.string ?? "")
            return access(file, F_OK) == 0 ? nil : row.first?.string
        }
    }
}

extension SQLiteFault {
    /// Whether what should have been read is damaged, as a file or on the disk.
    fileprivate var isUnreadable: Bool {
        // READ and SHORT_READ.
        isNotADatabase || isIOFailure && [1, 2].contains(code >> 8)
    }
}
