import Foundation
import FuzzTargets

/// A file that somebody made to bring its reader down, and what its reader must say.
struct HostileFile: Sendable {
    enum Answer: Sendable {
        /// An error that has this text in it.
        case refused(String)
        /// Data or an error: the file is legal, its size or form is the attack.
        case either
    }

    let name: String
    let target: FuzzTarget
    let answer: Answer
    let make: @Sendable () throws -> Data

    init(
        _ name: String, _ target: FuzzTarget, _ answer: Answer,
        _ make: @escaping @Sendable () throws -> Data
    ) {
        self.name = name
        self.target = target
        self.answer = answer
        self.make = make
    }

    static let all = models + archives + propertyLists + graphs + databases + predicates

    static func text(_ text: String) -> Data { Data(text.utf8) }

    static func many(_ text: String, _ count: Int) -> String {
        String(repeating: text, count: count)
    }

    static func lines(_ count: Int, _ line: (Int) -> String) -> String {
        (0..<count).map(line).joined()
    }
}
