internal import Foundation
internal import ObjectModel
internal import Predicates

/// Reads the predicate of a request by the model, as a database would and as apps count on: a text
/// beside an attribute that is a number is the number it spells (`serial == '5'`), and ANY of one
/// value is that value (`ANY name IN …`). A path from a constant is what it leads to
/// (`age > %@.age`). It is done before any store or object is asked, so that all of them find the
/// same.
struct RequestReading {
    private let paths: PathEnds

    init(of entity: NSEntityDescription) { paths = PathEnds(from: entity) }

    private init(_ paths: PathEnds) { self.paths = paths }

    /// The predicate as it is meant. Lists that IN searches stay: there texts are numbers anyway.
    func read(_ node: PredicateNode) -> PredicateNode {
        switch node {
        case .constant, .opaque: node
        case .and(let parts): .and(parts.map(read))
        case .or(let parts): .or(parts.map(read))
        case .not(let part): .not(read(part))
        case .comparison(let comparison): .comparison(read(comparison))
        }
    }

    private func read(_ comparison: ComparisonNode) -> ComparisonNode {
        var made = comparison
        made.left = read(comparison.left)
        made.right = read(comparison.right)
        if made.modifier != .direct, paths.leadToOneValue(made.left) { made.modifier = .direct }
        switch comparison.operator {
        case .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan,
            .greaterThanOrEqualTo, .between:
            if let type = number(comparison.left) { made.right = spelled(made.right, type) }
            if let type = number(comparison.right) { made.left = spelled(made.left, type) }
        case .matches, .like, .beginsWith, .endsWith, .in, .customSelector, .contains: break
        }
        return made
    }

    /// Conditions within the expression, and paths from constants.
    private func read(_ node: ExpressionNode) -> ExpressionNode {
        if case .path(from: .constant, _) = node {
            // What cannot be read is left for the store to refuse.
            do { return .constant(try value(of: node, with: nil)) } catch { return node }
        }
        guard case .subquery(let collection, let variable, let predicate) = node else {
            return node.mapChildren(read, read)
        }
        let inner = RequestReading(paths.within(collection, variable))
        return .subquery(
            collection: read(collection), variable: variable, predicate: inner.read(predicate))
    }

    // MARK: Numbers

    /// The type of the attribute that an expression reads, where it is a number's.
    private func number(_ node: ExpressionNode) -> NSAttributeType? {
        guard let type = paths.attribute(node)?.attributeType else { return nil }
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
            .doubleAttributeType, .floatAttributeType, .decimalAttributeType,
            .booleanAttributeType:
            return type
        default: return nil
        }
    }

    /// A constant, or a list of some, with numbers; anything else as it is.
    private func spelled(_ node: ExpressionNode, _ type: NSAttributeType) -> ExpressionNode {
        switch node {
        case .constant(let value):
            guard let elements = listElements(of: value) else {
                return .constant(spelled(value, type))
            }
            return .constant(elements.map { spelled($0, type) ?? NSNull() as Any })
        case .aggregate(let elements): return .aggregate(elements.map { spelled($0, type) })
        default: return node
        }
    }

    private func spelled(_ value: Any?, _ type: NSAttributeType) -> Any? {
        guard let text = plainConstant(value) as? String,
            let number = Cast.plain(text, as: "NSNumber"), (number as? Double)?.isNaN != true
        else { return value }
        // A decimal is exactly what is written.
        return type == .decimalAttributeType
            ? Cast.plain(text, as: "NSDecimalNumber") ?? number : number
    }
}
