internal import CSQLite
public import Foundation

extension Connection {
    /// Registers the SQL function `name` with `arguments` parameters (-1 for any number).
    /// `body` is called by this connection and lives as long as the connection.
    ///
    /// What stands in a file, such as a trigger, may call it only where `isHarmless`: whatever a
    /// stranger passes to it, it must cost little and reveal nothing.
    public func register(
        function name: String, arguments: Int32, isDeterministic: Bool = true,
        isHarmless: Bool = false,
        _ body: @escaping ([SQLiteValue]) throws -> SQLiteValue
    ) throws {
        let box = Unmanaged.passRetained(FunctionBox(body))
        let flags =
            SQLITE_UTF8 | (isDeterministic ? SQLITE_DETERMINISTIC : 0)
            | (isHarmless ? SQLITE_INNOCUOUS : SQLITE_DIRECTONLY)
        let code = sqlite3_create_function_v2(
            handle, name, arguments, flags, box.toOpaque(), callFunction, nil, nil
        ) { pointer in
            if let pointer { Unmanaged<FunctionBox>.fromOpaque(pointer).release() }
        }
        guard code == SQLITE_OK else { throw fault(code, sql: nil) }
    }
}

extension Connection {
    /// Registers the collation `name`, by which texts are put in order. `order` is called by this
    /// connection and lives as long as the connection.
    public func register(
        collation name: String, _ order: @escaping (String, String) -> ComparisonResult
    ) throws {
        let box = Unmanaged.passRetained(CollationBox(order))
        let code = sqlite3_create_collation_v2(
            handle, name, SQLITE_UTF8, box.toOpaque(), callCollation
        ) { pointer in
            if let pointer { Unmanaged<CollationBox>.fromOpaque(pointer).release() }
        }
        guard code == SQLITE_OK else {
            // Unlike a function's, a refused collation's box is not released by SQLite.
            box.release()
            throw fault(code, sql: nil)
        }
    }
}

private final class CollationBox {
    let order: (String, String) -> ComparisonResult
    init(_ order: @escaping (String, String) -> ComparisonResult) { self.order = order }
}

private func callCollation(
    box: UnsafeMutableRawPointer?, leftCount: Int32, left: UnsafeRawPointer?, rightCount: Int32,
    right: UnsafeRawPointer?
) -> Int32 {
    guard let box else { return 0 }
    func text(_ start: UnsafeRawPointer?, _ count: Int32) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }
    let order = Unmanaged<CollationBox>.fromOpaque(box).takeUnretainedValue().order
    return Int32(order(text(left, leftCount), text(right, rightCount)).rawValue)
}

private final class FunctionBox {
    let body: ([SQLiteValue]) throws -> SQLiteValue
    init(_ body: @escaping ([SQLiteValue]) throws -> SQLiteValue) { self.body = body }
}

private func callFunction(
    context: OpaquePointer?, count: Int32, arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
    guard let pointer = sqlite3_user_data(context) else { return }
    let box = Unmanaged<FunctionBox>.fromOpaque(pointer).takeUnretainedValue()
    let values = (0..<Int(count)).map { index in
        arguments?[index].map(SQLiteValue.init(argument:)) ?? .null
    }
    do {
        try box.body(values).give(to: context)
    } catch {
        sqlite3_result_error(context, String(describing: error), -1)
    }
}

extension SQLiteValue {
    fileprivate init(argument: OpaquePointer) {
        switch sqlite3_value_type(argument) {
        case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(argument))
        case SQLITE_FLOAT: self = .real(sqlite3_value_double(argument))
        case SQLITE_TEXT:
            let count = Int(sqlite3_value_bytes(argument))
            let bytes = UnsafeBufferPointer(start: sqlite3_value_text(argument), count: count)
            self = .text(String(decoding: bytes, as: UTF8.self))
        case SQLITE_BLOB:
            let count = Int(sqlite3_value_bytes(argument))
            self = .blob(
                sqlite3_value_blob(argument).map { Data(bytes: $0, count: count) } ?? Data())
        default: self = .null
        }
    }

    fileprivate func give(to context: OpaquePointer?) {
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch self {
        case .null: sqlite3_result_null(context)
        case .integer(let value): sqlite3_result_int64(context, value)
        case .real(let value): sqlite3_result_double(context, value)
        case .text(let value):
            sqlite3_result_text(context, value, Int32(value.utf8.count), transient)
        case .blob(let value):
            value.withUnsafeBytes {
                sqlite3_result_blob(context, $0.baseAddress, Int32($0.count), transient)
            }
        }
    }
}
