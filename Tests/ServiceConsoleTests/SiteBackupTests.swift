import Foundation
import Testing

private let node = ["/usr/bin/node", "/usr/local/bin/node"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

/// Whether the console's page offers a backup, as Node runs it.
@Suite(.enabled(if: node != nil)) struct SiteBackupTests {
    private static let site = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Mirror/ServiceConsole/Site")

    /// Elements that know their children and nothing else.
    private static let document = """
        class Element {
            constructor(name) { this.name = name; this.children = []; }
            append(...more) { this.children.push(...more); }
            replaceChildren(...more) { this.children = more; }
            setAttribute() {}
            addEventListener() {}
            get classList() { return { toggle: () => undefined }; }
            get text() { return this.children.map((each) => each.text ?? each).join(""); }
            get buttons() {
                const own = this.name === "button" ? [this.text] : [];
                return own.concat(...this.children.map((each) => each.buttons ?? []));
            }
        }
        const message = new Element("p");
        globalThis.document = {
            createElement: (name) => new Element(name), getElementById: () => message,
        };
        globalThis.fetch = async () => ({
            ok: true, status: 200, headers: new Map(), json: async () => [], text: async () => "[]",
        });
        """

    private func shown(_ storage: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("console-backups-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.site, includingPropertiesForKeys: nil)
        for file in files where file.pathExtension == "js" {
            let text = try String(contentsOf: file, encoding: .utf8)
            try text.replacing("\"/console/", with: "\"./").write(
                to: folder.appendingPathComponent(file.lastPathComponent), atomically: true,
                encoding: .utf8)
        }
        try #"{"type":"module"}"#.write(
            to: folder.appendingPathComponent("package.json"), atomically: true, encoding: .utf8)
        let script = """
            \(Self.document)
            const { storage } = await import("./storage.js");
            const main = new Element("main");
            await storage(main, {
                session: { storage: "\(storage)" }, isShown: () => true, onLeave: () => undefined,
            });
            console.log(main.buttons.join(), main.text.includes("pg_dump"));
            """
        let file = folder.appendingPathComponent("script.js")
        try script.write(to: file, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: node ?? "")
        process.arguments = [file.path]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let printed = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: printed, as: UTF8.self)
    }

    @Test func filesAreBackedUpByAButton() throws {
        #expect(try shown("files") == "Back up now,Look through the bucket false\n")
    }

    @Test func ofPostgreSQLThePageSaysWhatToUse() throws {
        #expect(try shown("postgres") == "Look through the bucket true\n")
    }

    @Test func whatIsInMemoryIsNotBackedUp() throws {
        #expect(try shown("memory") == "Look through the bucket false\n")
    }
}
