internal import CSQLite
public import Foundation

/// A compiled statement. Made by `Connection.prepare`, and alive only while the connection is: the
/// connection keeps its statements, not the other way round.
///
/// Queue: the connection's. Cost: in memory, but for `step` and `perform`, which run SQLite. Every
/// function throws `SQLiteFault`. Reading a column past the last, or before the first step, gives
/// no value.
public final class Statement {
    let handle: OpaquePointer
    private unowned let connection: Connection
    /// Held because SQLite closes a file with its last statement.
    private let tidier: Connection?

    init(handle: OpaquePointer, connection: Connection) {
        self.handle = handle
        tidier = connection.tidier
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    /// The text it was compiled from, with `?` for values.
    public var sql: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }
    /// The number of columns a row has; 0 for a statement that returns none.
    public var columnCount: Int { Int(sqlite3_column_count(handle)) }

    /// Binds `value` to the parameter at `index`, counted from 1.
    public func bind(_ value: SQLiteValue, at index: Int) throws {
        let position = Int32(index)
        let code =
            switch value {
            case .null: sqlite3_bind_null(handle, position)
            case .integer(let integer): sqlite3_bind_int64(handle, position, integer)
            case .real(let real): sqlite3_bind_double(handle, position, real)
            case .text(let text): bindText(text, at: position)
            case .blob(let data): bindBlob(data, at: position)
            }
        guard code == SQLITE_OK else { throw connection.fault(code, sql: sql) }
    }

    /// Binds the sixteen bytes of a UUID.
    public func bind(_ uuid: UUID, at index: Int) throws {
        let code = withUnsafeBytes(of: uuid.uuid) {
            diptych_bind_blob(handle, Int32(index), $0.baseAddress, 16)
        }
        guard code == SQLITE_OK else { throw connection.fault(code, sql: sql) }
    }

    /// Binds the values to the parameters from the first on. Those beyond the last given stay as
    /// they are.
    public func bind(_ values: [SQLiteValue]) throws {
        for (offset, value) in values.enumerated() { try bind(value, at: offset + 1) }
    }

    /// Moves to the next row. Returns false when there is none.
    public func step() throws -> Bool {
        let code = sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw connection.fault(code, sql: sql)
        }
    }

    /// Makes the statement ready to run again; its bindings are cleared.
    public func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// Makes the statement ready to run again with the bindings it has.
    public func rewind() { sqlite3_reset(handle) }

    /// Runs the statement to its end with the bindings it has, and makes it ready to run again.
    /// Returns the number of rows it changed.
    @discardableResult
    public func perform() throws -> Int {
        defer { sqlite3_reset(handle) }
        while try step() {}
        return connection.changes
    }

    /// The value in the column at `index`, counted from 0, of the present row.
    public func value(at index: Int) -> SQLiteValue {
        let position = Int32(index)
        switch sqlite3_column_type(handle, position) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, position))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, position))
        case SQLITE_TEXT: return .text(text(at: index) ?? "")
        case SQLITE_BLOB: return .blob(blob(at: index) ?? Data())
        default: return .null
        }
    }

    /// Whether the present row has no value in the column.
    public func isNull(at index: Int) -> Bool {
        sqlite3_column_type(handle, Int32(index)) == SQLITE_NULL
    }

    /// The column as an integer, as SQLite converts it: 0 for no value, and for texts that begin
    /// with no number.
    public func int64(at index: Int) -> Int64 { sqlite3_column_int64(handle, Int32(index)) }
    /// The column as a number, as SQLite converts it: 0 for no value, and for texts that begin with
    /// no number.
    public func double(at index: Int) -> Double { sqlite3_column_double(handle, Int32(index)) }

    /// The column as text, a number in SQLite's digits; nil for no value.
    public func text(at index: Int) -> String? {
        textBytes(at: index).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes of the text at `index` in UTF-8; good until the next row.
    public func textBytes(at index: Int) -> UnsafeBufferPointer<UInt8>? {
        guard let bytes = sqlite3_column_text(handle, Int32(index)) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, Int32(index)))
        return UnsafeBufferPointer(start: bytes, count: count)
    }

    /// The column's bytes, copied; nil for no value.
    public func blob(at index: Int) -> Data? {
        guard sqlite3_column_type(handle, Int32(index)) != SQLITE_NULL else { return nil }
        let count = Int(sqlite3_column_bytes(handle, Int32(index)))
        guard let bytes = sqlite3_column_blob(handle, Int32(index)) else { return Data() }
        return Data(bytes: bytes, count: count)
    }

    /// The blob of sixteen bytes as a UUID; nil for anything else.
    public func uuid(at index: Int) -> UUID? {
        guard sqlite3_column_type(handle, Int32(index)) == SQLITE_BLOB,
            let bytes = sqlite3_column_blob(handle, Int32(index)),
            sqlite3_column_bytes(handle, Int32(index)) == 16
        else { return nil }
        return UUID(uuid: UnsafeRawPointer(bytes).loadUnaligned(as: uuid_t.self))
    }

    private func bindText(_ text: String, at position: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                guard let start = characters.baseAddress else {
                    return diptych_bind_text(handle, position, "", 0)
                }
                return diptych_bind_text(handle, position, start, Int32(characters.count))
            }
        }
    }

    private func bindBlob(_ data: Data, at position: Int32) -> Int32 {
        data.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else {
                return sqlite3_bind_zeroblob(handle, position, 0)
            }
            return diptych_bind_blob(handle, position, start, Int32(bytes.count))
        }
    }
}
