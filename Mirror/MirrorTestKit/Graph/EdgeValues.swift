internal import Foundation
internal import ObjectModel
internal import Platform
internal import Stores

/// Draws values at the edges of what each type can hold: empty and large texts, numbers of full
/// width, dates with microseconds, decimals with many digits.
struct EdgeValues {
    let randomness: SeededRandomness

    /// A value for an attribute; null where it is optional and the die says so. An attribute of a
    /// type that no store can hold is null.
    func value(for attribute: NSAttributeDescription, isFull: Bool) -> AttributeValue {
        if attribute.isOptional && !isFull && randomness.chance(percent: 20) { return .null }
        switch attribute.attributeType {
        case .booleanAttributeType: return .integer(Int64(randomness.below(2)))
        case .integer16AttributeType: return integer(Int16.self)
        case .integer32AttributeType: return integer(Int32.self)
        case .integer64AttributeType: return integer(Int64.self)
        case .doubleAttributeType: return .double(pick(Self.doubles))
        case .floatAttributeType: return .double(Double(Float(pick(Self.floats))))
        case .decimalAttributeType: return .decimal(decimal())
        case .stringAttributeType: return .text(text())
        case .dateAttributeType: return .date(date())
        case .UUIDAttributeType: return .uuid(uuid())
        case .URIAttributeType: return .uri(pick(Self.addresses))
        case .binaryDataAttributeType: return .data(bytes())
        case .transformableAttributeType: return .data(pick(Self.archives))
        case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: return .null
        }
    }

    /// A value that is hardly ever drawn twice, as far as the type is wide enough.
    func rareValue(for attribute: NSAttributeDescription) -> AttributeValue {
        let word = randomness.next()
        switch attribute.attributeType {
        case .booleanAttributeType: return .integer(Int64(word & 1))
        case .integer16AttributeType: return .integer(Int64(Int16(truncatingIfNeeded: word)))
        case .integer32AttributeType: return .integer(Int64(Int32(truncatingIfNeeded: word)))
        case .integer64AttributeType: return .integer(Int64(truncatingIfNeeded: word))
        case .doubleAttributeType: return .double(Double(word >> 16) / 1024)
        case .floatAttributeType: return .double(Double(Float(word >> 40)))
        case .decimalAttributeType: return .decimal(Decimal(word >> 16) / 1000)
        case .stringAttributeType: return .text("\(pick(Self.words)) \(String(word, radix: 36))")
        case .dateAttributeType: return .date(Double(word >> 20) / 1_000_000)
        case .UUIDAttributeType: return .uuid(randomness.uuid())
        case .URIAttributeType: return .uri("https://example.org/\(String(word, radix: 36))?q=ü")
        case .binaryDataAttributeType, .transformableAttributeType:
            return .data(withUnsafeBytes(of: word.bigEndian) { Data($0) })
        case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: return .null
        }
    }

    private func pick<Element>(_ edges: [Element]) -> Element {
        edges[randomness.below(edges.count)]
    }

    private func integer<Width: FixedWidthInteger>(_ type: Width.Type) -> AttributeValue {
        let edges: [Width] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
        return .integer(
            randomness.chance(percent: 50)
                ? Int64(pick(edges)) : Int64(Width(truncatingIfNeeded: randomness.next())))
    }

    private func text() -> String {
        if randomness.chance(percent: 4) {
            let line = "\(pick(Self.words)) und so weiter, Zeile für Zeile: 漢字かな 🌿\n"
            return String(repeating: line, count: 10_000 / line.utf8.count + 1)
        }
        return randomness.chance(percent: 50)
            ? pick(Self.words) : "\(pick(Self.words))\(randomness.below(1_000))"
    }

    private func decimal() -> Decimal {
        Decimal(string: pick(Self.decimals)) ?? Decimal(randomness.below(1_000))
    }

    private func date() -> Double {
        randomness.chance(percent: 50)
            ? pick(Self.dates)
            : Double(Int64(truncatingIfNeeded: randomness.next()) >> 13) / 1_000_000
    }

    private func uuid() -> UUID {
        switch randomness.below(8) {
        case 0: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        case 1:
            UUID(
                uuid: (
                    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255
                ))
        default: randomness.uuid()
        }
    }

    private func bytes() -> Data {
        let count = pick([0, 1, 2, 16, 37, 38, 255, 256, 4_096])
        let start = UInt8(truncatingIfNeeded: randomness.next())
        return Data((0..<count).map { start &+ UInt8(truncatingIfNeeded: $0) })
    }

    // MARK: Edges

    private static let words = [
        "", " ", "amber", "o'hare \"quoted\" 100%", "Zoë", "Zoe\u{308}",
        "line one\nline two\r\n\ttab", "漢字かな交じり", "עברית مرحبا", "🏳️‍🌈 👩‍👩‍👧‍👦 🌿", "\u{FEFF}mark",
        "\u{1F}\u{7F}", "NULL",
        "0", "1e5", "<a&b>", "\u{10FFFF}",
    ]
    private static let doubles: [Double] = [
        0, 1, -1, 0.1, -2.5, 1 / 3, .leastNonzeroMagnitude, .leastNormalMagnitude,
        .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .infinity, -.infinity,
        9_007_199_254_740_992, -9_223_372_036_854_775_808, 1e21, 123_456.789,
    ]
    private static let floats: [Double] = [
        0, 1, -1, 0.1, 1 / 3, 3.4e38, -16_777_217, 1e10,
    ]
    private static let decimals = [
        "0", "1", "-1", "9.99", "-0.01", "10.11", "3.3333333333", "0.000000001",
        "123456789.123456789", "99999999999999999999.999999999999999999",
        "-12345678901234567890123456789012345678", "1e-20",
        "9007199254740993", "9223372036854775807", "1e30",
    ]
    /// Seconds since 2001: whole, of a millisecond, of microseconds, the far past and future.
    private static let dates: [Double] = [
        0, -0.5, 1, 700_000_000, 700_000_000.123, 700_000_000.123_456, 743_906_532.380_816,
        -978_307_200, -978_307_200.000_001, -63_114_076_800, 63_113_904_000, 0.000_001,
    ]
    private static let addresses = [
        "https://example.org/", "https://example.org/a%20b?q=%C3%BC#part", "file:///tmp/%C3%A4",
        "mailto:zoe@example.org", "relative/path", "x-coredata://store/Entity/p1",
    ]
    private static let archives: [Data] = [
        ["amber", "birch"] as NSArray, ["key": "Wert ü"] as NSDictionary, "text 🌿" as NSString,
    ].compactMap {
        try? NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: false)
    }
}
