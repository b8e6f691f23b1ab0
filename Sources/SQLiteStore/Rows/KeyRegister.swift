internal import SQLiteDriver
internal import Stores

/// `Z_PRIMARYKEY`: the highest key handed out, by the number of a tree's root or of a system
/// entity.
final class KeyRegister {
    private let connection: Connection

    // Compiled when they are used: most connections read only.
    private var compiledReserve: Statement?
    private var compiledRaise: Statement?

    init(connection: Connection) { self.connection = connection }

    private func reserve() throws -> Statement {
        if let compiledReserve { return compiledReserve }
        let statement = try connection.compile(
            "UPDATE Z_PRIMARYKEY SET Z_MAX = IFNULL(Z_MAX, 0) + ?2 WHERE Z_ENT = ?1 RETURNING Z_MAX"
        )
        compiledReserve = statement
        return statement
    }

    private func raise() throws -> Statement {
        if let compiledRaise { return compiledRaise }
        let statement = try connection.compile(
            "UPDATE Z_PRIMARYKEY SET Z_MAX = ?2 WHERE Z_ENT = ?1 AND IFNULL(Z_MAX, 0) < ?2")
        compiledRaise = statement
        return statement
    }

    /// Hands out `count` keys and returns the first.
    func reserve(_ number: Int64, count: Int) throws -> Int64 {
        let reserve = try reserve()
        defer { reserve.rewind() }
        try reserve.bind(.integer(number), at: 1)
        try reserve.bind(SQLiteValue(count), at: 2)
        guard try reserve.step() else {
            throw StoreError(
                .corrupt, "The table of keys has no row for an entity; the file is damaged.",
                fields: ["entity": "\(number)"])
        }
        let value = reserve.value(at: 0)
        while try reserve.step() {}
        guard case .integer(let last) = value, last >= count, last < Int64.max else {
            throw StoreError(
                .corrupt, "The table of keys has no more keys for an entity; the file is damaged.",
                fields: ["entity": "\(number)"])
        }
        return last - Int64(count) + 1
    }

    /// Makes sure that no key up to `key` is handed out again.
    func raise(_ number: Int64, to key: Int64) throws {
        let raise = try raise()
        try raise.bind(.integer(number), at: 1)
        try raise.bind(.integer(key), at: 2)
        try raise.perform()
    }

    /// Adds the row of a system entity where it is missing.
    func ensure(_ number: Int64, name: String) throws {
        try connection.run(
            "INSERT OR IGNORE INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) "
                + "VALUES (?, ?, 0, 0)",
            [.integer(number), .text(name)])
    }

    /// The highest key handed out so far.
    func last(_ number: Int64) throws -> Int64 {
        let value = try connection.value(
            "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(number)])
        return value?.int64 ?? 0
    }
}
