internal import Foundation
internal import Platform

/// A unit of the user's systemd that keeps one store in sync.
struct SystemdUnit {
    private let store: URL
    private let folder: URL?
    private static let mark = "# Written by diptych sync --watch --install."

    init(store: URL, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.store = store
        folder = UserFolder.configuration(environment)?.appendingPathComponent("systemd/user")
    }

    /// From the store's path, so that two stores of one name have two units.
    var name: String {
        let plain = store.deletingPathExtension().lastPathComponent.map { character in
            character.isASCII && (character.isLetter || character.isNumber) ? character : "-"
        }
        let digest = store.path.utf8.reduce(UInt32(2_166_136_261)) {
            ($0 ^ UInt32($1)) &* 16_777_619
        }
        return "diptych-sync-\(String(plain))-\(String(digest, radix: 36)).service"
    }

    var text: String {
        let command = [Self.program, "sync", store.path, "--watch"].map(Self.quoted)
        return """
            \(Self.mark)
            [Unit]
            Description=Sync of \(Self.escaped(store.lastPathComponent))
            After=network-online.target

            [Service]
            ExecStart=\(command.joined(separator: " "))
            Restart=on-failure
            RestartSec=10
            NoNewPrivileges=true

            [Install]
            WantedBy=default.target

            """
    }

    /// Writes the unit, over a former one of this command's but over nobody else's.
    func install(_ console: Console) throws {
        guard let folder else {
            throw CommandError(
                "noHome", "There is no HOME to keep units in.", hint: "Set HOME, and try again.")
        }
        let file = folder.appendingPathComponent(name)
        if let former = try? String(contentsOf: file, encoding: .utf8),
            !former.hasPrefix(Self.mark)
        {
            throw CommandError(
                "exists", "\(file.path) is there already, and is not this command's.",
                hint: "Move it away first.")
        }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file, options: .atomic)
        } catch {
            throw CommandError(
                "cannotWrite", "\(file.path) cannot be written.",
                hint: "Check the rights of its folder and the free space.")
        }
        let start = "systemctl --user daemon-reload && systemctl --user enable --now \(name)"
        if console.isJSON {
            console.emit([
                "event": "installed", "unit": .string(file.path), "start": .string(start),
            ])
        } else {
            console.line("Wrote \(file.path). Start it now and with each login:")
            console.line("  \(start)")
        }
    }

    /// The file this process runs.
    private static var program: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "diptych"
    }

    /// A word as systemd reads it: in quotes, without its specifiers, variables and escapes.
    private static func quoted(_ word: String) -> String {
        let inner = escaped(word).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("$", with: "$$")
        return "\"\(inner)\""
    }

    private static func escaped(_ text: String) -> String {
        PlainText.line(text).replacing("%", with: "%%")
    }
}
