/// What an `#if` says on Linux: true, false, or nil where only build settings know.
struct BuildCondition {
    private var tokens: ArraySlice<Token>

    /// The verdict on the text after `#if` or `#elseif`.
    static func verdict(on text: String, file: String) -> Bool? {
        guard let tokens = try? Lexer.tokens(of: text, file: file) else { return nil }
        var condition = BuildCondition(tokens: tokens[...])
        let verdict = condition.either()
        return condition.tokens.isEmpty ? verdict : nil
    }

    private mutating func takes(_ mark: String, twice: Bool) -> Bool {
        let wanted = Array(repeating: mark, count: twice ? 2 : 1)
        guard tokens.prefix(wanted.count).map(\.text) == wanted else { return false }
        tokens = tokens.dropFirst(wanted.count)
        return true
    }

    private mutating func either() -> Bool? {
        var verdict = both()
        while takes("|", twice: true) {
            let other = both()
            verdict = verdict == true || other == true ? true : (verdict == false ? other : nil)
        }
        return verdict
    }

    private mutating func both() -> Bool? {
        var verdict = single()
        while takes("&", twice: true) {
            let other = single()
            verdict = verdict == false || other == false ? false : (verdict == true ? other : nil)
        }
        return verdict
    }

    private mutating func single() -> Bool? {
        if takes("!", twice: false) { return single().map { !$0 } }
        if takes("(", twice: false) {
            let verdict = either()
            return takes(")", twice: false) ? verdict : nil
        }
        guard let word = tokens.popFirst() else { return nil }
        guard takes("(", twice: false) else { return Self.flags[word.text] }
        let end = tokens.firstIndex { $0.isMark(")") } ?? tokens.endIndex
        let argument = tokens[..<end].map(\.text).joined()
        tokens = tokens[end...].dropFirst()
        return Self.verdict(word.text, argument)
    }

    private static let flags = ["true": true, "false": false, "SWIFT_PACKAGE": true]

    private static func verdict(_ test: String, _ argument: String) -> Bool? {
        switch test {
        case "os": argument == "Linux"
        case "canImport": modules[argument]
        case "targetEnvironment": false
        case "swift", "compiler": isReached(argument)
        default: nil
        }
    }

    /// Every compiler that builds this package is at least of version 6.2.
    private static func isReached(_ comparison: String) -> Bool? {
        guard comparison.hasPrefix(">=") else { return nil }
        let parts = comparison.dropFirst(2).split(separator: ".").compactMap { Int($0) }
        guard let major = parts.first else { return nil }
        let minor = parts.dropFirst().first ?? 0
        return (major, minor) <= (6, 2) ? true : nil
    }

    /// What every target sees, and what none does. CloudKit is seen by those that use Mirror, so
    /// only the build knows.
    private static let modules: [String: Bool] = [
        "ObjectiveC": false, "Darwin": false, "UIKit": false, "AppKit": false, "SwiftUI": false,
        "Combine": false, "WatchKit": false, "Cocoa": false, "SwiftData": false,
        "CoreData": true, "Foundation": true, "Glibc": true, "Dispatch": true,
    ]
}

extension BuildCondition {
    /// The tokens that are compiled on Linux. What only build settings decide stays, marked.
    static func filter(_ tokens: [Token], file: String) throws -> [Token] {
        var kept: [Token] = []
        var open: [Block] = []
        for token in tokens {
            guard token.kind == .condition else {
                guard open.allSatisfy({ $0.now != false }) else { continue }
                var token = token
                token.isUncertain = open.contains { $0.now == nil }
                kept.append(token)
                continue
            }
            if token.text.hasPrefix("#if") {
                let verdict = verdict(on: String(token.text.dropFirst(3)), file: file)
                open.append(Block(now: verdict, isDecided: verdict == true))
            } else if var block = open.popLast() {
                guard !token.text.hasPrefix("#endif") else { continue }
                block.turn(to: token.text, file: file)
                open.append(block)
            } else {
                throw CompilerError(
                    .malformedSource, "\(token.text.prefix(12)) has no #if; remove it",
                    at: SourcePlace(file: file, line: token.line))
            }
        }
        return kept
    }

    /// One `#if … #endif`, at the branch that is being read.
    private struct Block {
        /// Whether the branch is compiled; nil where that is not known.
        var now: Bool?
        /// Whether an earlier branch is certainly compiled, so that no later one is.
        var isDecided: Bool
        var hasUncertain = false

        mutating func turn(to text: String, file: String) {
            if now == nil { hasUncertain = true }
            var verdict: Bool? = true
            if text.hasPrefix("#elseif") {
                verdict = BuildCondition.verdict(on: String(text.dropFirst(7)), file: file)
            }
            if isDecided { verdict = false }
            if verdict == true {
                isDecided = true
                if hasUncertain { verdict = nil }
            }
            now = verdict
        }
    }
}
