internal import SQLiteDriver

extension Connection {
    /// A number that changes with each commit of another connection, as of the last time this one
    /// read or wrote. <https://www.sqlite.org/pragma.html#pragma_data_version>
    func commitsOfOthers() throws -> Int64 { try pragma("data_version")?.int64 ?? 0 }

    /// The same as of now.
    func lookForCommits() throws -> Int64 {
        _ = try value("SELECT count(*) FROM sqlite_master")
        return try commitsOfOthers()
    }
}
