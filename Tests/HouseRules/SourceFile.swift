import Foundation

/// A file of the package as the rules see it.
struct SourceFile {
    /// From the package's folder, with `/` between.
    let path: String
    /// As written.
    let lines: [String]
    /// With comments and the inside of texts taken away, line by line.
    let code: [String]
    /// Of Swift.
    let bodies: [Body]

    init(path: String, text: String) {
        self.path = path
        var lines = text.components(separatedBy: "\n")
        if lines.last == "" { lines.removeLast() }
        self.lines = lines
        var stripper = Stripper(text)
        let isSwift = path.hasSuffix(".swift")
        code = isSwift ? stripper.run().components(separatedBy: "\n") : lines
        bodies = isSwift ? Declarations(code: code).bodies : []
    }

    var isSwift: Bool { path.hasSuffix(".swift") }
    var name: String { path.split(separator: "/").last.map(String.init) ?? path }
    var folders: [String] { path.split(separator: "/").dropLast().map(String.init) }

    /// The first folder: Sources, Mirror, Tools or Tests.
    var area: String { folders.first ?? "" }
    /// The second folder, which is the module's.
    var module: String? { folders.count > 1 ? folders[1] : nil }
}

/// Takes comments and the inside of texts out of Swift source, and keeps every line where it is.
/// It goes by bytes: all that it looks for is ASCII.
private struct Stripper {
    private let source: [UInt8]
    private var index = 0
    private var output: [UInt8] = []

    private static let (lineEnd, hash) = (UInt8(ascii: "\n"), UInt8(ascii: "#"))
    private static let quote = UInt8(ascii: "\"")
    private static let (slash, star) = (UInt8(ascii: "/"), UInt8(ascii: "*"))
    private static let (opening, closing) = (UInt8(ascii: "("), UInt8(ascii: ")"))
    private static let lineComment = [slash, slash]
    private static let (commentStart, commentEnd) = ([slash, star], [star, slash])

    init(_ text: String) {
        source = Array(text.utf8)
        output.reserveCapacity(source.count)
    }

    mutating func run() -> String {
        while index < source.count { step() }
        return String(decoding: output, as: UTF8.self)
    }

    /// Copies one piece of code.
    private mutating func step() {
        let byte = source[index]
        if byte == Self.slash, starts(Self.lineComment) {
            while index < source.count, source[index] != Self.lineEnd { index += 1 }
        } else if byte == Self.slash, starts(Self.commentStart) {
            skipBlockComment()
        } else if byte == Self.hash || byte == Self.quote, let hashes = textOpening() {
            skipText(hashes: hashes)
        } else {
            output.append(byte)
            index += 1
        }
    }

    private func starts(_ text: [UInt8]) -> Bool {
        guard index + text.count <= source.count else { return false }
        var place = 0
        while place < text.count {
            if source[index + place] != text[place] { return false }
            place += 1
        }
        return true
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if starts(Self.commentStart) {
                depth += 1
                index += 2
            } else if starts(Self.commentEnd) {
                depth -= 1
                index += 2
            } else {
                keepLineEnd()
                index += 1
            }
        } while depth > 0 && index < source.count
    }

    private mutating func keepLineEnd() {
        if source[index] == Self.lineEnd { output.append(Self.lineEnd) }
    }

    /// The number of `#` before a text's quote, when one opens here.
    private func textOpening() -> Int? {
        var place = index
        while place < source.count, source[place] == Self.hash { place += 1 }
        return place < source.count && source[place] == Self.quote ? place - index : nil
    }

    private mutating func skipText(hashes: Int) {
        let fence = [UInt8](repeating: Self.hash, count: hashes)
        index += hashes
        let triple = [Self.quote, Self.quote, Self.quote]
        let quote = starts(triple) ? triple : [Self.quote]
        let (end, escape) = (quote + fence, [UInt8(ascii: "\\")] + fence)
        let interpolation = escape + [Self.opening]
        index += quote.count
        output.append(Self.quote)
        while index < source.count, !starts(end) {
            if starts(interpolation) {
                index += interpolation.count
                skipInterpolation()
            } else if starts(escape) {
                index += escape.count
                if index < source.count { keepLineEnd() }
                index += 1
            } else if quote.count == 1, source[index] == Self.lineEnd {
                return
            } else {
                keepLineEnd()
                index += 1
            }
        }
        index += end.count
        output.append(Self.quote)
    }

    /// Code within a text stays code.
    private mutating func skipInterpolation() {
        output.append(Self.opening)
        var depth = 1
        while index < source.count {
            if source[index] == Self.opening { depth += 1 }
            if source[index] == Self.closing { depth -= 1 }
            step()
            if depth == 0 { return }
        }
    }
}
