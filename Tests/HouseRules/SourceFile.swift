import Foundation

/// A file of the package as the rules see it.
struct SourceFile {
    /// From the package's folder, with `/` between.
    let path: String
    /// As written.
    let lines: [String]
    /// With comments and the inside of texts taken away, line by line.
    let code: [String]

    init(path: String, text: String) {
        self.path = path
        var lines = text.components(separatedBy: "\n")
        if lines.last == "" { lines.removeLast() }
        self.lines = lines
        var stripper = Stripper(text)
        code = path.hasSuffix(".swift") ? stripper.run().components(separatedBy: "\n") : lines
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
private struct Stripper {
    private let source: [Character]
    private var index = 0
    private var output = ""

    init(_ text: String) { source = Array(text) }

    mutating func run() -> String {
        while index < source.count { step() }
        return output
    }

    /// Copies one piece of code.
    private mutating func step() {
        if starts("//") {
            while index < source.count, source[index] != "\n" { index += 1 }
        } else if starts("/*") {
            skipBlockComment()
        } else if let hashes = textOpening() {
            skipText(hashes: hashes)
        } else {
            output.append(source[index])
            index += 1
        }
    }

    private func starts(_ text: String, at place: Int? = nil) -> Bool {
        let place = place ?? index
        let characters = Array(text)
        guard place + characters.count <= source.count else { return false }
        return source[place..<(place + characters.count)].elementsEqual(characters)
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if starts("/*") {
                depth += 1
                index += 2
            } else if starts("*/") {
                depth -= 1
                index += 2
            } else {
                keepLineEnd()
                index += 1
            }
        } while depth > 0 && index < source.count
    }

    private mutating func keepLineEnd() {
        if source[index] == "\n" { output.append("\n") }
    }

    /// The number of `#` before a text's quote, when one opens here.
    private func textOpening() -> Int? {
        var place = index
        while place < source.count, source[place] == "#" { place += 1 }
        return place < source.count && source[place] == "\"" ? place - index : nil
    }

    private mutating func skipText(hashes: Int) {
        let fence = String(repeating: "#", count: hashes)
        index += hashes
        let quote = starts("\"\"\"") ? "\"\"\"" : "\""
        index += quote.count
        output.append("\"")
        while index < source.count, !starts(quote + fence) {
            if starts("\\" + fence + "(") {
                index += 2 + hashes
                skipInterpolation()
            } else if starts("\\" + fence) {
                index += 1 + hashes
                if index < source.count { keepLineEnd() }
                index += 1
            } else if quote.count == 1, source[index] == "\n" {
                return
            } else {
                keepLineEnd()
                index += 1
            }
        }
        index += quote.count + hashes
        output.append("\"")
    }

    /// Code within a text stays code.
    private mutating func skipInterpolation() {
        output.append("(")
        var depth = 1
        while index < source.count {
            if source[index] == "(" { depth += 1 }
            if source[index] == ")" { depth -= 1 }
            step()
            if depth == 0 { return }
        }
    }
}
