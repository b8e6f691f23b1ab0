/// What the comments of public declarations must say; CONTRIBUTING.md has it in sentences.
extension Rule {
    static let comments = [documented, namedErrors, namedQueue, namedCost]

    /// Modules whose calls touch contexts, stores or files.
    private static let modulesWithStores: Set = [
        "SQLiteDriver", "Stores", "SQLiteStore", "Persistence",
    ]

    static let documented = Rule(
        text: "A public declaration of Sources has a comment that says more than its name."
    ) { files in
        PublicSurface(files).finding { $0.comment.isEmpty || $0.repeatsItsName }
    }

    static let namedErrors = Rule(
        text: """
            The comment of what throws has a sentence with "throws", which names codes, cases or a \
            type, or says whose errors it hands on ("what `body` throws", "as `fetch` does"); or \
            its type's comment says so for "every function".
            """
    ) { files in
        let surface = PublicSurface(files)
        return surface.finding { declaration in
            declaration.isThrowing && !declaration.comment.namesErrors(after: "throws ")
                && !surface.comments(of: declaration.owner).contains {
                    $0.namesErrors(after: "every function throws ")
                }
        }
    }

    static let namedQueue = Rule(
        text: """
            The comment of a public class, actor or protocol whose module touches stores says \
            "Queue:" and from where it may be called.
            """
    ) { files in
        PublicSurface(files).finding { declaration in
            ["class", "actor", "protocol"].contains(declaration.keyword)
                && modulesWithStores.contains(declaration.module)
                && !declaration.comment.contains("Queue:")
        }
    }

    static let namedCost = Rule(
        text: """
            The comment of what throws or waits, in a module that touches stores, says "Cost:" in \
            rows, statements or files, unless its type's comment says so for all.
            """
    ) { files in
        let surface = PublicSurface(files)
        return surface.finding { declaration in
            (declaration.isThrowing || declaration.isAsync)
                && modulesWithStores.contains(declaration.module)
                && !declaration.comment.contains("Cost:")
                && !surface.comments(of: declaration.owner).contains { $0.contains("Cost:") }
        }
    }
}

extension PublicDeclaration {
    fileprivate var module: String {
        path.split(separator: "/").dropFirst().first.map(String.init) ?? ""
    }

    /// Whether each word of the comment stands in the name, but for articles.
    fileprivate var repeatsItsName: Bool {
        let words = comment.lowercased().split { !$0.isLetter }.map(String.init)
        return !comment.contains("`")
            && words.allSatisfy {
                ["a", "an", "the", "of"].contains($0) || name.lowercased().contains($0)
            }
    }
}

extension String {
    /// Whether a sentence goes on from `words` with a code, a name in backquotes, or a pointer to
    /// whose errors they are.
    fileprivate func namesErrors(after words: String) -> Bool {
        let text = lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ") + " "
        var rest = text.replacing("throws: ", with: "throws ")[...]
        while let range = rest.firstRange(of: words) {
            rest = rest[range.upperBound...]
            let sentence = rest.prefix(upTo: rest.firstRange(of: ". ")?.lowerBound ?? rest.endIndex)
            if sentence.hasPrefix("what ") || sentence.hasPrefix("as ") || sentence.contains("`")
                || sentence.contains(where: \.isNumber)
            {
                return true
            }
        }
        return false
    }
}
