public import Foundation

/// A field's value with its type. (SERVICE §4, field table)
public enum FieldValue: Hashable, Sendable {
    case string(String)
    case int64(Int64)
    case double(Double)
    /// Milliseconds since 1970.
    case timestamp(Int64)
    case bytes(Data)
    // Large ones lie elsewhere, so that the others take three words and no memory of their own.
    indirect case reference(RecordReference)
    indirect case location(RecordLocation)
    indirect case asset(RecordAsset)
    /// All elements have one type, which `type` names; an empty list keeps it.
    case list(type: FieldType, [FieldValue])
    /// A value of a field that is encrypted: kept and given back, but never compared. Holds no
    /// value that is encrypted itself.
    indirect case encrypted(FieldValue)
}

/// The names of field types on the wire.
public enum FieldType: String, Hashable, Sendable, Codable, CaseIterable {
    case string = "STRING"
    case int64 = "INT64"
    case double = "DOUBLE"
    case timestamp = "TIMESTAMP"
    case bytes = "BYTES"
    case reference = "REFERENCE"
    case location = "LOCATION"
    case asset = "ASSETID"
}

/// A pointer to another record. The engine itself stores record names as strings (SERVICE §7).
public struct RecordReference: Hashable, Sendable, Codable {
    public enum Action: String, Hashable, Sendable, Codable {
        case none = "NONE"
        case deleteSelf = "DELETE_SELF"
        case validate = "VALIDATE"
    }
    public var recordName: String
    public var zoneID: ZoneID?
    public var action: Action?

    public init(recordName: String, zoneID: ZoneID? = nil, action: Action? = nil) {
        self.recordName = recordName
        self.zoneID = zoneID
        self.action = action
    }
}

public struct RecordLocation: Hashable, Sendable, Codable {
    public var latitude: Double
    public var longitude: Double
    public var horizontalAccuracy: Double?
    public var verticalAccuracy: Double?
    public var altitude: Double?
    public var speed: Double?
    public var course: Double?
    /// Milliseconds since 1970.
    public var timestamp: Int64?

    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// A file kept beside the records. (SERVICE §4, assets)
public struct RecordAsset: Hashable, Sendable, Codable {
    /// Names the content: the SHA-256 in base64 with our service.
    public var fileChecksum: String?
    public var size: Int64?
    /// Where the content can be had, for a while; in answers.
    public var downloadURL: String?
    /// Opaque, and of no use to our service.
    public var referenceChecksum: String?
    /// Opaque, and of no use to our service.
    public var wrappingKey: String?
    /// Names an upload that this service took; a record that is written names it.
    public var receipt: String?

    public init() {}
}

extension FieldValue {
    /// The value with each of its assets replaced.
    package func mapAssets(
        _ change: (RecordAsset) throws -> RecordAsset
    ) rethrows -> FieldValue {
        switch self {
        case .asset(let asset): .asset(try change(asset))
        case .list(let type, let elements):
            .list(type: type, try elements.map { try $0.mapAssets(change) })
        default: self
        }
    }
}
