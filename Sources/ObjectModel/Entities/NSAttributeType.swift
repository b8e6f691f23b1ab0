/// The kind of value an attribute holds. Raw values are Apple's. Source: Apple, NSAttributeType.
public enum NSAttributeType: UInt, Sendable, CaseIterable {
    /// No type: of transient attributes only.
    case undefinedAttributeType = 0
    /// A whole number of 16 bits, signed; `NSNumber`.
    case integer16AttributeType = 100
    /// A whole number of 32 bits, signed; `NSNumber`.
    case integer32AttributeType = 200
    /// A whole number of 64 bits, signed; `NSNumber`.
    case integer64AttributeType = 300
    /// A decimal number of up to 38 digits; `NSDecimalNumber`.
    case decimalAttributeType = 400
    /// A floating-point number of 64 bits; `NSNumber`.
    case doubleAttributeType = 500
    /// A floating-point number of 32 bits; `NSNumber`.
    case floatAttributeType = 600
    /// A text; `NSString`.
    case stringAttributeType = 700
    /// True or false; `NSNumber`.
    case booleanAttributeType = 800
    /// A moment, kept as seconds since 2001; `NSDate`.
    case dateAttributeType = 900
    /// Bytes; `NSData`.
    case binaryDataAttributeType = 1000
    /// A UUID; `NSUUID`.
    case UUIDAttributeType = 1100
    /// A URI; `NSURL`.
    case URIAttributeType = 1200
    /// Any object, kept as the bytes that its value transformer makes.
    case transformableAttributeType = 1800
    /// The ID of an object: of expressions only.
    case objectIDAttributeType = 2000
    /// Several attributes under one name.
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

        /// No type: for transient attributes, which may hold any value.
        public static let undefined = AttributeType(.undefinedAttributeType)
        /// `NSNumber` from -32,768 to 32,767.
        public static let integer16 = AttributeType(.integer16AttributeType)
        /// `NSNumber` of 32 bits with a sign.
        public static let integer32 = AttributeType(.integer32AttributeType)
        /// `NSNumber` of 64 bits with a sign.
        public static let integer64 = AttributeType(.integer64AttributeType)
        /// `NSDecimalNumber`.
        public static let decimal = AttributeType(.decimalAttributeType)
        /// `NSNumber`.
        public static let double = AttributeType(.doubleAttributeType)
        /// `NSNumber` that is kept as a Float.
        public static let float = AttributeType(.floatAttributeType)
        /// `String`.
        public static let string = AttributeType(.stringAttributeType)
        /// `NSNumber` that is true or false.
        public static let boolean = AttributeType(.booleanAttributeType)
        /// `Date`.
        public static let date = AttributeType(.dateAttributeType)
        /// `Data`.
        public static let binaryData = AttributeType(.binaryDataAttributeType)
        /// `UUID`.
        public static let uuid = AttributeType(.UUIDAttributeType)
        /// `URL`.
        public static let uri = AttributeType(.URIAttributeType)
        /// Any object that the attribute's value transformer turns into data.
        public static let transformable = AttributeType(.transformableAttributeType)
        /// `NSManagedObjectID`: for transient attributes and results of requests; no store keeps
        /// it.
        public static let objectID = AttributeType(.objectIDAttributeType)
        /// A dictionary of named elements; see `NSCompositeAttributeDescription`.
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
