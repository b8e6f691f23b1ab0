/// One value of a JSON text.
struct JSONValue {
    let text: JSONText
    let index: Int

    private var node: JSONNode { text.nodes[index] }
    var kind: JSONNode.Kind { node.kind }
    var isNull: Bool { node.kind == .null }
    /// Members of an object, elements of an array.
    var count: Int { Int(node.length) }
    var place: String { text.place(of: index) }

    // MARK: Values

    func string() throws -> String {
        guard kind == .text else { throw mismatch("a string") }
        guard let string = text.string(of: node) else {
            throw WireProblem.at(place, WireNumber.brokenText)
        }
        return string
    }

    func bool() throws -> Bool {
        switch kind {
        case .yes: true
        case .no: false
        default: throw mismatch("true or false")
        }
    }

    /// nil for a number that is no whole one of 64 bits.
    func wholeNumber() throws -> Int64? {
        switch kind {
        case .whole, .number: JSONNumber.wholeNumber(text.bytes(of: node))
        default: throw mismatch("a whole number")
        }
    }

    /// nil for a number past the range of a double.
    func double() throws -> Double? {
        switch kind {
        case .whole, .number: JSONNumber.double(text.bytes(of: node))
        default: throw mismatch("a number")
        }
    }

    func array() throws -> JSONElements {
        guard kind == .array else { throw mismatch("an array") }
        return JSONElements(of: self)
    }

    func mismatch(_ wanted: String) -> RecordError {
        WireProblem.at(
            place, "\(isNull ? "is null" : "has a wrong type"); \(wanted) belongs there")
    }
}

/// The elements of an array, in order.
struct JSONElements: Sequence, IteratorProtocol {
    private let text: JSONText
    private var index: Int
    private let end: Int
    let underestimatedCount: Int
    var isAtEnd: Bool { index == end }

    init(of array: JSONValue) {
        text = array.text
        index = array.index + 1
        end = Int(text.nodes[array.index].next)
        underestimatedCount = array.count
    }

    mutating func next() -> JSONValue? {
        guard index < end else { return nil }
        defer { index = Int(text.nodes[index].next) }
        return JSONValue(text: text, index: index)
    }
}

/// The members of an object, in the order of the text.
struct JSONMembers: Sequence, IteratorProtocol {
    /// A name, and the value under it.
    struct Member {
        let key: JSONNode
        let value: JSONValue

        /// The parser refuses names that are no text.
        var name: String { value.text.string(of: key) ?? "" }

        @inline(__always)
        func isNamed(_ name: WireKey) -> Bool {
            key.hasEscapes
                ? self.name == name.text : name.matches(value.text.bytes(of: key))
        }
    }

    private let text: JSONText
    private var index: Int
    private let end: Int

    init(of object: JSONValue) {
        text = object.text
        index = object.index + 1
        end = Int(text.nodes[object.index].next)
    }

    mutating func next() -> Member? {
        guard index < end else { return nil }
        defer { index = Int(text.nodes[index + 1].next) }
        return Member(key: text.nodes[index], value: JSONValue(text: text, index: index + 1))
    }
}
