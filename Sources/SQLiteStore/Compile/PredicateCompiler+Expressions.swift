internal import Foundation
internal import Predicates
internal import SQLiteDriver
internal import Stores

extension PredicateCompiler {
    func operand(_ expression: ExpressionNode, _ context: Context) throws -> Operand {
        switch expression {
        case .constant(let value):
            return (value as? CompiledPart)?.operand ?? .constant(value)
        case .evaluatedObject:
            return .object("\(name: context.scope.alias).Z_PK", context.scope.layout)
        case .keyPath(let path): return try resolve(path, from: context.scope, context.variables)
        case .variable(let name):
            let scope = try self.scope(of: name, context)
            return .object("\(name: scope.alias).Z_PK", scope.layout)
        case .path(from: let base, let path): return try operand(base, path, context)
        case .function(let name, let arguments): return try call(name, arguments, context)
        case .aggregate(let elements): return try list(elements, context)
        case .subquery(let collection, let variable, let predicate):
            return .collection(try subquery(collection, variable, predicate, context))
        case .conditional(let test, let yes, let no):
            return try conditional(test, yes, no, context)
        case .unionSet(let a, let b), .intersectSet(let a, let b), .minusSet(let a, let b):
            guard try operand(a, context).isConstant, try operand(b, context).isConstant else {
                throw unsupported("Unsupported set expression \(expression.description)")
            }
            return .constant(
                try Predicates.value(of: expression, with: nil, platform: platform))
        }
    }

    private func scope(of variable: String, _ context: Context) throws -> QueryScope {
        guard let scope = context.variables[variable] else {
            throw unsupported("The variable $\(variable) has no value; substitute one")
        }
        return scope
    }

    private func operand(
        _ base: ExpressionNode, _ path: [String], _ context: Context
    ) throws -> Operand {
        switch base {
        case .evaluatedObject: return try resolve(path, from: context.scope, context.variables)
        case .variable(let name):
            return try resolve(path, from: scope(of: name, context), context.variables)
        case .subquery(let collection, let variable, let predicate):
            var found = try subquery(collection, variable, predicate, context)
            found.path += path
            return try reduce(found)
        case .function(FunctionName.index, let arguments):
            if let found = try element(arguments, then: path, context) { return found }
        default: break
        }
        throw unsupported("Unsupported function expression \(base.description)")
    }

    private func subquery(
        _ collection: ExpressionNode, _ variable: String, _ predicate: PredicateNode,
        _ context: Context
    ) throws -> MemberSource {
        guard case .collection(var found) = try operand(collection, context), found.path.isEmpty
        else { throw unsupported("SUBQUERY needs a to-many relationship") }
        found.filters.append((predicate, variable))
        found.variables = context.variables
        return found
    }

    /// A list of constants stays one; otherwise each element is computed where the list is used.
    private func list(_ elements: [ExpressionNode], _ context: Context) throws -> Operand {
        var constants: [Any?] = []
        for element in elements {
            guard case .constant(let value) = try operand(element, context) else {
                return .constant(ExpressionList(elements: elements, context: context))
            }
            constants.append(value)
        }
        return .constant(constants)
    }

    /// What else would nest in ELSE goes on as one list, of any length.
    private func conditional(
        _ test: PredicateNode, _ yes: ExpressionNode, _ no: ExpressionNode, _ context: Context
    ) throws -> Operand {
        var (branches, last) = ([(test, yes)], no)
        while case .conditional(let test, let yes, let no) = last {
            branches.append((test, yes))
            last = no
        }
        let tests = try branches.map { try condition($0.0, context) }
        let results = try (branches.map(\.1) + [last]).map { unmarked(try operand($0, context)) }
        let kind = results.lazy.compactMap { self.kind(of: $0) }.first ?? .number
        let values = try results.map { result in
            guard let value = try sql(result, as: kind) else {
                throw unsupported("Unsupported TERNARY: both results must be of one kind")
            }
            return value
        }
        let cases = zip(tests, values).map { "WHEN \($0) THEN \($1)" as SQLFragment }
        let chosen: SQLFragment =
            "CASE \(SQLFragment.list(cases, " ")) ELSE \(values[values.count - 1]) END"
        return .value(chosen.fraction(values.contains(where: \.isFraction)), kind)
    }

    // MARK: Operands as SQL

    /// The kind of a single value; nil for a missing one, rows and collections.
    func kind(of operand: Operand) -> ValueKind? {
        switch operand {
        case .value(_, let kind): kind
        case .constant(let value): Self.kind(of: value)
        case .object, .composite, .collection: nil
        }
    }

    static func kind(of constant: Any?) -> ValueKind? {
        switch plainConstant(constant) {
        case is Bool, is Int, is Double, is Decimal: .number
        case is String: .text
        case is Date: .date
        case is UUID: .uuid
        case is URL: .uri
        case is Data: .data(isMarked: false)
        case is RowEntity: .entity
        default: nil
        }
    }

    /// The operand as the SQL of a value of this kind; nil when it is of another kind.
    func sql(_ operand: Operand, as kind: ValueKind) throws -> SQLFragment? {
        switch operand {
        case .value(let sql, let found):
            if found == kind || (found.isText && kind.isText) { return sql }
            return nil
        case .constant(let value):
            if value is ExpressionList { return nil }
            let isFraction = plainConstant(value) is Decimal
            return Self.encode(value, as: kind).map {
                $0.isNull ? "NULL" : ("\(value: $0)" as SQLFragment).fraction(isFraction)
            }
        case .object, .composite, .collection: return nil
        }
    }

    /// A constant as it is bound beside a value of this kind; nil when it is of another kind.
    static func encode(_ constant: Any?, as kind: ValueKind) -> SQLiteValue? {
        let value = plainConstant(constant)
        if value == nil { return .null }
        switch kind {
        case .number:
            switch value {
            case let flag as Bool: return .integer(flag ? 1 : 0)
            case let number as Int: return .integer(Int64(number))
            case let number as Double: return .real(number)
            case let number as Decimal: return ValueCoding.encode(.decimal(number), as: .decimal)
            default: return nil
            }
        case .text, .uri:
            switch value {
            case let text as String: return .text(text)
            case let url as URL: return .text(url.absoluteString)
            default: return nil
            }
        case .date: return (value as? Date).map { .real($0.timeIntervalSinceReferenceDate) }
        case .uuid:
            let uuid = value as? UUID ?? (value as? String).flatMap { UUID(uuidString: $0) }
            return uuid.flatMap { ValueCoding.encode(.uuid($0), as: .uuid) }
        case .entity: return (value as? RowEntity).map { .integer(Int64($0.number)) }
        case .data(let isMarked):
            return (value as? Data).flatMap {
                ValueCoding.encode(.data($0), as: .binary(external: isMarked))
            }
        }
    }
}

/// A list with elements that are computed, and where they stand.
struct ExpressionList {
    var elements: [ExpressionNode]
    var context: PredicateCompiler.Context
}
