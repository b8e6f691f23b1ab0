/// What a JSON text holds at one place.
struct JSONNode {
    enum Kind: UInt8 {
        case null, no, yes, text, whole, number, array, object
    }

    var kind: Kind
    /// Whether a text has escapes.
    var hasEscapes = false
    /// Whether a text has bytes outside ASCII.
    var isForeign = false
    /// The first byte, of a text that behind its quotation mark.
    var start: UInt32
    /// Bytes of a text or a number; members of an object, elements of an array.
    var length: UInt32
    /// The node behind this one and all that it holds.
    var next: UInt32
}

/// A JSON text that was read: its bytes, and its nodes in the order of the text. The members of an
/// object are nodes of keys, each with the node of its value behind it.
///
/// Valid only inside the closure of `JSONText.read`.
struct JSONText {
    let bytes: UnsafeRawBufferPointer
    let nodes: UnsafeBufferPointer<JSONNode>

    /// Reads `bytes`, which are UTF-8, and lends the result to `body`. Throws BAD_REQUEST for what
    /// is no JSON or too deep, LIMIT_EXCEEDED for too many values.
    static func read<Value>(
        _ bytes: UnsafeRawBufferPointer, _ body: (JSONText) throws -> Value
    ) throws -> Value {
        var parser = JSONParser(bytes)
        let nodes = try parser.parse()
        return try nodes.withUnsafeBufferPointer {
            try body(JSONText(bytes: bytes, nodes: $0))
        }
    }

    var root: JSONValue { JSONValue(text: self, index: 0) }

    func bytes(of node: JSONNode) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            rebasing: bytes[Int(node.start)..<Int(node.start) + Int(node.length)])
    }

    /// A text with its escapes taken for what they stand for; nil where one of them stands for no
    /// character of Unicode.
    func string(of node: JSONNode) -> String? {
        let bytes = bytes(of: node)
        return node.hasEscapes
            ? JSONEscapes.string(bytes) : String(decoding: bytes, as: UTF8.self)
    }

    /// Where a node stands, as in `operations[3].record`. Cost: the nodes before it.
    func place(of index: Int) -> String {
        var place = ""
        var container = 0
        while container < index {
            var child = container + 1
            var element = 0
            let isObject = nodes[container].kind == .object
            while true {
                let value = isObject ? child + 1 : child
                guard Int(nodes[value].next) <= index else { break }
                child = Int(nodes[value].next)
                element += 1
            }
            if isObject {
                let name = string(of: nodes[child]) ?? ""
                place += place.isEmpty ? name : ".\(name)"
                if child == index { return place }
                container = child + 1
            } else {
                place += "[\(element)]"
                container = child
            }
        }
        return place
    }
}
