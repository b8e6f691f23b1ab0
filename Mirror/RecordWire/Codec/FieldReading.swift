internal import Foundation

/// Reads one field: `{value, type}`, or null, which clears it. (SERVICE §4)
struct FieldReading {
    let field: WireObject
    private static let value: WireKey = "value"

    init(_ field: WireObject) { self.field = field }

    func read() throws -> FieldValue? {
        if let (type, value) = usual { return try single(type, value) }
        if field.isStrict { try checkKeys() }
        let type = try field.string("type")
        let value = try field.wanted(Self.value)
        if value.isNull { return nil }
        guard try field.bool("isEncrypted") == true else {
            guard let type else { return try guessed(value) }
            return try tagged(type, value)
        }
        guard let type else {
            throw field.refusal("type", "is missing; an encrypted field needs it")
        }
        return .encrypted(try encryptable(type, value))
    }

    /// What most fields have: a value and the plain name of its type, each once.
    private var usual: (FieldType, JSONValue)? {
        guard field.value.count == 2 else { return nil }
        var (type, given): (FieldType?, JSONValue?)
        for member in field.members {
            if member.isNamed(Self.value) {
                given = member.value
            } else if member.isNamed("type") {
                type = FieldType(spelledBy: member.value)
            }
        }
        guard let type, let given, !given.isNull else { return nil }
        return (type, given)
    }

    /// The types that a schema can encrypt.
    private func encryptable(_ name: String, _ given: JSONValue) throws -> FieldValue {
        let value = try tagged(name, given)
        guard value.isEncryptable else {
            throw field.refusal("isEncrypted", "is true, but no \(name) can be encrypted")
        }
        return value
    }

    private func checkKeys() throws {
        for member in field.members {
            if member.isNamed(Self.value) || member.isNamed("type") { continue }
            guard member.isNamed("isEncrypted") else { throw field.unknown(member) }
        }
    }

    // MARK: With a type

    private func tagged(_ name: String, _ value: JSONValue) throws -> FieldValue {
        if let type = Self.type(named: name) { return try single(type, value) }
        if name.hasSuffix("_LIST"), let type = Self.type(named: String(name.dropLast(5))) {
            return try list(type, value)
        }
        switch name {
        case "BOOLEAN": return try boolean(value)
        case "BOOLEAN_LIST": return try list(.int64, value, boolean)
        default: break
        }
        if name == "UNKNOWN_LIST", try value.array().isAtEnd {
            return .list(type: .string, [])
        }
        let known = FieldType.allCases.map(\.rawValue).joined(separator: ", ")
        throw field.refusal("type", "is \(name); known are \(known), each also with _LIST")
    }

    /// Two spellings seen on real clients are taken for their usual ones.
    private static func type(named name: String) -> FieldType? {
        switch name {
        case "ASSET": .asset
        case "ENCRYPTED_BYTES": .bytes
        default: FieldType(rawValue: name)
        }
    }

    private func single(
        _ type: FieldType, _ value: JSONValue, isElement: Bool = false
    ) throws -> FieldValue {
        func problem(_ reason: String) -> RecordError {
            field.refusal(Self.value, isElement ? "holds an element that \(reason)" : reason)
        }
        return switch type {
        case .string: .string(try value.string())
        case .int64: .int64(try value.wholeNumber(or: problem))
        case .double: .double(try value.double(or: problem))
        case .timestamp: .timestamp(try value.wholeNumber(or: problem))
        case .bytes: .bytes(try bytes(value))
        case .reference: .reference(try reference(field.child(value)))
        case .location: .location(try location(field.child(value)))
        case .asset: .asset(try field.child(value).asAsset())
        }
    }

    /// CloudKit JS has a name for Booleans; the protocol keeps them as INT64.
    private func boolean(_ value: JSONValue) throws -> FieldValue {
        switch value.kind {
        case .yes: return .int64(1)
        case .no: return .int64(0)
        case .text, .whole, .number, .object, .array, .null:
            let number = try value.wholeNumber { field.refusal(Self.value, $0) }
            guard (0...1).contains(number) else {
                throw field.refusal(Self.value, "is no BOOLEAN: true, false, 1 or 0")
            }
            return .int64(number)
        }
    }

    private func bytes(_ value: JSONValue) throws -> Data {
        guard let data = Data(base64Encoded: try value.string()) else {
            throw WireProblem.at(value.place, "is no base64 text")
        }
        return data
    }

