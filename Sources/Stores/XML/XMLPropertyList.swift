internal import Foundation

/// The property list in an XML store's metadata, read and written by the store's own scanner.
enum XMLPropertyList {
    /// Reads the value whose start tag was just taken.
    static func value(
        _ name: String, _ scanner: inout MarkupScanner
    ) throws -> Any {
        switch name {
        case "dict": return try dictionary(&scanner)
        case "array": return try array(&scanner)
        default:
            let text = try scanner.textToEnd(of: name)
            guard let value = plain(name, text) else {
                throw scanner.broken("<\(name)> holds no value of its kind")
            }
            return value
        }
    }

    private static func plain(_ name: String, _ text: String) -> Any? {
        let word = text.trimmingCharacters(in: .whitespacesAndNewlines)
        switch name {
        case "string": return text
        case "integer": return Int(word)
        case "real": return Double(word)
        case "true": return true
        case "false": return false
        case "data": return Data(base64Encoded: text, options: .ignoreUnknownCharacters)
        case "date": return try? Date(word, strategy: .iso8601)
        default: return nil
        }
    }

    private static func dictionary(_ scanner: inout MarkupScanner) throws -> [String: Any] {
        var values: [String: Any] = [:]
        while let tag = try scanner.nextTag() {
            guard tag.name == "key" else { throw scanner.broken("<dict> has a value with no key") }
            let key = try scanner.textToEnd(of: "key")
            guard let next = try scanner.nextTag() else {
                throw scanner.broken("a key of <dict> has no value")
            }
            values[key] = try value(next.name, &scanner)
        }
        return values
    }

    private static func array(_ scanner: inout MarkupScanner) throws -> [Any] {
        var values: [Any] = []
        while let tag = try scanner.nextTag() { values.append(try value(tag.name, &scanner)) }
        return values
    }

    // MARK: Writing

    /// How deep elements may stand that values are written in: the scanner reads them at 64.
    private static let depthMax = 60

    /// The element of a value; nil where no property list can hold it, or where it nests too deep
    /// to be read. Keys are sorted.
    static func text(_ value: Any, margin: String) -> String? {
        guard margin.utf8.count <= 4 * depthMax else { return nil }
        switch value {
        case let text as String:
            return XMLText.quoted(text).map { "\(margin)<string>\($0)</string>\n" }
        case let data as Data: return "\(margin)<data>\(data.base64EncodedString())</data>\n"
        case let date as Date: return "\(margin)<date>\(date.formatted(.iso8601))</date>\n"
        case let number as Int: return "\(margin)<integer>\(number)</integer>\n"
        case let flag as Bool where type(of: value) == Bool.self:
            return "\(margin)<\(flag)/>\n"
        case let number as Double: return "\(margin)<real>\(number)</real>\n"
        case let number as NSNumber: return text(number, margin: margin)
        case let members as [Any]: return text(members, margin: margin)
        case let members as [String: Any]: return text(members, margin: margin)
        default: return nil
        }
    }

    private static func text(_ number: NSNumber, margin: String) -> String? {
        number.doubleValue == Double(number.int64Value)
            ? "\(margin)<integer>\(number.int64Value)</integer>\n"
            : "\(margin)<real>\(number.doubleValue)</real>\n"
    }

    private static func text(_ members: [Any], margin: String) -> String? {
        var made = "\(margin)<array>\n"
        for member in members {
            guard let text = text(member, margin: margin + "    ") else { return nil }
            made += text
        }
        return made + "\(margin)</array>\n"
    }

    private static func text(_ members: [String: Any], margin: String) -> String? {
        var made = "\(margin)<dict>\n"
        for (key, value) in members.sorted(by: { $0.key < $1.key }) {
            guard let text = text(value, margin: margin + "    "), let key = XMLText.quoted(key)
            else { return nil }
            made += "\(margin)    <key>\(key)</key>\n\(text)"
        }
        return made + "\(margin)</dict>\n"
    }
}

extension MarkupScanner {
    /// The next start tag within the open element; nil at its end. Space between is passed over.
    mutating func nextTag() throws -> (name: String, attributes: [String: String])? {
        while let event = try next() {
            switch event {
            case .start(let name, let attributes): return (name, attributes)
            case .end: return nil
            case .text(let text):
                guard text.allSatisfy(\.isWhitespace) else {
                    throw broken("there is text where an element should be")
                }
            }
        }
        return nil
    }

    /// All text up to the end of the open element, which has no elements inside.
    mutating func textToEnd(of name: String) throws -> String {
        var made = ""
        while let event = try next() {
            switch event {
            case .text(let text): made += text
            case .end: return made
            case .start(let inner, _): throw broken("<\(inner)> stands inside <\(name)>")
            }
        }
        return made
    }
}
