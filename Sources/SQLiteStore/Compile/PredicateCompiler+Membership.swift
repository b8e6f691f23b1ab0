internal import Foundation
internal import Predicates
internal import SQLiteDriver
internal import Stores

extension PredicateCompiler {
    /// IN, and CONTAINS with its sides exchanged.
    func membership(
        of element: Operand, in whole: Operand, _ comparison: ComparisonNode
    ) throws -> SQLFragment {
        switch whole {
        case .collection(let collection):
            var equality = comparison
            equality.operator = .equalTo
            return try exists(collection) { member, scope in
                try compare(member, equality, element, Context(scope: scope))
            }
        case .constant(let value):
            if let list = value as? ExpressionList {
                return try membership(of: element, inComputed: list, comparison)
            }
            if let elements = listElements(of: value) {
                return try membership(of: element, inList: elements, comparison)
            }
            return try substring(element, of: whole, comparison)
        case .value: return try substring(element, of: whole, comparison)
        case .object, .composite: throw unimplemented(comparison, "RHS")
        }
    }

    /// A text within a text.
    private func substring(
        _ part: Operand, of text: Operand, _ comparison: ComparisonNode
    ) throws -> SQLFragment {
        if case .collection = part { throw unsupported("to-many key not allowed here", comparison) }
        var test = comparison
        test.operator = .contains
        guard try sql(text, as: .text) != nil, try sql(part, as: .text) != nil else {
            throw unimplemented(comparison, comparison.operator == .contains ? "LHS" : "RHS")
        }
        return try textTest(text, test, part)
    }

    private func membership(
        of element: Operand, inComputed list: ExpressionList, _ comparison: ComparisonNode
    ) throws -> SQLFragment {
        var equality = comparison
        equality.operator = .equalTo
        let tests = try list.elements.map { node -> SQLFragment in
            let listed = try operand(node, list.context)
            // What is decided here is decided of these two, not of the whole list.
            if case .constant(let value) = element, case .constant(let other) = listed {
                (equality.left, equality.right) = (.constant(value), .constant(other))
            }
            // A text is an identifier where the predicate compares with it, not among others.
            if case .value(_, .uuid) = element, case .constant(let other) = listed,
                plainConstant(other) is String
            {
                return "0"
            }
            return try compare(element, equality, listed, list.context)
        }
        return .tree(tests, "OR", empty: "0")
    }

    // MARK: Lists of constants

    private func membership(
        of element: Operand, inList elements: [Any?], _ comparison: ComparisonNode
    ) throws -> SQLFragment {
        let plain = elements.map(plainConstant)
        let hasNull = plain.contains { $0 == nil }
        var values: [SQLiteValue]
        var tested: SQLFragment
        switch element {
        case .collection: throw unsupported("to-many key not allowed here", comparison)
        case .constant, .composite: throw unimplemented(comparison, "LHS")
        case .object(let key, let layout):
            tested = key
            values = plain.compactMap { value in
                (value as? RowID).flatMap { sharesTree($0.entity, layout) ? .integer($0.key) : nil }
            }
            if values.isEmpty, !hasNull, plain.contains(where: { !($0 is RowID) }) {
                throw unimplemented(comparison, "RHS")
            }
        case .value(let sql, .data(isMarked: true)):
            return membership(ofMarked: sql, inList: plain)
        case .value(let sql, let kind):
            tested = sql
            values = plain.filter { $0 != nil }.compactMap { Self.encodeListed($0, as: kind) }
            if kind.isText, !comparison.options.isEmpty, !comparison.options.contains(.normalized) {
                let options = SQLiteValue.integer(Int64(comparison.options.rawValue))
                tested = "\(name: TextFunctions.fold)(\(sql), \(value: options))"
                values = values.compactMap(\.string).map {
                    .text(TextRules.folded($0, comparison.options))
                }
            }
        }
        let found = values.isEmpty ? "0" : "\(tested) IN \(list(values))" as SQLFragment
        return hasNull ? "(\(found) OR \(tested) IS NULL)" : found
    }

    /// A list's element beside a value of this kind. Numbers are texts and texts numbers where they
    /// spell them, by the rule of evaluation in memory; nothing else is listed as what it is not.
    private static func encodeListed(_ value: Any?, as kind: ValueKind) -> SQLiteValue? {
        if let encoded = encode(value, as: kind) { return encoded }
        switch (kind, Self.kind(of: value)) {
        case (.text, .number):
            return Cast.plain(value, as: "NSString").flatMap { encode($0, as: kind) }
        case (.number, .text):
            return Cast.plain(value, as: "NSNumber").flatMap { encode($0, as: kind) }
        case (.number, _), (.text, _), (.date, _), (.uuid, _), (.uri, _), (.data, _), (.entity, _):
            return nil
        }
    }

    /// Membership of a column that may refer to a file.
    private func membership(ofMarked column: SQLFragment, inList plain: [Any?]) -> SQLFragment {
        let values = plain.compactMap { $0 as? Data }
        let inline = values.map { SQLiteValue.blob(Data([ValueCoding.inlineMarker]) + $0) }
        var found: SQLFragment = "0"
        if !values.isEmpty {
            let plain = list(values.map { .blob($0) })
            found = """
                (\(column) IN \(list(inline)) OR (\(isElsewhere(column)) \
                AND \(name: ExternalFunctions.value)(\(column)) IN \(plain)))
                """
        }
        return plain.contains { $0 == nil } ? "(\(found) OR \(column) IS NULL)" : found
    }

    /// The values as parameters, or as a temporary table where they are many.
    private func list(_ values: [SQLiteValue]) -> SQLFragment {
        guard values.count > Self.parametersMax else {
            return "(\(SQLFragment.list(values.map { "\(value: $0)" })))"
        }
        longLists.append(values)
        return "(SELECT value FROM temp.\(name: LongLists.name(longLists.count - 1)))"
    }

    private static let parametersMax = 500
}

/// Temporary tables that hold the long lists of one query.
enum LongLists {
    static func name(_ index: Int) -> String { "diptych_list_\(index)" }

    /// Writes the lists, runs `body`, and removes them.
    static func with<Result>(
        _ lists: [[SQLiteValue]], on connection: Connection, _ body: () throws -> Result
    ) throws -> Result {
        guard !lists.isEmpty else { return try body() }
        for (index, list) in lists.enumerated() {
            try connection.run(
                "CREATE TEMP TABLE IF NOT EXISTS \(name(index)) (value PRIMARY KEY) WITHOUT ROWID")
            try connection.run("DELETE FROM temp.\(name(index))")
            let insertion = try connection.prepare(
                "INSERT OR IGNORE INTO temp.\(name(index)) VALUES (?)")
            for value in list {
                try insertion.bind(value, at: 1)
                try insertion.perform()
            }
        }
        let result = try body()
        for index in lists.indices { try connection.run("DELETE FROM temp.\(name(index))") }
        return result
    }
}
