/// The kind of value an attribute holds. Raw values are Apple's. Source: Apple, NSAttributeType.
public enum NSAttributeType: UInt, Sendable, CaseIterable {
    case undefinedAttributeType = 0
    case integer16AttributeType = 100
    case integer32AttributeType = 200
    case integer64AttributeType = 300
    case decimalAttributeType = 400
    case doubleAttributeType = 500
    case floatAttributeType = 600
    case stringAttributeType = 700
    case booleanAttributeType = 800
    case dateAttributeType = 900
    case binaryDataAttributeType = 1000
    case UUIDAttributeType = 1100
    case URIAttributeType = 1200
    case transformableAttributeType = 1800
    case objectIDAttributeType = 2000
    case compositeAttributeType = 2100
}

extension NSAttributeType {
    /// The type's name in a model file; nil for types that model files cannot hold.
    package var fileName: String? {
        switch self {
        case .undefinedAttributeType: "Undefined"
        case .integer16AttributeType: "Integer 16"
        case .integer32AttributeType: "Integer 32"
        case .integer64AttributeType: "Integer 64"
        case .decimalAttributeType: "Decimal"
        case .doubleAttributeType: "Double"
        case .floatAttributeType: "Float"
        case .stringAttributeType: "String"
        case .booleanAttributeType: "Boolean"
        case .dateAttributeType: "Date"
        case .binaryDataAttributeType: "Binary"
        case .UUIDAttributeType: "UUID"
        case .URIAttributeType: "URI"
        case .transformableAttributeType: "Transformable"
        case .compositeAttributeType: "Composite"
        case .objectIDAttributeType: "Object ID"
        }
    }

    /// The type a model file calls `fileName`.
    package init?(fileName: String) {
        guard let type = Self.allCases.first(where: { $0.fileName == fileName }) else { return nil }
        self = type
    }

    /// The Foundation class of the type's values, as compiled models name it.
    package var valueClassName: String? {
        switch self {
        case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType: nil
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: "NSNumber"
        case .doubleAttributeType, .floatAttributeType, .booleanAttributeType: "NSNumber"
        case .decimalAttributeType: "NSDecimalNumber"
        case .stringAttributeType: "NSString"
        case .dateAttributeType: "NSDate"
        case .binaryDataAttributeType: "NSData"
        case .UUIDAttributeType: "NSUUID"
        case .URIAttributeType: "NSURL"
        case .compositeAttributeType: "NSDictionary"
        }
    }
}

extension NSAttributeDescription {
    /// The kind of value, in the newer spelling. Source: Apple,
    /// NSAttributeDescription.AttributeType.
    public struct AttributeType: RawRepresentable, Hashable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        public static let undefined = AttributeType(.undefinedAttributeType)
        public static let integer16 = AttributeType(.integer16AttributeType)
        public static let integer32 = AttributeType(.integer32AttributeType)
        public static let integer64 = AttributeType(.integer64AttributeType)
        public static let decimal = AttributeType(.decimalAttributeType)
        public static let double = AttributeType(.doubleAttributeType)
        public static let float = AttributeType(.floatAttributeType)
        public static let string = AttributeType(.stringAttributeType)
        public static let boolean = AttributeType(.booleanAttributeType)
        public static let date = AttributeType(.dateAttributeType)
        public static let binaryData = AttributeType(.binaryDataAttributeType)
        public static let uuid = AttributeType(.UUIDAttributeType)
        public static let uri = AttributeType(.URIAttributeType)
        public static let transformable = AttributeType(.transformableAttributeType)
        public static let objectID = AttributeType(.objectIDAttributeType)
        public static let composite = AttributeType(.compositeAttributeType)

        init(_ type: NSAttributeType) { rawValue = type.rawValue }
    }

    /// The kind of value; an unknown raw value reads as undefined.
    public var type: AttributeType {
        get { AttributeType(attributeType) }
        set {
            attributeType = NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType
        }
    }
}
