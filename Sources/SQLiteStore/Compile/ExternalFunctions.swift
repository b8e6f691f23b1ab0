internal import Foundation
internal import SQLiteDriver
internal import Stores

/// The SQL functions that look behind the marker of a column whose values may have files.
enum ExternalFunctions {
    /// The value itself: of a column.
    static let value = "diptych_external_value"
    /// Whether the value is the given data: of a column, data. Reads a file only when it is as
    /// long as the data.
    static let equals = "diptych_external_equals"

    /// `files` is nil for a store without any.
    static func register(with connection: Connection, files: ExternalFiles?) throws {
        try connection.register(function: value, arguments: 1, isDeterministic: false) {
            guard let column = $0[0].data else { return .null }
            return SQLiteValue(try ValueCoding.external(column, files: files))
        }
        try connection.register(function: equals, arguments: 2, isDeterministic: false) {
            guard let column = $0[0].data, let wanted = $0[1].data else { return .null }
            if let name = ExternalFiles.name(in: column), let size = files?.size(of: name),
                size != wanted.count
            {
                return 0
            }
            let found = try ValueCoding.external(column, files: files)
            return found.map { SQLiteValue($0 == wanted) } ?? .null
        }
    }
}

extension PredicateCompiler {
    /// The value itself, where a column may hold the name of its file.
    func unmarked(_ operand: Operand) -> Operand {
        guard case .value(let sql, .data(isMarked: true)) = operand else { return operand }
        return .value(
            "\(name: ExternalFunctions.value)(\(sql))", .data(isMarked: false))
    }

    /// Whether a column that may refer to a file holds `data`. Values within the row are compared
    /// as they stand there; only the others are looked at one by one.
    func marked(_ column: SQLFragment, equals data: Data) -> SQLFragment {
        let inline = Data([ValueCoding.inlineMarker]) + data
        return """
            (\(column) = \(value: .blob(inline)) OR (\(isElsewhere(column)) \
            AND \(name: ExternalFunctions.equals)(\(column), \(value: .blob(data)))))
            """
    }

    /// Whether the column holds something else than a value behind its marker.
    func isElsewhere(_ column: SQLFragment) -> SQLFragment { "substr(\(column), 1, 1) <> x'01'" }
}
