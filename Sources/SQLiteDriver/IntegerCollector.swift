internal import CSQLite
internal import Foundation

/// Gathers the integers that a query finds while SQLite runs it: an aggregate function takes them
/// without leaving the statement for each row.
final class IntegerCollector {
    static let function = "diptych_collect"
    fileprivate var integers: [Int64] = []

    /// Registers the function; the collector lives as long as the connection.
    init(_ handle: OpaquePointer) throws {
        let code = sqlite3_create_function_v2(
            handle, Self.function, 1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
            Unmanaged.passUnretained(self).toOpaque(), nil, collect, finishCollecting, nil)
        guard code == SQLITE_OK else { throw SQLiteFault(code: code, message: "cannot register") }
    }

    /// What was gathered since the last call.
    func take() -> [Int64] {
        defer { integers = [] }
        return integers
    }
}

private func collect(
    context: OpaquePointer?, count: Int32, arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
    guard let pointer = sqlite3_user_data(context), let value = arguments?[0] else { return }
    Unmanaged<IntegerCollector>.fromOpaque(pointer)._withUnsafeGuaranteedRef {
        $0.integers.append(sqlite3_value_int64(value))
    }
}

private func finishCollecting(context: OpaquePointer?) { sqlite3_result_null(context) }

extension Connection {
    /// The integers in `column` of all rows of a query, in the order in which SQLite comes upon
    /// them. Cost: two thirds of stepping from row to row. Not to be used while it runs.
    public func integers(
        in column: String, of query: String, _ values: [SQLiteValue] = []
    ) throws -> [Int64] {
        let collector = try collector()
        _ = collector.take()
        try run("SELECT \(IntegerCollector.function)(\(column)) FROM (\(query))", values)
        return collector.take()
    }
}
