internal import Foundation
internal import RecordWire
internal import SQLiteDriver

/// Copies of all files.
extension SQLiteBackend {
    private static let attemptsMax = 20

    /// Writes the rows to a new file, and those of each container to one in `folder`, beside
    /// readers and writers. Each file has the state of one moment. The service's is the last, so
    /// that it knows whatever the others name. Throws for a container that cannot be read: a copy
    /// without it would be none.
    func copy(to path: String, containersTo folder: String) throws {
        try FileFolder.make(folder)
        var copied: Set<ExactName> = []
        for _ in 0..<Self.attemptsMax {
            for case .container(let name) in try places()
            where copied.insert(ExactName(name)).inserted {
                try copy(name, to: folder)
            }
            unlink(path)
            try main.copy(to: path)
            if try Self.containers(in: path).isSubset(of: copied) { return }
        }
        throw RecordError(
            .tryAgainLater, "Containers were made all the time while they were copied.")
    }

    private func copy(_ container: String, to folder: String) throws {
        try files.with(container) { file in
            let name = URL(fileURLWithPath: file.path).lastPathComponent
            try file.translating { try file.copy(to: folder + "/" + name) }
            try FileFolder.protect(folder + "/" + name)
        }
    }

    private static func containers(in path: String) throws -> Set<ExactName> {
        let copy = try Connection(path: path, access: .readOnly)
        return Set(
            try copy.rows("SELECT container FROM container_files WHERE made = 1")
                .compactMap { $0.first?.string.map { ExactName($0) } })
    }
}
