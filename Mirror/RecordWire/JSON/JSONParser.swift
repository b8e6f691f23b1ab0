/// Reads a JSON text in one pass into nodes: strictly by RFC 8259, with bounds on the depth and on
/// the number of values. Texts and numbers are checked for their grammar here and made into values
/// when they are asked for.
struct JSONParser {
    private var scanner: JSONScanner
    private var nodes: [JSONNode] = []
    private var depth = 0
    /// Commas and colons that were met.
    private var values = 0
    private static let bytesPerNode = 8

    init(_ bytes: UnsafeRawBufferPointer) {
        scanner = JSONScanner(bytes)
        nodes.reserveCapacity(bytes.count / Self.bytesPerNode + 4)
    }

    mutating func parse() throws(RecordError) -> [JSONNode] {
        scanner.skipByteOrderMark()
        scanner.skipSpace()
        try readValue()
        scanner.skipSpace()
        guard scanner.isAtEnd else { throw scanner.unexpected() }
        return nodes
    }

    /// Reads a value at which the scanner stands.
    private mutating func readValue() throws(RecordError) {
        switch scanner.byte {
        case UInt8(ascii: "\""): nodes.append(try scanner.text(at: nodes.count))
        case UInt8(ascii: "{"): try readObject()
        case UInt8(ascii: "["): try readArray()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            nodes.append(try scanner.number(at: nodes.count))
        case UInt8(ascii: "t"): nodes.append(try scanner.word("true", .yes, at: nodes.count))
        case UInt8(ascii: "f"): nodes.append(try scanner.word("false", .no, at: nodes.count))
        case UInt8(ascii: "n"): nodes.append(try scanner.word("null", .null, at: nodes.count))
        default: throw scanner.unexpected()
        }
    }

    private mutating func readObject() throws(RecordError) {
        let object = try begin(.object)
        var count: UInt32 = 0
        if !scanner.takes(UInt8(ascii: "}")) {
            repeat {
                try readKey()
                try readValue()
                count += 1
                scanner.skipSpace()
            } while try goesOn(until: UInt8(ascii: "}"))
        }
        end(object, count)
    }

    private mutating func readArray() throws(RecordError) {
        let array = try begin(.array)
        var count: UInt32 = 0
        if !scanner.takes(UInt8(ascii: "]")) {
            repeat {
                try readValue()
                count += 1
                scanner.skipSpace()
            } while try goesOn(until: UInt8(ascii: "]"))
        }
        end(array, count)
    }

    /// Reads a name and the colon behind it.
    private mutating func readKey() throws(RecordError) {
        guard scanner.byte == UInt8(ascii: "\"") else { throw scanner.unexpected() }
        let key = try scanner.text(at: nodes.count)
        guard !key.hasEscapes || scanner.isSound(key) else {
            throw RecordError(
                .badRequest,
                "The body is not valid JSON: the name at byte \(key.start) has an escape that is "
                    + "no character of Unicode.")
        }
        nodes.append(key)
        scanner.skipSpace()
        guard scanner.takes(UInt8(ascii: ":")) else { throw scanner.unexpected() }
        try countValue()
        scanner.skipSpace()
    }

    /// Whether another member or element follows, rather than the end.
    private mutating func goesOn(until end: UInt8) throws(RecordError) -> Bool {
        if scanner.takes(UInt8(ascii: ",")) {
            try countValue()
            scanner.skipSpace()
            return true
        }
        guard scanner.takes(end) else { throw scanner.unexpected() }
        return false
    }

    private mutating func begin(_ kind: JSONNode.Kind) throws(RecordError) -> Int {
        depth += 1
        guard depth <= WireLimits.depthMax else {
            throw RecordError(
                .badRequest,
                "The body nests objects and arrays deeper than \(WireLimits.depthMax) levels.")
        }
        nodes.append(JSONNode(kind: kind, start: scanner.place, length: 0, next: 0))
        scanner.skip()
        scanner.skipSpace()
        return nodes.count - 1
    }

    private mutating func end(_ container: Int, _ count: UInt32) {
        depth -= 1
        nodes[container].length = count
        nodes[container].next = UInt32(nodes.count)
    }

    private mutating func countValue() throws(RecordError) {
        values += 1
        guard values <= WireLimits.valuesMax else {
            throw RecordError(
                .limitExceeded,
                "The body has more than \(WireLimits.valuesMax) values. Send less at a time.")
        }
    }
}
