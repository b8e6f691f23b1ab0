import Testing

/// A rule of the house: what it says, and how to find where it is broken.
struct Rule: Sendable, CustomTestStringConvertible {
    /// The rule in a sentence, printed with each finding.
    let text: String
    let find: @Sendable ([SourceFile]) -> [Finding]

    var testDescription: String { text }

    static let all: [Rule] = walls + words + outside + modules + comments

    /// Returns the lines of code, among the files that `covers` chooses, that a pattern matches.
    static func forbidding(
        _ text: String, _ pattern: String, inComments: Bool = false,
        where covers: @escaping @Sendable (SourceFile) -> Bool
    ) -> Rule {
        Rule(text: text) { files in
            guard let pattern = try? Pattern(pattern) else {
                return [Finding(path: "Tests/HouseRules", line: 0, what: "bad pattern \(pattern)")]
            }
            return files.filter(covers).flatMap { file in
                (inComments ? file.lines : file.code).enumerated().compactMap { index, line in
                    pattern.first(in: line).map {
                        Finding(path: file.path, line: index + 1, what: $0)
                    }
                }
            }
        }
    }
}

/// One place where a rule is broken.
struct Finding: CustomStringConvertible {
    let path: String
    /// From 1; 0 is the file as a whole.
    let line: Int
    let what: String

    var description: String { "\(path):\(line): \(what)" }
}
