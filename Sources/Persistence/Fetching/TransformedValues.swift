internal import ObjectModel
internal import Predicates

/// Finds predicates that look into values which only a transformer reads. A database has their
/// archives, and compares bytes; objects compare what stands in them, and two archives of one value
/// may differ. So such predicates are evaluated on objects, whatever the store.
struct TransformedValues {
    private let entity: NSEntityDescription
    private var variables: [String: NSEntityDescription] = [:]

    init(of entity: NSEntityDescription) { self.entity = entity }

    /// Whether one is compared with anything but nil. Cost: O(parts of the predicate).
    func areTested(by node: PredicateNode) -> Bool {
        switch node {
        case .constant, .opaque: return false
        case .not(let part): return areTested(by: part)
        case .and(let parts), .or(let parts): return parts.contains { areTested(by: $0) }
        case .comparison(let comparison):
            let (left, right) = (comparison.left, comparison.right)
            if left.isNothing || right.isNothing {
                return areTested(within: left) || areTested(within: right)
            }
            return areTested(by: left) || areTested(by: right)
        }
    }

    private func areTested(by node: ExpressionNode) -> Bool {
        switch node {
        case .keyPath(let path): isTransformed(path[...], from: entity)
        case .path(from: let origin, let path):
            areTested(within: node)
                || end(of: origin).map { isTransformed(path[...], from: $0) } == true
        default: areTested(within: node)
        }
    }

    /// The same of the parts of an expression, without what it leads to.
    private func areTested(within node: ExpressionNode) -> Bool {
        switch node {
        case .constant, .evaluatedObject, .keyPath, .variable: return false
        case .path(from: let origin, _): return areTested(within: origin)
        case .function(_, let parts), .aggregate(let parts):
            return parts.contains { areTested(by: $0) }
        case .subquery(let collection, let variable, let predicate):
            var inner = self
            inner.variables[variable] = end(of: collection)
            return areTested(within: collection) || inner.areTested(by: predicate)
        case .conditional(let test, let yes, let no):
            return areTested(by: test) || areTested(by: yes) || areTested(by: no)
        case .unionSet(let a, let b), .intersectSet(let a, let b), .minusSet(let a, let b):
            return areTested(by: a) || areTested(by: b)
        }
    }

    // MARK: Where paths lead

    /// The entity of the object or the members that an expression is; nil where it is none.
    private func end(of node: ExpressionNode) -> NSEntityDescription? {
        switch node {
        case .evaluatedObject: entity
        case .variable(let name): variables[name]
        case .keyPath(let path): end(of: path[...], from: entity)
        case .path(from: let origin, let path):
            end(of: origin).flatMap { end(of: path[...], from: $0) }
        case .subquery(let collection, _, _): end(of: collection)
        case .function(FunctionName.index, let parts): parts.first.flatMap(end)
        default: nil
        }
    }

    private func end(
        of path: ArraySlice<String>, from entity: NSEntityDescription
    ) -> NSEntityDescription? {
        path.reduce(entity) { entity, name in
            (entity?.propertiesByName[name] as? NSRelationshipDescription)?.destinationEntity
        }
    }

    private func isTransformed(
        _ path: ArraySlice<String>, from entity: NSEntityDescription
    ) -> Bool {
        guard let name = path.last, let owner = end(of: path.dropLast(), from: entity),
            let attribute = owner.propertiesByName[name] as? NSAttributeDescription
        else { return false }
        return attribute.attributeType == .transformableAttributeType
    }
}

extension ExpressionNode {
    /// Whether it is the constant nil.
    fileprivate var isNothing: Bool {
        if case .constant(let value) = self { plainConstant(value) == nil } else { false }
    }
}
