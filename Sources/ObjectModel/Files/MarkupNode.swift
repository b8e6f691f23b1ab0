/// One element of XML to be written: its attributes keep their order.
struct MarkupNode: Hashable {
    struct Attribute: Hashable {
        let key: String
        let value: String
    }

    let name: String
    private(set) var attributes: [Attribute] = []
    var children: [MarkupNode] = []

    init(_ name: String) { self.name = name }

    /// Adds an attribute, unless its value is nil.
    mutating func set(_ key: String, _ value: String?) {
        if let value { attributes.append(Attribute(key: key, value: value)) }
    }

    /// Adds `key="YES"` where `isSet`.
    mutating func flag(_ key: String, _ isSet: Bool) { set(key, isSet ? "YES" : nil) }

    /// Adds an attribute for a number other than zero.
    mutating func count(_ key: String, _ number: Int) {
        set(key, number == 0 ? nil : String(number))
    }

    /// The element as Xcode lays it out: four spaces a level, attributes on one line.
    func text(indent: Int = 0) -> String {
        let margin = String(repeating: "    ", count: indent)
        let facts = attributes.map { " \($0.key)=\"\(Self.escaped($0.value))\"" }.joined()
        guard !children.isEmpty else { return "\(margin)<\(name)\(facts)/>\n" }
        let inside = children.map { $0.text(indent: indent + 1) }.joined()
        return "\(margin)<\(name)\(facts)>\n\(inside)\(margin)</\(name)>\n"
    }

    /// The first value here or below that XML 1.0 cannot hold, such as one with a control
    /// character.
    var unwritableValue: String? {
        let own = attributes.map(\.value).first {
            $0.unicodeScalars.contains(where: Self.isUnwritable)
        }
        return own ?? children.lazy.compactMap(\.unwritableValue).first
    }

    private static func isUnwritable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x9, 0xA, 0xD: false
        case 0..<0x20, 0xFFFE, 0xFFFF: true
        default: false
        }
    }

    private static func escaped(_ value: String) -> String {
        var result = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\t", "\n", "\r": result += "&#\(scalar.value);"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
