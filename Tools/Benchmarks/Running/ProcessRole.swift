internal import Foundation

/// What one process of a run does. The program starts itself once for each, so that the peak memory
/// of each is its own.
enum ProcessRole: String {
    case objects, changes, memory, single, fetches, reading, walk, beside
    case latency, idle, change
    case serve, bareServe, bareSend, fill, sync, make, open
    case migrationFill, migrating, history, load, pull, growth
}

/// The words after the role: folder or file first, then whatever the role needs.
struct RoleArguments {
    let role: ProcessRole
    private let words: [String]

    init?(_ words: [String]) {
        guard words.count > 1, words[0] == "--role", let role = ProcessRole(rawValue: words[1])
        else {
            return nil
        }
        self.role = role
        self.words = Array(words.dropFirst(2))
    }

    var wordCount: Int { words.count }

    func text(_ index: Int) throws -> String {
        guard words.indices.contains(index) else {
            throw BenchmarkError("The role \(role.rawValue) lacks word \(index).")
        }
        return words[index]
    }

    func count(_ index: Int) throws -> Int {
        guard let number = Int(try text(index)) else {
            throw BenchmarkError("Word \(index) of the role \(role.rawValue) is no number.")
        }
        return number
    }

    func url(_ index: Int) throws -> URL { URL(fileURLWithPath: try text(index)) }
}

/// What stopped a run.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
