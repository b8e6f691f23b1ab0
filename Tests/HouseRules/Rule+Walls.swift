/// The sizes past which nothing is read with pleasure.
extension Rule {
    static let walls = [fileLength, functionLength, lineLength, storedProperties]

    static let fileLength = Rule(text: "A file has at most 600 lines; split it by noun.") { files in
        files.filter(\.isSwift).filter { $0.lines.count > 600 }.map {
            Finding(path: $0.path, line: $0.lines.count, what: "\($0.lines.count) lines")
        }
    }

    static let functionLength = Rule(
        text: "A function has at most 70 lines; keep the branches, move plain work to the leaves."
    ) { files in
        files.filter(\.isSwift).flatMap { file in
            file.bodies.filter { $0.kind == .function && $0.lineCount > 70 }.map {
                Finding(
                    path: file.path, line: $0.first, what: "\($0.name) has \($0.lineCount) lines")
            }
        }
    }

    static let lineLength = Rule(text: "A line has at most 100 columns.") { files in
        files.filter(\.isSwift).flatMap { file in
            file.lines.enumerated().filter { $0.element.count > 100 }.map {
                Finding(
                    path: file.path, line: $0.offset + 1, what: "\($0.element.count) columns")
            }
        }
    }

    static let storedProperties = Rule(
        text: "A type has at most 12 stored properties; find the nouns among them."
    ) { files in
        files.filter(\.isSwift).flatMap { file in
            file.bodies.filter { holdsProperties($0) }.compactMap { body in
                let count = storedProperties(of: body, in: file)
                guard count > 12 else { return nil }
                return Finding(
                    path: file.path, line: body.first,
                    what: "\(body.name) has \(count) stored properties")
            }
        }
    }

    private static func holdsProperties(_ body: Body) -> Bool {
        body.kind == .type && ["class", "struct", "actor"].contains(body.keyword)
    }

    private static func storedProperties(of body: Body, in file: SourceFile) -> Int {
        guard
            let property = try? Pattern(
                #"^\s*(?:@\w+(?:\([^)]*\))?\s+)*((?:[a-z]+(?:\([a-z]+\))?\s+)*?)(?:var|let)\s+\w"#)
        else { return .max }
        var depth = 0
        var count = 0
        for line in file.code[(body.first - 1)..<body.last] {
            if depth == 1, let groups = property.groups(in: line),
                !groups[1].contains("static"), !isComputed(line)
            {
                count += 1
            }
            depth += line.count { $0 == "{" } - line.count { $0 == "}" }
        }
        return count
    }

    /// A brace without an equals sign before it opens an accessor.
    private static func isComputed(_ line: String) -> Bool {
        guard let brace = line.firstIndex(of: "{") else { return false }
        return !line[..<brace].contains("=") && !line.contains("didSet")
    }
}
