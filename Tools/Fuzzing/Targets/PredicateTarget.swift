internal import Foundation
internal import Predicates

/// Predicate formats, as an app may take them from a user: parsed, printed, parsed again,
/// evaluated.
enum PredicateTarget {
    private static let sample: [String: any Sendable] = [
        "a": 3, "b": "text", "c": [1, 2, 3], "d": ["a": [1], "b": [7, 8]],
        "e": Date(timeIntervalSinceReferenceDate: 1), "f": -0.5, "g": Data([1]),
    ]

    static func parse(_ data: Data) throws {
        let format = String(decoding: data, as: UTF8.self)
        let arguments: [Any?] = ["text", 7, nil, 2.5, ["a", "b"], Date(timeIntervalSince1970: 0)]
        let predicate = try NSPredicate.parse(format, arguments: arguments)
        let printed = predicate.description
        _ = try? NSExpression.parse(format, arguments: arguments)
        _ = predicate.evaluate(with: sample)
        let again: NSPredicate
        do {
            again = try NSPredicate.parse(printed)
        } catch let error as PredicateFormatError where error.code == .tooDeep {
            // Printing adds parentheses.
            return
        } catch {
            throw BrokenPromise(description: "its own print is refused: \(error)")
        }
        guard again.description == printed else {
            throw BrokenPromise(description: "\(printed) prints as \(again.description)")
        }
    }
}
