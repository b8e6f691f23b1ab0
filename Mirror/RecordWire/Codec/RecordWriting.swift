internal import Foundation

/// Spells zones, records and field values on the wire. (SERVICE §4)
extension JSONWriter {
    mutating func member(_ name: String, _ zone: ZoneID?) {
        guard let zone else { return }
        key(name)
        zoneID(zone)
    }

    /// Writes the members of a record into the innermost object. An empty name or type stands for
    /// none.
    mutating func record(_ record: Record, numbersAsStrings: Bool) throws {
        if !record.recordName.isEmpty { member("recordName", record.recordName) }
        if !record.recordType.isEmpty { member("recordType", record.recordType) }
        member("recordChangeTag", record.recordChangeTag)
        member("writeID", record.writeID)
        origins(of: record)
        if record.deleted {
            member("deleted", true)
        } else if tellsAll {
            member("deleted", false)
        }
        if !record.deleted || !record.fields.isEmpty {
            key("fields")
            try fields(record.fields, numbersAsStrings: numbersAsStrings)
        }
        if record.fields.holdReserved { sharing(of: record) }
        stamp("created", record.created)
        stamp("modified", record.modified)
        member("zoneID", record.zoneID)
    }

    /// Sorted by name, so that equal records are equal texts.
    private mutating func fields(
        _ fields: RecordFields, numbersAsStrings: Bool
    ) throws {
        try object { writer in
            for (name, value) in fields
            where !SharingField.isReserved(name) {
                writer.key(name)
                try writer.object { field in
                    field.key("value")
                    guard let value else { return field.null() }
                    try field.value(value, numbersAsStrings: numbersAsStrings)
                    field.member("type", value.wireType)
                    if case .encrypted = value { field.member("isEncrypted", true) }
                }
            }
        }
    }

    /// Writes the members of a field with its type into the innermost object.
    mutating func typedValue(_ value: FieldValue, _ numbersAsStrings: Bool) throws {
        key("value")
        try self.value(value, numbersAsStrings: numbersAsStrings)
        member("type", value.wireType)
    }

    private mutating func stamp(_ name: String, _ stamp: RecordStamp?) {
        guard let stamp else { return }
        key(name)
        self.stamp(stamp)
    }

    private mutating func value(_ value: FieldValue, numbersAsStrings: Bool) throws {
        switch value {
        case .string(let text): string(text)
        case .int64(let number): numbersAsStrings ? string(String(number)) : integer(number)
        case .double(let number): double(number)
        case .timestamp(let milliseconds): integer(milliseconds)
        case .bytes(let data): string(data.base64EncodedString())
        case .reference(let target): reference(target)
        case .location(let place): location(place)
        case .asset(let file): object { $0.asset(file) }
        case .encrypted(let plain): try self.value(plain, numbersAsStrings: numbersAsStrings)
        case .list(let type, let elements):
            try array(elements) { writer, element in
                guard element.type == type else { throw Self.mixedList(type) }
                try writer.value(element, numbersAsStrings: numbersAsStrings)
            }
        }
    }

    /// Throws for a list whose elements are not all of its type.
    static func checkList(_ value: FieldValue?) throws {
        switch value {
        case .list(let type, let elements):
            guard elements.allSatisfy({ $0.type == type }) else { throw mixedList(type) }
        case .encrypted(let plain): try checkList(plain)
        default: return
        }
    }

    private static func mixedList(_ type: FieldType) -> RecordError {
        RecordError(
            .badRequest,
            "A list of \(type.rawValue) holds an element of another type or a list; "
                + "make all its elements \(type.rawValue).")
    }

    private mutating func reference(_ target: RecordReference) {
        object {
            $0.member("recordName", target.recordName)
            $0.member("zoneID", target.zoneID)
            $0.member("action", target.action?.rawValue)
        }
    }

    mutating func location(_ place: RecordLocation) {
        object {
            $0.member("latitude", place.latitude)
            $0.member("longitude", place.longitude)
            $0.member("horizontalAccuracy", place.horizontalAccuracy)
            $0.member("verticalAccuracy", place.verticalAccuracy)
            $0.member("altitude", place.altitude)
            $0.member("speed", place.speed)
            $0.member("course", place.course)
            $0.member("timestamp", place.timestamp)
        }
    }
}

extension FieldValue {
    /// The type of a value that is no list and not encrypted; nil for others.
    public var type: FieldType? {
        switch self {
        case .string: .string
        case .int64: .int64
        case .double: .double
        case .timestamp: .timestamp
        case .bytes: .bytes
        case .reference: .reference
        case .location: .location
        case .asset: .asset
        case .list, .encrypted: nil
        }
    }

    /// The type as the wire names it: `STRING`, or `STRING_LIST` for a list.
    public var wireType: String {
        switch self {
        case .list(let type, _): type.rawValue + "_LIST"
        case .encrypted(let plain): plain.wireType
        default: type?.rawValue ?? ""
        }
    }

    /// The type as a schema names it: `ENCRYPTED_STRING` for an encrypted text, else as on the
    /// wire.
    public var schemaType: String {
        if case .encrypted = self { "ENCRYPTED_" + wireType } else { wireType }
    }
}
