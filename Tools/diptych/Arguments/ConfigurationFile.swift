internal import Foundation

/// A `diptych.conf`: lines of `name = value`, named like the flags; `#` begins a remark.
///
/// It says where tokens go, so it counts only where nobody else can have written it: it belongs to
/// the caller or to root, and neither a group nor everybody may write it.
struct ConfigurationFile: Sendable {
    static let name = "diptych.conf"

    let url: URL
    let isBesideStore: Bool
    private(set) var values: [String: String] = [:]
    /// Names that stand in it more than once.
    private var repeated: [String] = []

    var folder: URL { url.deletingLastPathComponent() }

    /// The files that count, nearest first: beside the store, then in XDG_CONFIG_HOME; and what to
    /// say of those that do not.
    static func all(
        besideStore store: String?, environment: [String: String]
    ) throws -> (files: [ConfigurationFile], warnings: [String]) {
        var places: [(folder: URL, isBesideStore: Bool)] = []
        if let store {
            let folder = URL(fileURLWithPath: store).absoluteURL.deletingLastPathComponent()
            places.append((folder, true))
        }
        if let home = UserFolder.configuration(environment) {
            places += [(home.appendingPathComponent("diptych"), false), (home, false)]
        }
        var files: [ConfigurationFile] = []
        var warnings: [String] = []
        for (folder, isBesideStore) in places {
            let url = folder.appendingPathComponent(name)
            if let reason = distrust(url) { warnings.append(reason) }
            guard isFile(url), distrust(url) == nil else { continue }
            let file = try ConfigurationFile(reading: url, isBesideStore: isBesideStore)
            warnings += file.repeated.map {
                "'\($0)' stands twice in \(url.path); the last line counts"
            }
            files.append(file)
        }
        return (files, warnings)
    }

    private static func isFile(_ url: URL) -> Bool {
        FileManager.default.fileExists(atPath: url.path)
    }

    /// Why a file that is there does not count; nil where it does. A link counts as much as whoever
    /// made it, and then as much as what it leads to.
    private static func distrust(_ url: URL) -> String? {
        var facts = stat()
        for look in [lstat, stat] {
            guard look(url.path, &facts) == 0 else { return nil }
            guard facts.st_uid == geteuid() || facts.st_uid == 0 else {
                return "\(url.path) belongs to another user, so its settings do not count; "
                    + "give them as flags"
            }
        }
        let open: mode_t = isOwnGroup(facts) ? 0o002 : 0o022
        guard facts.st_mode & open == 0 else {
            return "others may write \(url.path), so its settings do not count; "
                + "chmod go-w \(ShellWord.quoted(url.path)) makes them count"
        }
        return nil
    }

    /// Whether the file's group is its owner's alone, as many systems make one for each user.
    private static func isOwnGroup(_ facts: stat) -> Bool {
        guard let user = getpwuid(facts.st_uid)?.pointee, user.pw_gid == facts.st_gid,
            let group = getgrgid(facts.st_gid)?.pointee
        else { return false }
        return String(cString: user.pw_name) == String(cString: group.gr_name)
            && group.gr_mem?.pointee == nil
    }

    private init(reading url: URL, isBesideStore: Bool) throws {
        self.url = url
        self.isBesideStore = isBesideStore
        guard let text = try? String(contentsOf: url, encoding: .utf8) else {
            throw CommandError(
                "badConfiguration", "The settings in \(url.path) cannot be read.",
                hint: "It must be a text file that you may read.", status: .usage)
        }
        let known = Set(VerbTable.manuals.flatMap(\.options).filter(\.isSetting).map(\.name))
        for (index, line) in TextLines.all(of: text).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            let parts = line.split(separator: "=", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            let name = parts.first ?? line
            guard parts.count == 2, known.contains(name) else {
                throw known.contains(name)
                    ? refusal(ofEmpty: name, line: index + 1)
                    : refusal(of: name, line: index + 1, known)
            }
            if values[name] != nil, !repeated.contains(name) { repeated.append(name) }
            values[name] = Self.unquoted(parts[1])
        }
    }

    private func refusal(ofEmpty name: String, line: Int) -> CommandError {
        CommandError(
            "badConfiguration", "\(url.path), line \(line): '\(name)' has no value.",
            hint: "Write '\(name) = …', or leave the line out.", status: .usage)
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

    /// A value as `unquoted` reads it back. Throws for one of several lines.
    private static func quoted(_ value: String, of name: String) throws -> String {
        guard TextLines.all(of: value).count == 1 else {
            throw CommandError(
                "cannotWrite", "The value of --\(name) has more than one line.",
                hint: "Choose another name for it, or leave out --remember.")
        }
        let isBare =
            value == value.trimmingCharacters(in: .whitespaces) && value == unquoted(value)
        return isBare ? value : "\"\(value)\""
    }

    /// Writes settings into the file beside a store, keeping the lines that say other things. Only
    /// its owner may write it.
    static func remember(_ settings: [(name: String, value: String)], besideStore store: URL) throws
    {
        let url = store.deletingLastPathComponent().appendingPathComponent(name)
        try PrivateFile.refuseDeadLink(url)
        let old = distrust(url) == nil ? (try? String(contentsOf: url, encoding: .utf8)) ?? "" : ""
        let names = Set(settings.map(\.name))
        var lines = TextLines.all(of: old).filter { line in
            let name = line.split(separator: "=").first ?? ""
            return !names.contains(name.trimmingCharacters(in: .whitespaces))
        }
        while lines.last?.isEmpty == true { lines.removeLast() }
        lines += try settings.map { "\($0.name) = \(try quoted($0.value, of: $0.name))" }
        do {
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: url, options: .atomic)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644], ofItemAtPath: url.path)
        } catch {
            throw CommandError(
                "cannotWrite", "The settings cannot be written to \(url.path).",
                hint: "Check the folder's rights, or leave out --remember.")
        }
    }
}

/// Folders of the caller's own.
enum UserFolder {
    /// Nil where HOME names no place: an empty one would be the folder of the moment.
    static func home(_ environment: [String: String]) -> URL? {
        environment["HOME"].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
    }

    /// XDG_CONFIG_HOME, else `.config` of the home folder.
    static func configuration(_ environment: [String: String]) -> URL? {
        if let path = environment["XDG_CONFIG_HOME"], path.hasPrefix("/") {
            return URL(fileURLWithPath: path)
        }
        return home(environment)?.appendingPathComponent(".config")
    }
}
