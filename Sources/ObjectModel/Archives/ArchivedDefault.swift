internal import Foundation

/// Reads an attribute's archived default value into its Swift type.
enum ArchivedDefault {
    /// Nil where there is none, and for objects of a program's own classes, which no file can make.
    static func value(_ archived: ArchivedValue?, as type: NSAttributeType) -> Any? {
        guard let archived else { return nil }
        return switch type {
        case .integer16AttributeType: archived.integer.flatMap { Int16(clamping: $0) }
        case .integer32AttributeType: archived.integer.flatMap { Int32(clamping: $0) }
        case .integer64AttributeType: archived.integer
        case .decimalAttributeType: decimal(archived)
        case .doubleAttributeType: archived.real
        case .floatAttributeType: archived.real.map { Float($0) }
        case .stringAttributeType: archived.string
        case .booleanAttributeType: archived.integer.map { $0 != 0 }
        case .dateAttributeType:
            archived.object?["NS.time"]?.real.map(Date.init(timeIntervalSinceReferenceDate:))
        case .binaryDataAttributeType: archived.data ?? archived.object?["NS.data"]?.data
        case .UUIDAttributeType: archived.object?["NS.uuidbytes"]?.data.flatMap(uuid)
        case .URIAttributeType: archived.object?.string("NS.relative").flatMap { URL(string: $0) }
        case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType,
            .compositeAttributeType:
            nil
        }
    }

    private static func decimal(_ archived: ArchivedValue) -> Decimal? {
        guard case .object(let object) = archived else {
            return archived.real.flatMap { Decimal(string: "\($0)") }
        }
        guard let mantissa = object["NS.mantissa"]?.data, mantissa.count == 16 else { return nil }
        let isLittleEndian = object.integer("NS.mantissa.bo") != 2
        var value = UInt128(0)
        for word in stride(from: 14, through: 0, by: -2) {
            let (low, high) = (
                mantissa[mantissa.startIndex + word], mantissa[mantissa.startIndex + word + 1]
            )
            let unit =
                isLittleEndian
                ? UInt128(high) << 8 | UInt128(low) : UInt128(low) << 8 | UInt128(high)
            value = value << 16 | unit
        }
        let sign = object.flag("NS.negative") ? "-" : ""
        return Decimal(string: "\(sign)\(value)e\(object.integer("NS.exponent"))")
    }

    private static func uuid(_ data: Data) -> UUID? {
        let bytes = Array(data)
        guard bytes.count == 16 else { return nil }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// The values of a `userInfo`: texts, numbers, dates, data, and lists and dictionaries of them.
    static func userInfo(_ object: ArchivedObject?) -> [AnyHashable: Any]? {
        guard let entries = object.flatMap({ dictionary($0, depth: 0) }) else { return nil }
        return entries.isEmpty ? nil : entries
    }

    private static func dictionary(_ object: ArchivedObject, depth: Int) -> [AnyHashable: Any]? {
        guard depth < 16 else { return nil }
        var result: [AnyHashable: Any] = [:]
        for (key, value) in object.entries {
            if let key = key.string { result[key] = anyValue(value, depth: depth + 1) }
        }
        return result
    }

    private static func anyValue(_ value: ArchivedValue, depth: Int) -> Any? {
        switch value {
        case .bool(let flag): return flag
        case .integer(let number): return Int(number)
        case .real(let number): return number
        case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): return data
        case .string(let text): return text
        case .object(let object):
            guard object.archive.takeStep() else { return nil }
            switch object.className {
            case "NSDate":
                return value.object?["NS.time"]?.real.map(
                    Date.init(timeIntervalSinceReferenceDate:))
            case "NSDictionary", "NSMutableDictionary": return dictionary(object, depth: depth)
            case "NSArray", "NSMutableArray":
                guard depth < 16 else { return nil }
                return object.members.compactMap { $0.flatMap { anyValue($0, depth: depth + 1) } }
            default: return nil
            }
        }
    }
}
