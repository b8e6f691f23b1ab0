package import Foundation
internal import ObjectModel
internal import Platform

/// How predicates compare texts. Stores that compute in another engine call these too, so that a
/// predicate finds the same rows everywhere.
///
/// Without options, texts are equal when their scalars are, and ordered by their UTF-8 bytes.
package enum TextRules {
    /// Returns the text with the differences taken away that `options` ignore.
    package static func folded(_ text: String, _ options: ComparisonNode.Options) -> String {
        guard !options.contains(.normalized), !options.isDisjoint(with: Self.insensitive) else {
            return text
        }
        let isASCII = text.utf8.allSatisfy { $0 < 128 }
        if isASCII {
            return options.contains(.caseInsensitive) ? text.lowercased() : text
        }
        let locale = options.contains(.localeSensitive) ? Locale.current : nil
        return text.folding(options: compareOptions(options), locale: locale)
    }

    package static func equal(
        _ left: String, _ right: String, _ options: ComparisonNode.Options = []
    ) -> Bool {
        folded(left, options).utf8.elementsEqual(folded(right, options).utf8)
    }

    package static func order(
        _ left: String, _ right: String, _ options: ComparisonNode.Options = []
    ) -> ComparisonResult {
        if options.contains(.localeSensitive), !options.contains(.normalized) {
            return left.compare(
                right, options: compareOptions(options), range: nil, locale: .current)
        }
        let a = folded(left, options)
        let b = folded(right, options)
        if a.utf8.elementsEqual(b.utf8) { return .orderedSame }
        return a.utf8.lexicographicallyPrecedes(b.utf8) ? .orderedAscending : .orderedDescending
    }

    /// By hand, since Swift does not see the C library's `memmem`, and `String.contains` compares
    /// by canonical equivalence.
    package static func contains(
        _ text: String, _ part: String, _ options: ComparisonNode.Options = []
    ) -> Bool {
        let bytes = Array(folded(text, options).utf8)
        let wanted = Array(folded(part, options).utf8)
        guard let first = wanted.first else { return true }
        guard wanted.count <= bytes.count else { return false }
        for start in 0...(bytes.count - wanted.count) where bytes[start] == first {
            if bytes[start..<(start + wanted.count)].elementsEqual(wanted) { return true }
        }
        return false
    }

    package static func begins(
        _ text: String, with part: String, _ options: ComparisonNode.Options = []
    ) -> Bool {
        folded(text, options).utf8.starts(with: folded(part, options).utf8)
    }

    package static func ends(
        _ text: String, with part: String, _ options: ComparisonNode.Options = []
    ) -> Bool {
        folded(text, options).utf8.reversed().starts(with: folded(part, options).utf8.reversed())
    }

    /// Matches a whole text: `?` is one scalar, `*` any number, a backslash takes the next
    /// literally. Cost: the product of both lengths at worst.
    package static func like(
        _ text: String, _ pattern: String, _ options: ComparisonNode.Options = []
    ) -> Bool {
        let scalars = Array(folded(text, options).unicodeScalars)
        return Wildcard(folded(pattern, options)).matches(scalars)
    }

    /// Matches a whole text with a regular expression of ICU's. Throws `.badPattern`.
    package static func matches(
        _ text: String, _ pattern: String, _ options: ComparisonNode.Options = []
    ) throws -> Bool {
        let isFolded = options.contains(.diacriticInsensitive) && !options.contains(.normalized)
        let folding: ComparisonNode.Options = isFolded ? .diacriticInsensitive : []
        let subject = folded(text, folding)
        let ignoresCase = options.contains(.caseInsensitive) && !options.contains(.normalized)
        let expression = try regularExpression(folded(pattern, folding), ignoresCase: ignoresCase)
        let all = NSRange(subject.startIndex..., in: subject)
        return expression.firstMatch(in: subject, options: .anchored, range: all) != nil
    }

    private static let insensitive: ComparisonNode.Options = [
        .caseInsensitive, .diacriticInsensitive,
    ]

    private static func compareOptions(
        _ options: ComparisonNode.Options
    ) -> String.CompareOptions {
        var made: String.CompareOptions = []
        if options.contains(.caseInsensitive) { made.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { made.insert(.diacriticInsensitive) }
        return made
    }

    // MARK: Regular expressions

    private static let expressionsMax = 200
    private static let expressions = Lock<[LiteralText: NSRegularExpression]>([:])

    private static func regularExpression(
        _ pattern: String, ignoresCase: Bool
    ) throws -> NSRegularExpression {
        let key = LiteralText((ignoresCase ? "i" : "c") + pattern)
        if let known = expressions.withLock({ $0[key] }) { return known }
        let made: NSRegularExpression
        do {
            // Compiled alone first: brackets around it could complete a pattern that is none.
            _ = try NSRegularExpression(pattern: pattern)
            made = try NSRegularExpression(
                pattern: "\\A(?:\(pattern))\\z", options: ignoresCase ? .caseInsensitive : [])
        } catch {
            throw EvaluationError(
                .badPattern,
                "Can't do regex matching, reason: the pattern is no regular expression.",
                fields: ["operator": "MATCHES"])
        }
        expressions.withLock { known in
            if known.count >= expressionsMax { known.removeAll() }
            known[key] = made
        }
        return made
    }
}

/// A LIKE pattern in pieces.
private struct Wildcard {
    private enum Piece {
        case scalar(Unicode.Scalar)
        case one
        case many
    }
    private var pieces: [Piece] = []

    init(_ pattern: String) {
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            if isEscaped {
                pieces.append(.scalar(scalar))
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "?" {
                pieces.append(.one)
            } else if scalar == "*" {
                pieces.append(.many)
            } else {
                pieces.append(.scalar(scalar))
            }
        }
        if isEscaped { pieces.append(.scalar("\\")) }
    }

    /// Goes back only to the last `*`, so no pattern takes exponential time.
    func matches(_ text: [Unicode.Scalar]) -> Bool {
        var place = 0
        var piece = 0
        var afterMany: (piece: Int, place: Int)?
        while place < text.count {
            if piece < pieces.count, case .many = pieces[piece] {
                piece += 1
                afterMany = (piece, place)
            } else if piece < pieces.count, takes(pieces[piece], text[place]) {
                piece += 1
                place += 1
            } else if let back = afterMany {
                piece = back.piece
                place = back.place + 1
                afterMany = (piece, place)
            } else {
                return false
            }
        }
        return pieces[piece...].allSatisfy { if case .many = $0 { true } else { false } }
    }

    private func takes(_ piece: Piece, _ scalar: Unicode.Scalar) -> Bool {
        switch piece {
        case .scalar(let wanted): wanted == scalar
        case .one: true
        case .many: false
        }
    }
}
