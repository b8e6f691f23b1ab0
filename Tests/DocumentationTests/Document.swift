import Foundation
import Testing

/// One of the package's Markdown files.
struct Document: CustomTestStringConvertible, Sendable {
    /// A stretch between two fences.
    struct Block {
        var language: String
        var lines: [String]
        /// The last heading above it, without its marks.
        var heading: String
        /// The number of its first line, from 1.
        var line: Int

        var text: String { lines.joined(separator: "\n") }
    }

    /// From the package's folder.
    let path: String
    let lines: [String]

    var testDescription: String { path }

    /// The folder that holds Package.swift, found from this file upward.
    static let root: URL = {
        var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        while folder.path != "/" {
            let manifest = folder.appendingPathComponent("Package.swift")
            if FileManager.default.fileExists(atPath: manifest.path) { return folder }
            folder.deleteLastPathComponent()
        }
        return folder
    }()

    init(_ path: String) throws {
        self.path = path
        let text = try String(
            contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Every Markdown file of the package, build folders apart.
    static func all() throws -> [Document] {
        var paths: [String] = []
        for entry in try FileManager.default.contentsOfDirectory(atPath: root.path)
        where !entry.hasPrefix(".") {
            if entry.hasSuffix(".md") { paths.append(entry) }
            let folder = root.appendingPathComponent(entry).path
            for case let below as String in FileManager.default.enumerator(atPath: folder)
                ?? .init()
            where below.hasSuffix(".md") { paths.append("\(entry)/\(below)") }
        }
        return try paths.sorted().map(Document.init)
    }

    /// The fenced stretches, in order.
    var blocks: [Block] {
        var found: [Block] = []
        var heading = ""
        var open: Block?
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("```") {
                if let block = open { found.append(block) }
                let language = String(line.dropFirst(3))
                open =
                    open == nil
                    ? Block(language: language, lines: [], heading: heading, line: index + 2) : nil
            } else if open != nil {
                open?.lines.append(line)
            } else if line.hasPrefix("#") {
                heading = line.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces)
            }
        }
        return found
    }

    /// The lines outside of fences, with their numbers from 1.
    var prose: [(number: Int, text: String)] {
        var isInside = false
        return lines.enumerated().compactMap { index, line in
            if line.hasPrefix("```") { isInside.toggle() }
            return isInside || line.hasPrefix("```") ? nil : (index + 1, line)
        }
    }
}
