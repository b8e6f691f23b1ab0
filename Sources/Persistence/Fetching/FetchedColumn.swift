internal import Foundation
internal import ObjectModel
internal import Predicates
internal import Stores

/// One value of a fetch's dictionaries: what it is computed from, and the type it is given as.
struct FetchedColumn {
    /// Its key in the dictionaries.
    var name: String
    /// Of a composite attribute: the way to the element, which stands in a dictionary of its own,
    /// as do the elements of each composite within.
    var element: [String]
    var expression: ExpressionNode
    var type: NSAttributeType
    /// The attribute whose values these are.
    var attribute: NSAttributeDescription?

    init(
        name: String, element: [String] = [], expression: ExpressionNode, type: FetchedColumnType
    ) {
        self.name = name
        self.element = element
        self.expression = expression
        self.type = type.type
        attribute = type.attribute
    }

    /// The value as a program reads it; nil for a missing one. `id` makes an ID of a row.
    func present(_ value: Any?, id: (RowID) -> NSManagedObjectID) -> Any? {
        guard let value else { return nil }
        if let row = value as? RowID { return id(row) }
        if let attribute, attribute.attributeType == .transformableAttributeType {
            guard let data = value as? Data else { return value }
            return AttributeCoding.present(.data(data), for: attribute)
        }
        return PresentedValue.present(value, as: type)
    }
}

/// What kind of value an expression has.
struct FetchedColumnType {
    var type: NSAttributeType = .undefinedAttributeType
    var attribute: NSAttributeDescription?

    init(_ type: NSAttributeType) { self.type = type }

    init(_ attribute: NSAttributeDescription) {
        type = attribute.attributeType
        self.attribute = attribute
    }

    /// The type that follows from an expression's parts; undefined where none does.
    init(of node: ExpressionNode, in entity: NSEntityDescription) {
        if let call = AggregateCalls(of: entity).call(node) {
            let argument = FetchedColumnType(of: call.argument, in: entity)
            switch call.function {
            case .count: self.init(.integer64AttributeType)
            case .sum, .minimum, .maximum: self = argument
            case .average:
                let isDecimal = argument.type == .decimalAttributeType
                self.init(isDecimal ? .decimalAttributeType : .doubleAttributeType)
            }
            return
        }
        switch node {
        case .evaluatedObject: self.init(.objectIDAttributeType)
        case .keyPath(let path):
            self = PropertyPath(path, from: entity)?.type ?? .init(.undefinedAttributeType)
        case .function(FunctionName.add, let parts), .function(FunctionName.subtract, let parts),
            .function(FunctionName.multiply, let parts), .function(FunctionName.divide, let parts):
            let types = parts.map { FetchedColumnType(of: $0, in: entity).type }
            let isDecimal = types.contains(.decimalAttributeType)
            self.init(isDecimal ? .decimalAttributeType : .undefinedAttributeType)
        default: self.init(.undefinedAttributeType)
        }
    }
}

/// The property at the end of a path from an entity.
struct PropertyPath {
    let property: NSPropertyDescription
    /// Whether a to-many relationship is on the way, or at its end.
    let leadsToMany: Bool
    /// The path's last element where it names an element of a composite attribute.
    let attribute: NSAttributeDescription?

    init?(_ path: [String], from entity: NSEntityDescription) {
        var here: NSEntityDescription? = entity
        var isMany = false
        for (place, name) in path.enumerated() {
            guard let property = here?.propertiesByName[name] else { return nil }
            if let relationship = property as? NSRelationshipDescription {
                isMany = isMany || relationship.isToMany
                if place == path.count - 1 {
                    (self.property, leadsToMany, attribute) = (property, isMany, nil)
                    return
                }
                here = relationship.destinationEntity
                continue
            }
            guard let found = Self.element(path[(place + 1)...], of: property) else { return nil }
            self.property = property
            leadsToMany = isMany
            attribute = found as? NSAttributeDescription
            return
        }
        return nil
    }

    private static func element(
        _ path: ArraySlice<String>, of property: NSPropertyDescription
    ) -> NSPropertyDescription? {
        guard let name = path.first else { return property }
        let elements = (property as? NSCompositeAttributeDescription)?.elements ?? []
        return elements.first { $0.name == name }.flatMap { element(path.dropFirst(), of: $0) }
    }

    var type: FetchedColumnType {
        if let attribute { return FetchedColumnType(attribute) }
        return FetchedColumnType(
            property is NSRelationshipDescription
                ? .objectIDAttributeType : .undefinedAttributeType)
    }
}

/// Computed values as programs read them.
enum PresentedValue {
    /// The plain value as one of the type; as it is where it cannot be one.
    static func present(_ value: Any, as type: NSAttributeType) -> Any {
        let value = plainConstant(value) ?? value
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            return whole(value).map { NSNumber(value: $0) } ?? natural(value)
        case .booleanAttributeType:
            return real(value).map { truth($0 != 0) } ?? natural(value)
        case .doubleAttributeType:
            return real(value).map { NSNumber(value: $0) } ?? natural(value)
        case .floatAttributeType:
            return real(value).map { NSNumber(value: Double(Float($0))) } ?? natural(value)
        case .decimalAttributeType:
            return decimal(value).map { NSDecimalNumber(decimal: $0) } ?? natural(value)
        case .dateAttributeType:
            if value is Date { return value }
            return real(value).map { Date(timeIntervalSinceReferenceDate: $0) } ?? natural(value)
        case .stringAttributeType:
            return value is String || !isNumber(value) ? natural(value) : "\(value)"
        default: return natural(value)
        }
    }

    private static func natural(_ value: Any) -> Any {
        switch value {
        case let value as Bool: truth(value)
        case let value as Int: NSNumber(value: value)
        case let value as Double: NSNumber(value: value)
        case let value as Decimal: NSDecimalNumber(decimal: value)
        default: value
        }
    }

    /// Foundation's dictionaries give a Boolean out as Swift's, which no cast makes a number; a
    /// number of 0 or 1 is cast to either.
    private static func truth(_ value: Bool) -> NSNumber { NSNumber(value: Int8(value ? 1 : 0)) }

    private static func isNumber(_ value: Any) -> Bool { real(value) != nil && !(value is Date) }

    private static func whole(_ value: Any) -> Int64? {
        if let integer = value as? Int { return Int64(integer) }
        guard let number = real(value) else { return nil }
        let cut = number.rounded(.towardZero)
        return Int64(exactly: cut) ?? (cut.isNaN ? 0 : (cut < 0 ? .min : .max))
    }

    private static func real(_ value: Any) -> Double? {
        switch value {
        case let value as Bool: value ? 1 : 0
        case let value as Int: Double(value)
        case let value as Double: value
        case let value as Decimal: value.nearestReal
        case let value as Date: value.timeIntervalSinceReferenceDate
        default: nil
        }
    }

    /// The shortest text of a real is what was meant. Nil for a real that no decimal can be.
    private static func decimal(_ value: Any) -> Decimal? {
        switch value {
        case let value as Decimal: value
        case let value as Int: Decimal(value)
        case let value as Double: Decimal(string: "\(value)") ?? ExactNumber.decimal(value)
        default: real(value).flatMap { ExactNumber.decimal($0) }
        }
    }
}
