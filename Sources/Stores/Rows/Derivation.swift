internal import Foundation
public import ObjectModel
internal import Predicates

/// What a derived attribute is computed from. Source: Apple, NSDerivedAttributeDescription.
public enum Derivation: Hashable, Sendable {
    /// Functions of a text.
    public enum TextFunction: String, Sendable {
        /// Without regard to case and accents.
        case canonical = "canonical:"
        /// In capitals, by the rules of no language in particular.
        case uppercase = "uppercase:"
        /// In small letters, by the rules of no language in particular.
        case lowercase = "lowercase:"
    }

    /// Functions of a relationship's members. Apple documents count and sum; the others follow.
    public enum Aggregate: String, Sendable {
        /// How many members there are; 0 for none.
        case count = "count:"
        /// The sum of the members' values; 0 for none.
        case sum = "sum:"
        /// The least of the members' values; nil for none.
        case minimum = "min:"
        /// The greatest of the members' values; nil for none.
        case maximum = "max:"
        /// The mean of the members' values; nil for none.
        case average = "average:"
    }

    /// The moment of the save that writes the row.
    case now
    /// A text of the same row.
    case text(TextFunction, attribute: String)
    /// A value of the row that a to-one relationship leads to.
    case path(relationship: String, attribute: String)
    /// A value over the members of a to-many relationship; a count names no attribute.
    case aggregate(Aggregate, relationship: String, attribute: String?)

    /// Reads an attribute's expression. Throws `StoreError` `.unsupported`, which names entity,
    /// attribute and the forms that work, for an expression of another form or over properties that
    /// are not there. Cost: O(length of the expression), in memory.
    public init(of derived: NSDerivedAttributeDescription, in entity: EntityLayout) throws {
        let reader = DerivationReader(derived: derived, entity: entity)
        self = try reader.derivation()
    }
}

/// Reads one attribute's expression and says what is wrong with it.
private struct DerivationReader {
    let derived: NSDerivedAttributeDescription
    let entity: EntityLayout

    func derivation() throws -> Derivation {
        guard let text = derived.derivationExpressionText, !text.isEmpty else {
            throw refusal("it has no derivation expression")
        }
        guard let node = try? NSExpression.parse(text).node.normalized else {
            throw refusal("its expression cannot be read")
        }
        switch node {
        case .keyPath(let path): return try derivation(ofPath: path)
        case .function("now", _):
            guard derived.attributeType == .dateAttributeType else {
                throw refusal("only a date can be derived from now()")
            }
            return .now
        case .function(let name, let arguments):
            guard arguments.count == 1, case .keyPath(let path) = arguments[0] else { break }
            if let function = Derivation.TextFunction(rawValue: name) {
                return try derivation(of: function, over: path)
            }
            if let aggregate = Derivation.Aggregate(rawValue: name) {
                return try derivation(of: aggregate, over: path)
            }
        default: break
        }
        throw refusal("its expression is of no form that a store derives")
    }

    private func derivation(ofPath path: [String]) throws -> Derivation {
        guard let place = path.firstIndex(where: { $0.hasPrefix("@") }) else {
            guard path.count == 2 else {
                throw refusal("a path leads over one to-one relationship to an attribute")
            }
            let destination = try self.destination(of: path[0], isToMany: false)
            return .path(
                relationship: path[0], attribute: try attribute(path[1], of: destination))
        }
        guard place == path.count - 1 else {
            throw refusal("its key path uses an operator as an intermediate component")
        }
        let names = ["@avg": "average:"]
        let name = names[path[place]] ?? "\(path[place].dropFirst()):"
        guard let aggregate = Derivation.Aggregate(rawValue: name) else {
            throw refusal("no store derives by the operator \(path[place])")
        }
        return try derivation(of: aggregate, over: Array(path.dropLast()))
    }

