internal import CPostgres
package import Foundation

/// The rows that answer one statement. They stay readable after the connection goes on.
package final class PostgresRows: Sequence {
    private let result: OpaquePointer

    /// Takes the result over.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    package var count: Int { Int(PQntuples(result)) }

    package subscript(index: Int) -> PostgresRow { PostgresRow(rows: self, index: Int32(index)) }

    package func makeIterator() -> some IteratorProtocol<PostgresRow> {
        (0..<count).lazy.map { self[$0] }.makeIterator()
    }

    package var first: PostgresRow? { count > 0 ? self[0] : nil }

    fileprivate func isNull(_ row: Int32, _ column: Int32) -> Bool {
        PQgetisnull(result, row, column) != 0
    }

    fileprivate func bytes(_ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
    }
}

/// One row; columns count from 0.
package struct PostgresRow {
    fileprivate let rows: PostgresRows
    fileprivate let index: Int32

    package func isNull(at column: Int32) -> Bool { rows.isNull(index, column) }

    /// Of `bigint` and smaller; 0 for null.
    package func int64(at column: Int32) -> Int64 {
        let bytes = rows.bytes(index, column)
        guard let first = bytes.first else { return 0 }
        return bytes.reduce(first < 128 ? 0 : -1) { $0 << 8 | Int64($1) }
    }

    /// Of `boolean`.
    package func bool(at column: Int32) -> Bool { rows.bytes(index, column).first == 1 }

    /// Of `bytea`; empty for null.
    package func data(at column: Int32) -> Data { Data(rows.bytes(index, column)) }

    /// Of `text`, and of `bytea` that holds UTF-8; empty for null.
    package func text(at column: Int32) -> String {
        String(decoding: rows.bytes(index, column), as: UTF8.self)
    }

    package func textIfAny(at column: Int32) -> String? {
        isNull(at: column) ? nil : text(at: column)
    }
}
