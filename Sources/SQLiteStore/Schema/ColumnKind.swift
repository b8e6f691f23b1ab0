package import ObjectModel
internal import Stores

/// How an attribute's values are kept in a column. Source: the format's storage groups and
/// encodings.
public enum ColumnKind: Hashable, Sendable {
    /// An INTEGER column; booleans are 0 and 1.
    case integer, boolean
    /// A TIMESTAMP column of numbers, or a FLOAT one; a date is seconds since 2001-01-01 UTC.
    case date, double, float
    /// A DECIMAL column.
    case decimal
    /// A VARCHAR column.
    case text
    /// A BLOB column of sixteen bytes.
    case uuid
    /// A VARCHAR column with the absolute text.
    case uri
    /// A BLOB column with the transformer's bytes.
    case transformable
    /// Raw bytes; with a leading marker byte where the attribute may be kept in a file of its own.
    case binary(external: Bool)

    package init(of attribute: NSAttributeDescription) throws {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            self = .integer
        case .booleanAttributeType: self = .boolean
        case .dateAttributeType: self = .date
        case .doubleAttributeType: self = .double
        case .floatAttributeType: self = .float
        case .decimalAttributeType: self = .decimal
        case .stringAttributeType: self = .text
        case .UUIDAttributeType: self = .uuid
        case .URIAttributeType: self = .uri
        case .transformableAttributeType: self = .transformable
        case .binaryDataAttributeType:
            self = .binary(external: attribute.allowsExternalBinaryDataStorage)
        case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType:
            throw StoreError(
                .unsupported,
                "An attribute of this type cannot be stored; make it transient or change its type.",
                fields: [
                    "entity": attribute.entity.name ?? "", "attribute": attribute.name,
                    "type": "\(attribute.attributeType.rawValue)",
                ])
        }
    }

    /// Columns of a table are sorted by this first.
    var storageGroup: Int {
        switch self {
        case .integer, .boolean: 1
        case .date, .double, .float: 2
        case .decimal: 3
        case .text: 4
        case .uuid: 5
        case .uri: 6
        case .transformable: 7
        case .binary: 8
        }
    }

    /// Whether values are bytes of any length.
    var holdsBytes: Bool {
        switch self {
        case .transformable, .binary: true
        case .integer, .boolean, .date, .double, .float, .decimal, .text, .uuid, .uri: false
        }
    }

    /// The type in the column's declaration.
    var declaration: String {
        switch self {
        case .integer, .boolean: "INTEGER"
        case .date: "TIMESTAMP"
        case .double, .float: "FLOAT"
        case .decimal: "DECIMAL"
        case .text, .uri: "VARCHAR"
        case .uuid, .transformable, .binary: "BLOB"
        }
    }
}