    private func derivation(
        of aggregate: Derivation.Aggregate, over path: [String]
    ) throws -> Derivation {
        guard path.count == (aggregate == .count ? 1 : 2) else {
            throw refusal(
                aggregate == .count
                    ? "a count is over a to-many relationship"
                    : "an aggregate is over an attribute of a to-many relationship's members")
        }
        let destination = try destination(of: path[0], isToMany: true)
        guard aggregate != .count else {
            return .aggregate(.count, relationship: path[0], attribute: nil)
        }
        let source = try attribute(path[1], of: destination)
        let type = destination.attributesByName[source]?.attributeType ?? .undefinedAttributeType
        try check(aggregate, of: type)
        return .aggregate(aggregate, relationship: path[0], attribute: source)
    }

    private static let wholes: Set<NSAttributeType> = [
        .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
        .booleanAttributeType,
    ]
    private static let fractions: Set<NSAttributeType> = [
        .doubleAttributeType, .floatAttributeType, .decimalAttributeType,
    ]

    /// Whether the attribute can keep an aggregate of values of `type`.
    private func check(_ aggregate: Derivation.Aggregate, of type: NSAttributeType) throws {
        let numbers = Self.wholes.union(Self.fractions)
        let isNumber = numbers.contains(type) && numbers.contains(derived.attributeType)
        switch aggregate {
        case .count: break
        case .sum: guard isNumber else { throw refusal("a sum is of numbers, in a number") }
        case .average:
            guard isNumber, Self.fractions.contains(derived.attributeType) else {
                throw refusal("an average is of numbers, in a Double, Float or Decimal")
            }
        case .minimum, .maximum:
            guard isNumber || type == derived.attributeType else {
                throw refusal("the least or greatest value is of the type of the values")
            }
        }
    }

    private func derivation(
        of function: Derivation.TextFunction, over path: [String]
    ) throws -> Derivation {
        guard path.count == 1, derived.attributeType == .stringAttributeType else {
            throw refusal("a text is derived from a text attribute of the same entity")
        }
        let source = try attribute(path[0], of: entity.entity)
        guard entity.entity.attributesByName[source]?.attributeType == .stringAttributeType else {
            throw refusal("a text is derived from a text attribute of the same entity")
        }
        return .text(function, attribute: source)
    }

    // MARK: Parts

    private func destination(of name: String, isToMany: Bool) throws -> NSEntityDescription {
        guard let relationship = entity.entity.relationshipsByName[name],
            let destination = relationship.destinationEntity
        else { throw refusal("the entity has no relationship “\(name)”") }
        guard relationship.isToMany == isToMany else {
            throw refusal("the relationship “\(name)” is \(isToMany ? "to-one" : "to-many")")
        }
        return destination
    }

    private func attribute(_ name: String, of entity: NSEntityDescription) throws -> String {
        let owner = entity.name ?? ""
        guard let attribute = entity.attributesByName[name], !attribute.isTransient else {
            throw refusal("the entity “\(owner)” has no stored attribute “\(name)”")
        }
        guard !(attribute is NSDerivedAttributeDescription) else {
            throw refusal("“\(owner).\(name)” is derived itself")
        }
        return name
    }

    private func refusal(_ reason: String) -> StoreError {
        StoreError(
            .unsupported,
            "“\(entity.name).\(derived.name)” cannot be derived: \(reason). Forms that work: "
                + "relationship.attribute over a to-one relationship; relationship.@count, "
                + "relationship.attribute.@sum, .@min, .@max or .@avg over a to-many one; "
                + "canonical:(attribute), uppercase:(attribute), lowercase:(attribute); now().",
            fields: [
                "entity": entity.name, "attribute": derived.name,
                "derivation": derived.derivationExpressionText ?? "",
            ])
    }
}

extension Derivation.TextFunction {
    /// The text as the function makes it.
    public func applied(to text: String) -> String {
        switch self {
        case .canonical: TextRules.folded(text, [.caseInsensitive, .diacriticInsensitive])
        case .uppercase: text.uppercased()
        case .lowercase: text.lowercased()
        }
    }
}
