import Foundation
import Testing

/// The names that documents call by are in the sources.
@Suite struct ShownNameTests {
    /// Each name between backquotes stands in some source, or is a file's. Names with an underscore
    /// are columns and fields, of which pages show patterns; but variables are looked for. The
    /// compatibility page, which names what is absent too, has a test of its own.
    @Test func namesAreThere() throws {
        let words = try Self.words(of: [""])
        let name = try Regex(#"[A-Za-z][\w.]*(?:\([\w:]*\))?"#)
        var seen = 0
        for document in try Document.all()
        where !["docs/COMPATIBILITY.md", "CHANGELOG.md"].contains(document.path) {
            for (number, line) in document.prose {
                let pieces = line.components(separatedBy: "`").enumerated()
                for (_, piece) in pieces.filter({ $0.offset % 2 == 1 }) {
                    guard piece.wholeMatch(of: name) != nil else { continue }
                    seen += 1
                    for word in Self.split(piece)
                    where !word.contains("_") || word.hasPrefix("DIPTYCH_") {
                        #expect(words.contains(word), "\(document.path):\(number) names \(piece)")
                    }
                }
            }
        }
        #expect(seen > 600)
    }

    /// The first column of TESTING.md's tables names what a world can be told.
    @Test func theSettingsOfWorldsAreThere() throws {
        let words = try Self.words(of: ["Mirror/MirrorTestKit"])
        let tables = try Document("docs/TESTING.md").lines
            .drop { !$0.hasPrefix("| `WorldSettings`") }.prefix { !$0.hasPrefix("## ") }
        var seen = 0
        for row in tables where row.hasPrefix("| `") {
            let cell = row.dropFirst().prefix { $0 != "|" }
            for (place, name) in cell.split(separator: "`").enumerated() where place % 2 == 1 {
                for part in name.split(separator: ".") {
                    seen += 1
                    #expect(words.contains(part), "docs/TESTING.md names \(name)")
                }
            }
        }
        #expect(seen > 25)
    }

    /// What the README tells to write into a package's manifest is what this one offers.
    @Test func theReadmeNamesProductsOfThisVersion() throws {
        let manifest = try Self.text(of: "Package.swift")
        let readme = try Document("README.md").lines.joined(separator: "\n")
        let product = try Regex(#"\.(?:product|plugin)\(name: ("\w+"), package: "diptych"\)"#)
        let names = readme.matches(of: product).compactMap { $0.output[1].substring }
        #expect(names.count == 3)
        for name in names { #expect(manifest.contains("(name: \(name)"), "no product \(name)") }
        let command = try Self.text(of: "Tools/diptych/Arguments/Command.swift")
        let version = try Regex(#"from: ("[\d.]+")\)"#)
        let named = try #require(readme.firstMatch(of: version)?.output[1].substring)
        #expect(command.contains("static let version = \(named)"))
    }

    private static func text(of path: String) throws -> String {
        try String(contentsOf: Document.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The words of all files below some folders that are no documents, and of all files' names.
    private static func words(of areas: [String]) throws -> Set<Substring> {
        var words: Set<Substring> = []
        for area in areas {
            let root = Document.root.appendingPathComponent(area).path
            let below = FileManager.default.enumerator(atPath: root) ?? .init()
            for case let path as String in below {
                // Builds and the history of versions.
                let name = (path as NSString).lastPathComponent
                if [".build", ".git"].contains(name) { below.skipDescendants() }
                words.formUnion(split(path))
                guard !["md", "sqlite", "jsonl", "xml"].contains((path as NSString).pathExtension),
                    let text = try? String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
                else { continue }
                words.formUnion(split(text))
            }
        }
        return words
    }

    /// By bytes, as there are millions of them.
    private static func split(_ text: String) -> [Substring] {
        text.utf8.split { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                false
            default: true
            }
        }.map { Substring($0) }
    }
}
