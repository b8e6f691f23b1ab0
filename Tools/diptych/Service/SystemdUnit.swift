internal import Foundation
internal import Platform

/// A unit of the user's systemd that keeps one store in sync.
struct SystemdUnit {
    private let store: URL
    /// What the unit is to do beside watching the store.
    private let words: [String]
    private let folder: URL?
    private static let mark = "# Written by diptych sync --watch --install."

    init(
        store: URL, words: [String],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.store = store
        self.words = words
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
        let command = ([UnitFile.program, "sync", store.path, "--watch"] + words)
            .map(UnitFile.quoted)
        return """
            \(Self.mark)
            [Unit]
            Description=Sync of \(UnitFile.escaped(store.lastPathComponent))
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
        try UnitFile.write(text, to: folder, named: name, mark: Self.mark)
        let file = folder.appendingPathComponent(name)
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
}
