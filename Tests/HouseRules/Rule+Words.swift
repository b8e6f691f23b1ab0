/// Words that hide a purpose, and constructs that end a program.
extension Rule {
    static let words = [
        vagueTypes, vagueFiles, unfinished, traps, forcedTries, forcedCasts, documentedTrap,
        uncheckedSendable, lockedClosures,
    ]

    private static let vague = "(Util|Utils|Utility|Utilities|Helper|Helpers|Manager|Managers)"
    /// Names of Apple's, which apps know.
    private static let applesNames: Set<String> = [
        "FileManager", "NSMigrationManager", "NSStagedMigrationManager", "UndoManager",
    ]

    static let vagueTypes = Rule(
        text: "No type is called a util, a helper or a manager, but for Apple's; name what it is."
    ) { files in
        guard let pattern = try? Pattern(vague + "$") else { return [] }
        return files.filter(\.isSwift).flatMap { file in
            file.bodies.filter { body in
                body.kind == .type && body.keyword != "extension"
                    && pattern.first(in: body.name) != nil && !applesNames.contains(body.name)
            }.map { Finding(path: file.path, line: $0.first, what: $0.name) }
        }
    }

    static let vagueFiles = Rule(
        text: "No file or folder is called utils, helper or manager; it belongs beside its caller."
    ) { files in
        guard let pattern = try? Pattern("(?i)" + vague + "$") else { return [] }
        return files.compactMap { file in
            let base = file.name.split(separator: ".").first.map(String.init) ?? file.name
            let names = file.folders + [base.split(separator: "+").first.map(String.init) ?? base]
            let found = names.first { pattern.first(in: $0) != nil && !applesNames.contains($0) }
            return found.map { Finding(path: file.path, line: 0, what: $0) }
        }
    }

    static let unfinished = forbidding(
        "Nothing is left for later in the sources; finish it, or refuse it with a clear error.",
        #"\b(TOD[O]|FIXM[E]|XX[X])\b|(?i)\bnot implemente[d]\b"#, inComments: true
    ) { $0.isSwift }

    static let traps = forbidding(
        "Nothing ends the program; throw an error that says what to do.",
        #"\b(preconditionFailure|assertionFailure)\("#
    ) { $0.isSwift && $0.area != "Tests" }

    static let lockedClosures = forbidding(
        "No Lock keeps a closure by itself: each look would make it one call deeper; use Handler.",
        #"\bLock<[^<>\[]*->"#
    ) { $0.isSwift && $0.area != "Tests" }

    static let forcedTries = forbidding(
        "Errors are thrown or handled, never forced away.", #"\btry!"#
    ) { $0.isSwift && $0.area != "Tests" }

    static let forcedCasts = forbidding(
        "Casts are conditional; a file or a peer could bring another type.", #"\bas!"#
    ) { $0.isSwift && $0.area != "Tests" }

    static let documentedTrap = forbidding(
        """
        Only NSPredicate(format:) and ProgrammingMistake, where Apple raises exceptions, end the \
        program with fatalError, which says why in optimized programs too; throw elsewhere.
        """, #"\bfatalError\("#
    ) {
        $0.isSwift && $0.area != "Tests"
            && $0.path != "Sources/Predicates/Surface/NSPredicate+Format.swift"
            && $0.path != "Sources/Persistence/Objects/ProgrammingMistake.swift"
    }

    static let uncheckedSendable = Rule(
        text:
            "Each @unchecked Sendable says within three lines, after @unchecked:, what protects it."
    ) { files in
        files.filter(\.isSwift).flatMap { file in
            file.code.indices.compactMap { index in
                guard file.code[index].contains("@unchecked Sendable") else { return nil }
                let near = max(0, index - 3)...min(file.lines.count - 1, index + 3)
                if file.lines[near].contains(where: { $0.contains("@unchecked:") }) { return nil }
                return Finding(path: file.path, line: index + 1, what: "no reason is given")
            }
        }
    }
}
