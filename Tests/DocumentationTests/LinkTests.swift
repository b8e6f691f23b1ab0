import Foundation
import Testing

/// What documents point at is there.
@Suite struct LinkTests {
    @Test(arguments: try Document.all()) func relativeLinksLeadSomewhere(document: Document) throws
    {
        let folder = Document.root.appendingPathComponent(document.path).deletingLastPathComponent()
        for (number, text) in document.prose {
            for target in Self.targets(in: text) where !target.contains("://") {
                let parts = target.split(
                    separator: "#", maxSplits: 1, omittingEmptySubsequences: false
                ).map(String.init)
                let place = parts[0].isEmpty ? document.path : parts[0]
                let file =
                    parts[0].isEmpty
                    ? Document.root.appendingPathComponent(place)
                    : folder.appendingPathComponent(place)
                let exists = FileManager.default.fileExists(atPath: file.path)
                #expect(exists, "\(document.path):\(number) points at \(target)")
                guard exists, parts.count == 2, let anchor = parts.last else { continue }
                let other = try String(contentsOf: file, encoding: .utf8)
                #expect(
                    Self.anchors(in: other).contains(anchor),
                    "\(document.path):\(number) points at the heading \(target)")
            }
        }
    }

    @Test func sectionsNamedInCommentsAreThere() throws {
        let reference = try Regex(#"\b([A-Z]{4,}) §(\d+)"#)
        var seen = 0
        for area in ["Sources", "Mirror", "Tools"] {
            let folder = Document.root.appendingPathComponent(area).path
            for case let path as String in FileManager.default.enumerator(atPath: folder) ?? .init()
            where path.hasSuffix(".swift") {
                // Most files have none, and looking for a pattern takes long.
                let text = try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
                    .split(separator: "\n").filter { $0.contains("§") }.joined(separator: "\n")
                for match in text.matches(of: reference) {
                    seen += 1
                    let name = String(match.output[1].substring ?? "")
                    let section = String(match.output[2].substring ?? "")
                    let document = try Document("docs/\(name).md")
                    #expect(
                        document.lines.contains { $0.hasPrefix("## \(section). ") },
                        "\(area)/\(path) names \(name) §\(section)")
                }
            }
        }
        #expect(seen > 10)
    }

    @Test func testsThatDocumentsNameAreThere() throws {
        let reference = try Regex(#"`(\w+Tests)\.(\w+)`"#)
        var suites: [String: String] = [:]
        let folder = Document.root.appendingPathComponent("Tests").path
        for case let path as String in FileManager.default.enumerator(atPath: folder) ?? .init()
        where path.hasSuffix("Tests.swift") {
            let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
            suites[name, default: ""] += try String(
                contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
        }
        var seen = 0
        for document in try Document.all() {
            for match in document.lines.joined(separator: "\n").matches(of: reference) {
                seen += 1
                let suite = String(match.output[1].substring ?? "")
                let name = String(match.output[2].substring ?? "")
                #expect(
                    suites[suite]?.contains("func \(name)(") == true,
                    "\(document.path) names \(suite).\(name)")
            }
        }
        #expect(seen > 40)
    }

    @Test func theReadmeIsShortAndEveryDocumentIsInTheIndex() throws {
        #expect(try Document("README.md").lines.count <= 201)
        let index = try Document("docs/README.md").lines.joined(separator: "\n")
        let folder = Document.root.appendingPathComponent("docs").path
        for name in try FileManager.default.contentsOfDirectory(atPath: folder)
        where name.hasSuffix(".md") && name != "README.md" {
            #expect(index.contains(name), "docs/README.md does not list \(name)")
        }
    }

    /// The targets of `[words](target)`.
    static func targets(in line: String) -> [String] {
        line.components(separatedBy: "](").dropFirst().compactMap { rest in
            rest.firstIndex(of: ")").map { String(rest[..<$0]) }
        }
    }

    /// The names by which headings are linked to.
    static func anchors(in text: String) -> Set<String> {
        var names: Set<String> = []
        for line in text.split(separator: "\n") where line.hasPrefix("#") {
            let heading = line.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
            let kept = heading.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
            names.insert(kept.replacing(" ", with: "-"))
        }
        return names
    }
}
