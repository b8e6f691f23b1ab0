internal import Foundation

/// Archives default values and the values of `userInfo`.
package enum ValueArchiver {
    /// An attribute's default value, in the form its type has in Apple's archives. Throws for
    /// objects of classes that no archive of ours can hold.
    static func defaultValue(
        of attribute: NSAttributeDescription, into builder: inout KeyedArchiveBuilder
    ) throws -> Int {
        guard let value = attribute.defaultValue else { return KeyedArchiveBuilder.null }
        if let reference = reference(value, as: attribute.attributeType, &builder) {
            return reference
        }
        throw ModelFileError(
            .badValue,
            "The default value of attribute “\(attribute.entity.name ?? "").\(attribute.name)” is"
                + " no"
                + " \(attribute.attributeType.fileName ?? "such value"); a compiled model cannot"
                + " hold it.",
            fields: ["property": attribute.name, "entity": attribute.entity.name ?? ""])
    }

    /// A value in the form that values of `type` have; nil where it is no such value.
    package static func reference(
        _ value: Any, as type: NSAttributeType, _ builder: inout KeyedArchiveBuilder
    ) -> Int? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            (value as? NSNumber).flatMap(integer).map { builder.plain(.integer($0)) }
        case .doubleAttributeType, .floatAttributeType:
            (value as? NSNumber).map { builder.plain(.real($0.doubleValue)) }
        case .booleanAttributeType:
            (value as? NSNumber).map { builder.plain(.bool($0.boolValue)) }
        case .decimalAttributeType: decimal(value).map { archive($0, &builder) }
        case .stringAttributeType: (value as? String).map { builder.string($0) }
        case .dateAttributeType: (value as? Date).map { archive($0, &builder) }
        case .binaryDataAttributeType: (value as? Data).map { builder.plain(.data($0)) }
        case .UUIDAttributeType: (value as? UUID).map { archive($0, &builder) }
        case .URIAttributeType: (value as? URL).map { archive($0, &builder) }
        case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType,
            .compositeAttributeType:
            nil
        }
    }

    // MARK: Values with a class of their own

    static func archive(_ date: Date, _ builder: inout KeyedArchiveBuilder) -> Int {
        builder.object(
            ["NSDate", "NSObject"], [("NS.time", .real(date.timeIntervalSinceReferenceDate))])
    }

    private static func archive(_ uuid: UUID, _ builder: inout KeyedArchiveBuilder) -> Int {
        let bytes = withUnsafeBytes(of: uuid.uuid) { Data($0) }
        return builder.object(["NSUUID", "NSObject"], [("NS.uuidbytes", .data(bytes))])
    }

    private static func archive(_ url: URL, _ builder: inout KeyedArchiveBuilder) -> Int {
        let text = builder.string(url.absoluteString)
        return builder.object(
            ["NSURL", "NSObject"],
            [("NS.base", .reference(KeyedArchiveBuilder.null)), ("NS.relative", .reference(text))])
    }

    private static func decimal(_ value: Any) -> Decimal? {
        if let decimal = value as? Decimal { return decimal }
        guard let number = value as? NSNumber else { return nil }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): return number.decimalValue
        // Foundation goes by a double here, which has not every number of 64 bits.
        case UInt8(ascii: "Q"): return Decimal(number.uint64Value)
        default: return (number as? NSDecimalNumber)?.decimalValue ?? Decimal(number.int64Value)
        }
    }

    /// Without its fraction; nil where there is no room for it, for which Foundation would trap.
    private static func integer(_ number: NSNumber) -> Int64? {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"):
            Int64(exactly: number.doubleValue.rounded(.towardZero))
        default: number.int64Value
        }
    }

    /// The mantissa in little-endian words, as NSDecimalNumber has it.
    private static func archive(_ decimal: Decimal, _ builder: inout KeyedArchiveBuilder) -> Int {
        let mantissa = UInt128("\(decimal.significand.magnitude)") ?? 0
        let bytes = withUnsafeBytes(of: mantissa.littleEndian) { Data($0) }
        let words = (128 - mantissa.leadingZeroBitCount + 15) / 16
        return builder.object(
            ["NSDecimalNumber", "NSNumber", "NSValue", "NSObject"],
            [
                ("NS.mantissa", .data(bytes)), ("NS.mantissa.bo", .integer(1)),
                ("NS.exponent", .integer(decimal.exponent)), ("NS.length", .integer(words)),
                ("NS.negative", .bool(decimal.sign == .minus)), ("NS.compact", .bool(true)),
            ])
    }

    // MARK: userInfo

    /// The entries of a `userInfo`. Throws for values that are no property list.
    static func userInfo(
        _ entries: [AnyHashable: Any]?, of owner: String, into builder: inout KeyedArchiveBuilder
    ) throws -> Int {
        guard let reference = dictionary(entries ?? [:], &builder) else {
            throw ModelFileError(
                .badValue,
                "The userInfo of “\(owner)” holds more than texts, numbers, dates, data and lists"
                    + " of"
                    + " them; a compiled model cannot hold the rest.", fields: ["property": owner])
        }
        return reference
    }

    private static func dictionary(
        _ entries: [AnyHashable: Any], _ builder: inout KeyedArchiveBuilder
    ) -> Int? {
        var pairs: [(key: String, value: Int)] = []
        for (key, value) in entries {
            guard let key = key as? String, let value = reference(value, &builder) else {
                return nil
            }
            pairs.append((key, value))
        }
        return builder.dictionary(pairs.sorted { $0.key < $1.key })
    }

    private static func reference(_ value: Any, _ builder: inout KeyedArchiveBuilder) -> Int? {
        switch value {
        case let text as String: return builder.string(text)
        case let flag as Bool: return builder.plain(.bool(flag))
        case let number as Int: return builder.plain(.integer(Int64(number)))
        case let number as Double: return builder.plain(.real(number))
        case let date as Date: return archive(date, &builder)
        case let data as Data: return builder.plain(.data(data))
        case let list as [Any]:
            let members = list.compactMap { reference($0, &builder) }
            return members.count == list.count ? builder.array(members) : nil
        case let entries as [AnyHashable: Any]: return dictionary(entries, &builder)
        default: return nil
        }
    }
}