    private func list(_ type: FieldType, _ value: JSONValue) throws -> FieldValue {
        try list(type, value) { try single(type, $0, isElement: true) }
    }

    private func list(
        _ type: FieldType, _ value: JSONValue, _ element: (JSONValue) throws -> FieldValue
    ) throws -> FieldValue {
        let elements = try value.array()
        guard value.count <= WireLimits.elementsMax else {
            throw field.refusal(
                Self.value, "has more than \(WireLimits.elementsMax) elements; send fewer")
        }
        return .list(type: type, try elements.map(element))
    }

    // MARK: Compound values

    private func reference(_ object: WireObject) throws -> RecordReference {
        try object.allow(["recordName", "zoneID", "action"])
        let name = try object.required("recordName", object.string)
        let action = try object.string("action").map { text in
            guard let action = RecordReference.Action(rawValue: text) else {
                throw object.refusal("action", "is \(text); known are NONE, DELETE_SELF, VALIDATE")
            }
            return action
        }
        return RecordReference(recordName: name, zoneID: try object.zoneID(), action: action)
    }

    func location(_ object: WireObject) throws -> RecordLocation {
        try object.allow([
            "latitude", "longitude", "horizontalAccuracy", "verticalAccuracy", "altitude", "speed",
            "course", "timestamp",
        ])
        var place = RecordLocation(
            latitude: try object.required("latitude", object.double),
            longitude: try object.required("longitude", object.double))
        place.horizontalAccuracy = try object.double("horizontalAccuracy")
        place.verticalAccuracy = try object.double("verticalAccuracy")
        place.altitude = try object.double("altitude")
        place.speed = try object.double("speed")
        place.course = try object.double("course")
        place.timestamp = try object.integer("timestamp")
        return place
    }
}

/// Values without a type: text is STRING, a whole number INT64, another number DOUBLE, an object
/// what its keys say. Times and bytes look like numbers and text, so they need their type.
extension FieldReading {
    private func guessed(_ value: JSONValue) throws -> FieldValue {
        switch value.kind {
        case .text: return .string(try value.string())
        case .whole, .number: return try number(value)
        case .object: return try single(type(of: field.child(value)), value)
        case .array: return try list(elementType(value), value)
        case .yes, .no, .null:
            throw field.refusal(
                Self.value, "has no type of this protocol; spell a Boolean as INT64 0 or 1")
        }
    }

    /// A whole number past 64 bits would lose digits unseen as a double.
    private func number(_ value: JSONValue) throws -> FieldValue {
        if let whole = try value.wholeNumber() { return .int64(whole) }
        let fraction = try value.double { field.refusal(Self.value, $0) }
        guard fraction != fraction.rounded() else {
            throw field.refusal(
                Self.value, "does not fit INT64; add the type DOUBLE if it is one")
        }
        return .double(fraction)
    }

    private func type(of object: WireObject) throws -> FieldType {
        if object.contains("recordName") { return .reference }
        if object.contains("latitude") { return .location }
        if object.contains("fileChecksum") || object.contains("receipt") { return .asset }
        throw untyped()
    }

    private func elementType(_ value: JSONValue) throws -> FieldType {
        let elements = try value.array()
        guard let first = elements.first(where: { _ in true }) else { throw untyped() }
        if first.kind == .text { return .string }
        if first.kind == .object { return try type(of: field.child(first)) }
        var type = FieldType.int64
        for element in elements {
            guard element.kind == .whole || element.kind == .number else { throw untyped() }
            if try element.wholeNumber() == nil { type = .double }
        }
        return type
    }

    private func untyped() -> RecordError {
        field.refusal(Self.value, "does not tell its type; add `type` to the field")
    }
}

extension FieldType {
    private static let spellings: [(WireKey, FieldType)] = [
        ("STRING", .string), ("INT64", .int64), ("DOUBLE", .double), ("TIMESTAMP", .timestamp),
        ("BYTES", .bytes), ("REFERENCE", .reference), ("LOCATION", .location), ("ASSETID", .asset),
    ]

    /// nil for what is no text, has escapes or is another name.
    fileprivate init?(spelledBy value: JSONValue) {
        let node = value.text.nodes[value.index]
        guard node.kind == .text, !node.hasEscapes else { return nil }
        let bytes = value.text.bytes(of: node)
        for (name, type) in Self.spellings where name.matches(bytes) {
            self = type
            return
        }
        return nil
    }
}
