internal import Foundation
internal import MirrorEngine

/// Where a round goes, with what it shows to get in and whom it believes.
struct Destination: Sendable, Equatable {
    let service: String
    /// Empty where the system's authorities count.
    let authorityFile: String
    /// Empty where the tokens stand in variables.
    let tokenFile: String

    fileprivate var words: [String] { [service, authorityFile, tokenFile] }
}

/// The destinations that the caller has agreed to, in a file of the caller's own.
///
/// A `diptych.conf` beside a store may have come with the store, from whoever made it. So it cannot
/// send tokens anywhere by itself: what it names must be known here, by `--remember` or `--trust`.
struct KnownServices: Sendable {
    private let file: URL?

    init(_ environment: [String: String]) {
        file = UserFolder.configuration(environment)?
            .appendingPathComponent("diptych/known-services")
    }

    func contains(_ destination: Destination) -> Bool { all.contains(destination) }

    /// Takes note of a destination. False where that cannot be kept.
    func add(_ destination: Destination) -> Bool {
        guard let file else { return false }
        let marks = destination.words.joined().unicodeScalars
        guard !marks.contains(where: { $0 == "\t" || $0 == "\n" }) else { return false }
        let folder = file.deletingLastPathComponent()
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return PrivateFile.alone(with: file) {
            let known = all
            guard !known.contains(destination) else { return true }
            let lines = (known + [destination]).map { $0.words.joined(separator: "\t") + "\n" }
            return (try? PrivateFile.write(lines.joined(), to: file)) != nil
        }
    }

    private var all: [Destination] {
        guard let file, let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
                .map(String.init)
            guard parts.count == 3 else { return nil }
            // Earlier versions kept the address as it was given.
            return Destination(
                service: ServiceAddress.spelled(parts[0]), authorityFile: parts[1],
                tokenFile: parts[2])
        }
    }
}
