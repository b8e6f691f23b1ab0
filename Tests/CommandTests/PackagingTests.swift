import ChildProcesses
import Foundation
import Testing

/// What is shown for those who run the service fits the command.
@Suite struct PackagingTests {
    private static let folder = Workshop.package.appendingPathComponent("Tools/packaging")

    private func text(_ name: String) throws -> String {
        try String(contentsOf: Self.folder.appendingPathComponent(name), encoding: .utf8)
    }

    private static let analyzer = "/usr/bin/systemd-analyze"

    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: analyzer), "systemd is not installed"))
    func theUnitsArePlausibleToSystemd() throws {
        let workshop = try Workshop()
        for unit in ["diptych.service", "diptych-backup.service", "diptych-backup.timer"] {
            // Systemd looks for the program, which is not installed here.
            let here = try text(unit).replacing("/usr/local/bin/diptych", with: "/bin/true")
            try workshop.write(here, to: unit)
        }
        for unit in ["diptych.service", "diptych-backup.service", "diptych-backup.timer"] {
            let child = try workshop.start(
                Self.analyzer, ["verify", workshop.path(unit)])
            #expect(child.wait() == 0 && child.complaint.isEmpty, "\(unit): \(child.complaint)")
        }
        let look = try workshop.start(
            Self.analyzer,
            ["security", "--offline=true", "--threshold=20", workshop.path("diptych.service")])
        #expect(look.wait() == 0, "\(look.printed)")
    }

    /// What a unit sets, with the test's folders in the place of the machine's.
    private func environment(of unit: String, _ workshop: Workshop) throws -> [String: String] {
        let lines = try text(unit).split(separator: "\n").filter { $0.hasPrefix("Environment=") }
        let pairs = lines.map { line in
            let parts = line.dropFirst("Environment=".count).split(separator: "=")
            let value = String(parts[1]).replacing("/var/lib", with: workshop.path("lib"))
                .replacing("/etc", with: workshop.path("config"))
            return (String(parts[0]), value)
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    /// Else the backup is one of what is not served.
    @Test func theBackupKnowsTheSettingsOfTheService() throws {
        let workshop = try Workshop()
        // From before the records went there.
        try workshop.service("--data", workshop.path("lib/diptych")).kill()
        try FileManager.default.createDirectory(
            atPath: workshop.path("config/diptych"), withIntermediateDirectories: true)
        try workshop.write(
            "database = postgresql://nobody@127.0.0.1:1/records\n",
            to: "config/diptych/diptych.conf")
        for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
            workshop.environment[name] = nil
        }
        workshop.environment.merge(
            try environment(of: "diptych-backup.service", workshop), uniquingKeysWith: { $1 })
        let run = try workshop.run("service", "backup", workshop.path("b.sqlite"))
        #expect(run.status != 0 && run.complaint.contains("PostgreSQL"), "\(run.complaint)")
        #expect(!FileManager.default.fileExists(atPath: workshop.path("b.sqlite")))
    }

    @Test(arguments: ["diptych.service", "diptych-backup.service"])
    func theSettingsOfTheUnitsNameTheData(unit: String) throws {
        let workshop = try Workshop()
        try workshop.service("--data", workshop.path("kept")).kill()
        try FileManager.default.createDirectory(
            atPath: workshop.path("config/diptych"), withIntermediateDirectories: true)
        try workshop.write(
            "data = \(workshop.path("kept"))\n", to: "config/diptych/diptych.conf")
        workshop.environment.merge(
            try environment(of: unit, workshop), uniquingKeysWith: { $1 })
        let run = try workshop.run("service", "users", "--json")
        #expect(run.status == 0, "\(run.complaint)")
    }

    @Test func theUnitsKeepTheDataWhereTheyDid() throws {
        let workshop = try Workshop()
        try workshop.service("--data", workshop.path("lib/diptych")).kill()
        for unit in ["diptych.service", "diptych-backup.service"] {
            workshop.environment.merge(
                try environment(of: unit, workshop), uniquingKeysWith: { $1 })
            let run = try workshop.run("service", "users", "--json")
            #expect(run.status == 0, "\(unit): \(run.complaint)")
        }
    }

    @Test func theCommandWritesTheUnitThatIsShown() throws {
        let workshop = try Workshop()
        let folder = workshop.path("units")
        let run = try workshop.done(["serve", "--install", folder, "--json"])
        let unit = try #require(run.json["unit"] as? String)
        #expect(unit == folder + "/diptych.service")
        #expect((run.json["start"] as? String)?.contains("systemctl enable --now") == true)
        let written = try String(contentsOfFile: unit, encoding: .utf8)
        let shown = try text("diptych.service")
        let start = try #require(shown.range(of: "[Unit]"))
        #expect(
            written
                == "# Written by diptych serve --install.\n"
                + shown[start.lowerBound...].replacing(
                    "ExecStart=/usr/local/bin/diptych", with: "ExecStart=\"\(Workshop.command)\""))
        try workshop.done(["serve", "--install", folder])
        try Data("mine".utf8).write(to: URL(fileURLWithPath: unit))
        let refused = try workshop.run("serve", "--install", folder)
        #expect(refused.status == 1 && refused.complaint.contains("not this command's"))
        #expect(try String(contentsOfFile: unit, encoding: .utf8) == "mine")
    }

    @Test func aLinkThatLeadsNowhereIsNoUnitOfTheCommands() throws {
        let workshop = try Workshop()
        let (folder, unit) = (workshop.path("units"), workshop.path("units/diptych.service"))
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: unit, withDestinationPath: "/gone/diptych.service")
        let refused = try workshop.run("serve", "--install", folder, "--json")
        #expect(refused.status == 1 && refused.errorCode == "deadLink", "\(refused.complaint)")
        let destination = try? FileManager.default.destinationOfSymbolicLink(atPath: unit)
        #expect(destination == "/gone/diptych.service")
    }

    /// Each name in the example is a setting of `serve`, and each value one that it takes.
    @Test func theExampleOfSettingsIsTaken() throws {
        let workshop = try Workshop()
        let lines = try text("diptych.conf").split(separator: "\n").map(String.init)
        let shown = lines.map {
            $0.hasPrefix("#") && !$0.hasPrefix("# ") ? $0.dropFirst() : $0[...]
        }
        let settings = shown.filter { !$0.hasPrefix("#") && $0.contains("=") }
        #expect(settings.count > 9)
        let usable = settings.map(String.init).filter { line in
            // What names this machine's places is only read for its name.
            !["listen", "log ", "metrics"].contains { line.hasPrefix($0) }
        }
        try FileManager.default.createDirectory(
            atPath: workshop.path("config/diptych"), withIntermediateDirectories: true)
        try workshop.write(
            usable.joined(separator: "\n") + "\nlog = \(workshop.path("r.log"))\n",
            to: "config/diptych/diptych.conf")
        let service = try workshop.service()
        #expect(service.text("container") == "iCloud.org.example.notes")
        let help = try workshop.run("serve", "--help").output
        for line in settings {
            let name = line.split(separator: "=")[0].trimmingCharacters(in: .whitespaces)
            #expect(help.contains("--\(name)"), "\(name)")
        }
    }

    /// The reference names every setting, and the container image no other variables.
    @Test func theReferenceIsWhole() throws {
        let workshop = try Workshop()
        let page = try String(
            contentsOf: Workshop.package.appendingPathComponent("docs/OPERATIONS.md"),
            encoding: .utf8)
        let run = try workshop.run("help", "serve", "--json")
        let options = run.json["options"] as? [[String: Any]] ?? []
        let names = options.filter { $0["setting"] as? Bool == true }.compactMap {
            $0["name"] as? String
        }
        #expect(names.count > 15)
        for name in names { #expect(page.contains("| `\(name)` |"), "\(name)") }
        let image = try text("Containerfile")
        let known = options.compactMap { $0["variable"] as? String }
        for match in image.matches(of: #/DIPTYCH_[A-Z_]+/#) {
            #expect(known.contains(String(match.output)), "\(match.output)")
        }
    }
}
