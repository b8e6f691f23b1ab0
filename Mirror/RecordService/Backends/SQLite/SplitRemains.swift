internal import Foundation
internal import RecordWire
internal import SQLiteDriver

/// Files that a split left which was killed after they got their names, and before the service's
/// file named them.
///
/// One is removed where it says itself that it is the container's, is called as a split calls it,
/// was opened by no service since, and has the rows of the copy that is made now, row for row: then
/// the service's file has them all, too. Any other stays as it is.
struct SplitRemains {
    private let folder: String
    /// Those that were there before, by the name of their container.
    private let files: [ExactName: [String]]

    init(in folder: String) {
        self.folder = folder
        var files: [ExactName: [String]] = [:]
        for name in FileFolder.names(in: folder) where ContainerFileName.isOne(name) {
            let path = folder + "/" + name
            guard FileFolder.isFile(path), Self.isUntouched(path),
                let found = try? ContainerSchema.identity(
                    of: Connection(path: path, access: .immutable)),
                ContainerFileName.text(found.container, id: found.id).isExactly(name)
            else { continue }
            files[ExactName(found.container), default: []].append(name)
        }
        self.files = files
    }

    /// Cost: where there are some, reads them and the copy whole.
    func remove(of container: String, equalTo copy: String) throws {
        for name in files[ExactName(container)] ?? [] {
            let path = folder + "/" + name
            guard try hasSameRows(path, copy) else { continue }
            unlink(path)
        }
    }

    /// A service makes a log when it opens a file, and the file says so from then on.
    private static func isUntouched(_ path: String) -> Bool {
        let isAlone = ["-wal", "-shm", "-journal"].allSatisfy { access(path + $0, F_OK) != 0 }
        guard isAlone, let file = FileHandle(forReadingAtPath: path),
            let head = try? file.read(upToCount: 20), head.count == 20
        else { return false }
        return head[18] == 1 && head[19] == 1
    }

    // MARK: Rows

    /// False also for what cannot be read.
    private func hasSameRows(_ path: String, _ copy: String) throws -> Bool {
        let new = try Connection(path: copy, access: .immutable)
        let tables = try new.rows(Self.schema)
        do {
            let old = try Connection(path: path, access: .immutable)
            guard try old.rows(Self.schema) == tables else { return false }
            let names = tables.filter { $0[0].string == "table" }.compactMap(\.[1].string)
            for name in names where !name.hasPrefix("sqlite_") {
                // Their numbers differ.
                let columns = name == "service" ? "epoch, container" : "*"
                guard try isEqual("SELECT \(columns) FROM \(name)", old, new) else { return false }
            }
            return true
        } catch is SQLiteFault {
            return false
        }
    }

    private static let schema = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name"

    private func isEqual(_ query: String, _ old: Connection, _ new: Connection) throws -> Bool {
        let (one, other) = (try old.compile(query), try new.compile(query))
        while try one.step() {
            guard try other.step() else { return false }
            for column in 0..<one.columnCount {
                guard one.value(at: column) == other.value(at: column) else { return false }
            }
        }
        return try !other.step()
    }
}
