internal import Foundation

/// A `diptych.conf`: lines of `name = value`, named like the flags; `#` begins a remark.
struct ConfigurationFile: Sendable {
    static let name = "diptych.conf"

    let url: URL
    private(set) var values: [String: String] = [:]

    var folder: URL { url.deletingLastPathComponent() }

    /// The files that count, nearest first: beside the store, then in XDG_CONFIG_HOME.
    static func all(
        besideStore store: String?, environment: [String: String]
    ) throws -> [ConfigurationFile] {
        var places: [URL] = []
        if let store {
            places.append(URL(fileURLWithPath: store).absoluteURL.deletingLastPathComponent())
        }
        if let home = configurationHome(environment) {
            places += [home.appendingPathComponent("diptych"), home]
        }
        return try places.compactMap { folder in
            let url = folder.appendingPathComponent(name)
            guard FileManager.default.fileExists(atPath: url.path) else { return nil }
            return try ConfigurationFile(reading: url)
        }
    }

    private static func configurationHome(_ environment: [String: String]) -> URL? {
        if let path = environment["XDG_CONFIG_HOME"], path.hasPrefix("/") {
            return URL(fileURLWithPath: path)
        }
        return environment["HOME"].map {
            URL(fileURLWithPath: $0).appendingPathComponent(".config")
        }
    }

    private init(reading url: URL) throws {
        self.url = url
        guard let text = try? String(contentsOf: url, encoding: .utf8) else {
            throw CommandError(
                "badConfiguration", "The settings in \(url.path) cannot be read.",
                hint: "It must be a text file that you may read.", status: .usage)
        }
        let known = Set(VerbTable.manuals.flatMap(\.options).filter(\.isSetting).map(\.name))
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            let parts = line.split(separator: "=", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard parts.count == 2, known.contains(parts[0]) else {
                throw refusal(of: parts.first ?? line, line: index + 1, known)
            }
            values[parts[0]] = Self.unquoted(parts[1])
        }
    }

    private func refusal(of name: String, line: Int, _ known: Set<String>) -> CommandError {
        let near = Spelling.nearest(to: name, among: known.sorted())
        return CommandError(
            "badConfiguration", "\(url.path), line \(line): '\(name)' is no setting.",
            hint: near.map { "Did you mean '\($0) = …'?" }
                ?? "Lines are 'name = value'; names are "
                + known.sorted().joined(separator: ", ") + ".",
            status: .usage)
    }

    private static func unquoted(_ text: String) -> String {
        guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        return String(text.dropFirst().dropLast())
    }

    /// Writes settings into the file beside a store, keeping the lines that say other things.
    static func remember(_ settings: [(name: String, value: String)], besideStore store: URL) throws
    {
        let url = store.deletingLastPathComponent().appendingPathComponent(name)
        let old = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
        let names = Set(settings.map(\.name))
        var lines = old.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
            let name = line.split(separator: "=").first ?? ""
            return !names.contains(name.trimmingCharacters(in: .whitespaces))
        }.map(String.init)
        while lines.last?.isEmpty == true { lines.removeLast() }
        lines += settings.map { "\($0.name) = \($0.value)" }
        do {
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: url, options: .atomic)
        } catch {
            throw CommandError(
                "cannotWrite", "The settings cannot be written to \(url.path).",
                hint: "Check the folder's rights, or leave out --remember.")
        }
    }
}
