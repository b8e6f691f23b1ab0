import Foundation

/// Apple's public symbols of Core Data, and how each stands here: AppleSymbols.tsv.
///
/// A line has an area, a symbol (`Type.member(label:)`), how it stands, and a reason where that is
/// not as Apple has it.
struct SymbolTable {
    enum Standing: String {
        case there, different, absent
    }

    struct Symbol {
        var area: String
        var name: String
        var standing: Standing
        var reason: String

        /// The type that has it, or the symbol itself where it stands alone.
        var owner: String {
            let head = name.prefix { $0 != "(" }
            guard let dot = head.lastIndex(of: ".") else { return String(name) }
            return String(name[..<dot])
        }

        /// The name without its type.
        var member: String {
            owner == name ? name : String(name.dropFirst(owner.count + 1))
        }
    }

    struct Malformed: Error, CustomStringConvertible {
        var line: Int
        var description: String { "AppleSymbols.tsv:\(line) is no line of the table" }
    }

    /// The table of Apple's symbols that may lie beside the project.
    static let apples = Document.root.deletingLastPathComponent()
        .appendingPathComponent("shared/reference/api/coredata-api.tsv")

    let symbols: [Symbol]

    init() throws {
        guard let url = Bundle.module.url(forResource: "AppleSymbols", withExtension: "tsv")
        else { throw Malformed(line: 0) }
        let text = try String(contentsOf: url, encoding: .utf8)
        symbols = try text.split(separator: "\n").enumerated().map { index, line in
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard cells.count == 4, let standing = Standing(rawValue: String(cells[2])) else {
                throw Malformed(line: index + 1)
            }
            return Symbol(
                area: String(cells[0]), name: String(cells[1]), standing: standing,
                reason: String(cells[3]))
        }
    }

    /// In the order of the table.
    var areas: [String] {
        var seen: Set<String> = []
        return symbols.map(\.area).filter { seen.insert($0).inserted }
    }
}
