internal import Foundation

/// What comes next in an XML file.
enum MarkupEvent {
    case start(String, [String: String])
    case end(String)
    case text(String)
}

/// Reads XML piece by piece, trusting nothing: no entity beyond XML's own five is known, document
/// types are only passed over, and elements nest to a fixed depth.
///
/// Written because stores may be large and hostile, and Foundation's parser traps on bytes that are
/// no UTF-8. Cost: one pass, memory for the current piece only.
struct MarkupScanner {
    private let bytes: [UInt8]
    let path: String
    private var position = 0
    private var open: [String] = []
    /// An empty element's end, told after its start.
    private var pendingEnd: String?
    private var isFinished = false

    private static let depthMax = 64

    init(_ data: Data, path: String) throws {
        self.path = path
        guard String(validating: data, as: UTF8.self) != nil else {
            throw StoreError(
                .notAStore, "The file is not in UTF-8, so it is no XML store.",
                fields: ["path": path])
        }
        bytes = Array(data)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        try skipProlog()
    }

    /// The next piece; nil at the end of the root element.
    mutating func next() throws -> MarkupEvent? {
        if let name = pendingEnd {
            pendingEnd = nil
            return close(name)
        }
        if isFinished { return nil }
        while true {
            guard position < bytes.count else { throw broken("the file ends too early") }
            if bytes[position] != UInt8(ascii: "<") { return .text(try text()) }
            if starts(with: "<!--") {
                try skip(through: "-->")
            } else if starts(with: "<![CDATA[") {
                return .text(try characterData())
            } else if starts(with: "<?") {
                try skip(through: "?>")
            } else if starts(with: "</") {
                return try endTag()
            } else {
                return try startTag()
            }
        }
    }

    // MARK: Tags

    private mutating func startTag() throws -> MarkupEvent {
        position += 1
        let name = try word()
        guard open.count < Self.depthMax else {
            throw broken("elements nest deeper than \(Self.depthMax)")
        }
        open.append(name)
        var attributes: [String: String] = [:]
        while true {
            skipSpace()
            if starts(with: "/>") {
                position += 2
                pendingEnd = name
                break
            }
            if starts(with: ">") {
                position += 1
                break
            }
            let (key, value) = try attribute()
            guard attributes.updateValue(value, forKey: key) == nil else {
                throw broken("<\(name)> gives \(key) twice")
            }
        }
        return .start(name, attributes)
    }

    private mutating func attribute() throws -> (String, String) {
        let key = try word()
        skipSpace()
        guard starts(with: "=") else { throw broken("\(key) has no value") }
        position += 1
        skipSpace()
        guard position < bytes.count, [0x22, 0x27].contains(bytes[position]) else {
            throw broken("the value of \(key) is not in quotes")
        }
        let quote = bytes[position]
        position += 1
        guard let end = bytes[position...].firstIndex(of: quote) else {
            throw broken("the value of \(key) does not end")
        }
        let value = try unescaped(position..<end)
        position = end + 1
        return (key, value)
    }

    private mutating func endTag() throws -> MarkupEvent {
        position += 2
        let name = try word()
        skipSpace()
        guard starts(with: ">"), name == open.last else {
            throw broken("</\(name)> ends no open element")
        }
        position += 1
        return close(name)
    }

    private mutating func close(_ name: String) -> MarkupEvent {
        open.removeLast()
        isFinished = open.isEmpty
        return .end(name)
    }

    private mutating func word() throws -> String {
        let start = position
        while position < bytes.count, !Self.endsWord(bytes[position]) { position += 1 }
        guard position > start, position - start <= 1024 else {
            throw broken("a name is missing or too long")
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private static func endsWord(_ byte: UInt8) -> Bool {
        byte <= 0x20 || [0x22, 0x26, 0x27, 0x2F, 0x3C, 0x3D, 0x3E].contains(byte)
    }

    // MARK: Text

    private mutating func text() throws -> String {
        let start = position
        position = bytes[start...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
        return try unescaped(start..<position)
    }

    private mutating func characterData() throws -> String {
        let start = position + "<![CDATA[".utf8.count
        try skip(through: "]]>")
        return String(decoding: bytes[start..<(position - 3)], as: UTF8.self)
    }

    /// The text of a range, with XML's entities and line ends resolved.
    private func unescaped(_ range: Range<Int>) throws -> String {
        let piece = bytes[range]
        guard piece.contains(where: { $0 == 0x26 || $0 == 0x0D }) else {
            return String(decoding: piece, as: UTF8.self)
        }
        var made: [UInt8] = []
        made.reserveCapacity(piece.count)
        var index = range.lowerBound
        while index < range.upperBound {
            switch bytes[index] {
            case 0x26:
                let limit = min(index + 12, range.upperBound)
                guard let end = bytes[index..<limit].firstIndex(of: UInt8(ascii: ";")) else {
                    throw broken("an & is no entity", at: index)
                }
                let name = String(decoding: bytes[(index + 1)..<end], as: UTF8.self)
                guard let scalar = Self.scalar(of: name) else {
                    throw broken("&\(name); is no entity of XML's own", at: index)
                }
                made += Array(String(scalar).utf8)
                index = end
            case 0x0D:
                made.append(0x0A)
                if index + 1 < range.upperBound, bytes[index + 1] == 0x0A { index += 1 }
            default: made.append(bytes[index])
            }
            index += 1
        }
        return String(decoding: made, as: UTF8.self)
    }

    private static func scalar(of name: String) -> Unicode.Scalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.first == "#" else { return nil }
            let digits = name.dropFirst()
            let number =
                digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return number.flatMap(Unicode.Scalar.init)
        }
    }

    // MARK: The prolog

    /// Passes over the declaration, comments and a document type without declarations of its own.
    private mutating func skipProlog() throws {
        while true {
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "<") else {
                throw notMarkup
            }
            if starts(with: "<?") {
                try checkedDeclaration()
            } else if starts(with: "<!--") {
                try skip(through: "-->")
            } else if starts(with: "<!DOCTYPE") {
                let start = position
                try skip(through: ">")
                guard !bytes[start..<position].contains(UInt8(ascii: "[")) else {
                    throw broken("its document type declares entities, which stores never do")
                }
            } else {
                return
            }
        }
    }

    private mutating func checkedDeclaration() throws {
        let start = position
        try skip(through: "?>")
        let text = String(decoding: bytes[start..<position], as: UTF8.self).lowercased()
        guard let encoding = text.range(of: "encoding") else { return }
        guard ["utf-8", "us-ascii"].contains(where: text[encoding.upperBound...].contains) else {
            throw broken("it declares an encoding other than UTF-8")
        }
    }

    private var notMarkup: StoreError {
        StoreError(.notAStore, "The file is no XML store.", fields: ["path": path])
    }

    // MARK: Bytes

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
            position += 1
        }
    }

    private func starts(with text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard position + count <= bytes.count else { return false }
        return (0..<count).allSatisfy { bytes[position + $0] == text.utf8Start[$0] }
    }

    private mutating func skip(through end: StaticString) throws {
        while !starts(with: end) {
            position += 1
            guard position < bytes.count else { throw broken("the file ends too early") }
        }
        position += end.utf8CodeUnitCount
    }

    /// The file is damaged: what, and on which line.
    func broken(_ what: String, at place: Int? = nil) -> StoreError {
        let line = bytes[..<min(place ?? position, bytes.count)].reduce(1) {
            $1 == 0x0A ? $0 + 1 : $0
        }
        return StoreError(
            .corrupt, "The XML store is damaged on line \(line): \(what); restore it from a copy.",
            fields: ["path": path, "line": String(line)])
    }
}
