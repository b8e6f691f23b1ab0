internal import Foundation
internal import Platform
internal import Predicates
internal import SQLiteDriver
internal import Stores

/// Turns a predicate tree into a SQL condition.
///
/// Missing values follow SQL: only `== nil` and `!= nil` find or leave out rows by them, and any
/// other comparison with a missing value does not hold, not even `!=`. Throws `.unsupported` for
/// what has no SQL, in the words of Apple's messages where there are such.
final class PredicateCompiler {
    let schema: StoreSchema
    let names: AliasNames
    let platform: Environment
    /// Lists that are too long for parameters: written to temporary tables before the query runs.
    var longLists: [[SQLiteValue]] = []

    init(schema: StoreSchema, names: AliasNames, platform: Environment) {
        self.schema = schema
        self.names = names
        self.platform = platform
    }

    /// Where expressions stand: the evaluated rows, and the rows that variables of subqueries stand
    /// for.
    struct Context {
        var scope: QueryScope
        var variables: [String: QueryScope] = [:]
    }

    /// The condition for which rows are found. It may be false where it is open, by a missing
    /// value, so that it is not to be negated.
    func condition(_ node: PredicateNode, _ context: Context) throws -> SQLFragment {
        let nesting = PredicateNesting(node)
        guard nesting.levels > Self.levelsMax else { return try asRead(node, context) }
        let parts = node.isConjunction ? nesting.parts : [nesting]
        let conditions = try parts.map { part in
            part.levels > Self.levelsMax
                ? try decision(part, context) : try asRead(part.node, context)
        }
        return .tree(conditions, "AND", empty: "1")
    }

    /// The condition as it is read, parentheses for parentheses.
    func asRead(_ node: PredicateNode, _ context: Context) throws -> SQLFragment {
        switch node {
        case .constant(let isTrue): return isTrue ? "1" : "0"
        case .and:
            return .tree(try node.conjuncts.map { try asRead($0, context) }, "AND", empty: "1")
        case .or:
            return .tree(try node.disjuncts.map { try asRead($0, context) }, "OR", empty: "0")
        case .not(let part): return "NOT (\(try asRead(part, context)))"
        case .comparison(let comparison): return try condition(comparison, context)
        case .opaque:
            throw unsupported("Problem with subpredicate \(node.description)")
        }
    }

    private func condition(
        _ comparison: ComparisonNode, _ context: Context
    ) throws -> SQLFragment {
        if let parts = comparison.membershipInParts { return try asRead(parts, context) }
        let left = try operand(comparison.left, context)
        switch comparison.modifier {
        case .direct:
            let right = try operand(comparison.right, context)
            return try compare(left, comparison, right, context)
        case .any:
            return try exists(members(left, comparison)) { member, _ in
                let right = try self.operand(comparison.right, context)
                return try self.compare(member, comparison, right, context)
            }
        case .all:
            let failing = try exists(members(left, comparison)) { member, _ in
                let right = try self.operand(comparison.right, context)
                return "(\(try self.compare(member, comparison, right, context))) IS NOT TRUE"
            }
            return "NOT \(failing)"
        }
    }

    private func members(_ operand: Operand, _ comparison: ComparisonNode) throws -> MemberSource {
        if case .collection(let collection) = operand { return collection }
        throw unsupported(
            "The left hand side for an ALL or ANY operator must be a to-many key", comparison)
    }

    // MARK: Failures

    func unsupported(_ text: String) -> StoreError { StoreError(.unsupported, text) }

    func unsupported(_ text: String, _ comparison: ComparisonNode) -> StoreError {
        StoreError(
            .unsupported, text, fields: ["operator": comparison.operator.word])
    }

    func unimplemented(_ comparison: ComparisonNode, _ side: String) -> StoreError {
        unsupported(
            "unimplemented SQL generation for predicate : (\(comparison.description)) "
                + "(bad \(side))",
            comparison)
    }

    func unknownKey(_ key: String, _ layout: EntityLayout) -> StoreError {
        StoreError(
            .unsupported, "keypath \(key) not found in entity \(layout.name)",
            fields: ["entity": layout.name, "key": key])
    }
}
