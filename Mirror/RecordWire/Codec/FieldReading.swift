internal import Foundation

/// Reads one field: `{value, type}`, or null, which clears it. (SERVICE §4)
struct FieldReading {
    let field: WireObject
    private static let value: WireKey = "value"

    init(_ field: WireObject) { self.field = field }

    func read() throws -> FieldValue? {
        if field.isStrict { try checkKeys() }
        let type = try field.string("type")
        if try field.container.decodeNil(forKey: Self.value) { return nil }
        guard let type else { return try guessed() }
        return try tagged(type)
    }

    /// Most of a body is fields, so their few keys are compared one by one, which is quicker than a
    /// set.
    private func checkKeys() throws {
        for key in field.container.allKeys {
            switch key.stringValue {
            case "value", "type": continue
            case "isEncrypted":
                guard try field.bool("isEncrypted") == true else { continue }
                throw field.refusal(
                    "isEncrypted", "is true, but this service keeps no encrypted fields; remove it")
            default: throw field.unknown(key)
            }
        }
    }

    // MARK: With a type

    private func tagged(_ name: String) throws -> FieldValue {
        if let type = Self.type(named: name) { return try single(type) }
        if name.hasSuffix("_LIST"), let type = Self.type(named: String(name.dropLast(5))) {
            return try list(type)
        }
        if name == "UNKNOWN_LIST" {
            let list = try field.container.nestedUnkeyedContainer(forKey: Self.value)
            if list.isAtEnd { return .list(type: .string, []) }
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

    private func single(_ type: FieldType) throws -> FieldValue {
        switch type {
        case .string: .string(try field.container.decode(String.self, forKey: Self.value))
        case .int64: .int64(try wholeNumber())
        case .double: .double(try field.required(Self.value, field.double))
        case .timestamp: .timestamp(try wholeNumber())
        case .bytes: .bytes(try bytes(field.container.decode(String.self, forKey: Self.value)))
        case .reference: .reference(try reference(field.required(Self.value, field.object)))
        case .location: .location(try location(field.required(Self.value, field.object)))
        case .asset: .asset(try field.required(Self.value, field.object).asAsset())
        }
    }

    private func wholeNumber() throws -> Int64 {
        try field.number(Self.value, WireNumber.wanted) { Int64($0) }
    }

    private func bytes(_ text: String) throws -> Data {
        guard let data = Data(base64Encoded: text) else {
            throw field.refusal(Self.value, "is no base64 text")
        }
        return data
    }

    // MARK: Lists

    private func list(_ type: FieldType) throws -> FieldValue {
        var list = try field.container.nestedUnkeyedContainer(forKey: Self.value)
        guard (list.count ?? 0) <= WireLimits.elementsMax else {
            throw field.refusal(
                Self.value, "has more than \(WireLimits.elementsMax) elements; send fewer")
        }
        var elements: [FieldValue] = []
        elements.reserveCapacity(list.count ?? 0)
        while !list.isAtEnd { elements.append(try element(type, of: &list)) }
        return .list(type: type, elements)
    }

    private func element(
        _ type: FieldType, of list: inout any UnkeyedDecodingContainer
    ) throws -> FieldValue {
        switch type {
        case .string: .string(try list.decode(String.self))
        case .int64: .int64(try number(&list, WireNumber.wanted) { Int64($0) })
        case .double: .double(try number(&list, WireNumber.tooLarge, spelled: WireNumber.double))
        case .timestamp: .timestamp(try number(&list, WireNumber.wanted) { Int64($0) })
        case .bytes: .bytes(try bytes(list.decode(String.self)))
        case .reference: .reference(try reference(object(&list)))
        case .location: .location(try location(object(&list)))
        case .asset: .asset(try object(&list).asAsset())
        }
    }

    private func object(_ list: inout any UnkeyedDecodingContainer) throws -> WireObject {
        WireObject(try list.nestedContainer(keyedBy: WireKey.self), isStrict: field.isStrict)
    }

    private func number<Number: Decodable>(
        _ list: inout any UnkeyedDecodingContainer, _ reason: String, spelled: (String) -> Number?
    ) throws -> Number {
        do {
            return try list.decode(Number.self)
        } catch let error as DecodingError {
            guard let text = try? list.decode(String.self) else { throw error }
            guard let number = spelled(text) else {
                throw field.refusal(Self.value, "holds an element that \(WireNumber.misspelled)")
            }
            return number
        } catch {
            throw field.refusal(Self.value, "holds an element that \(reason)")
        }
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

    private func location(_ object: WireObject) throws -> RecordLocation {
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
    private func guessed() throws -> FieldValue {
        let container = field.container
        let key = Self.value
        if let text = try text() { return .string(text) }
        if let number = try? container.decode(Int64.self, forKey: key) { return .int64(number) }
        if let number = try number() { return try fraction(number) }
        if let object = try? container.nestedContainer(keyedBy: WireKey.self, forKey: key) {
            return try single(type(of: object))
        }
        if var list = try? container.nestedUnkeyedContainer(forKey: key) {
            return try self.list(elementType(&list))
        }
        throw field.refusal(key, "has no type of this protocol; spell a Boolean as INT64 0 or 1")
    }

    /// nil where the value is no text.
    private func text() throws -> String? {
        do {
            return try field.container.decode(String.self, forKey: Self.value)
        } catch DecodingError.typeMismatch {
            return nil
        } catch {
            throw field.refusal(Self.value, WireNumber.brokenText)
        }
    }

    /// nil where the value is no number.
    private func number() throws -> Double? {
        do {
            return try field.container.decode(Double.self, forKey: Self.value)
        } catch DecodingError.typeMismatch {
            return nil
        } catch {
            throw field.refusal(Self.value, WireNumber.tooLarge)
        }
    }

    /// A whole number past 64 bits would lose digits unseen as a double.
    private func fraction(_ number: Double) throws -> FieldValue {
        guard number != number.rounded() else {
            throw field.refusal(Self.value, "does not fit INT64; add the type DOUBLE if it is one")
        }
        return .double(number)
    }

    private func type(of object: WireObject.Keyed) throws -> FieldType {
        if object.contains("recordName") { return .reference }
        if object.contains("latitude") { return .location }
        if object.contains("fileChecksum") || object.contains("receipt") { return .asset }
        throw untyped()
    }

    private func elementType(_ list: inout any UnkeyedDecodingContainer) throws -> FieldType {
        if list.isAtEnd { throw untyped() }
        if (try? list.decode(String.self)) != nil { return .string }
        if let object = try? list.nestedContainer(keyedBy: WireKey.self) {
            return try type(of: object)
        }
        var type = FieldType.int64
        while !list.isAtEnd {
            if (try? list.decode(Int64.self)) != nil { continue }
            guard (try? list.decode(Double.self)) != nil else { throw untyped() }
            type = .double
        }
        return type
    }

    private func untyped() -> RecordError {
        field.refusal(Self.value, "does not tell its type; add `type` to the field")
    }
}
