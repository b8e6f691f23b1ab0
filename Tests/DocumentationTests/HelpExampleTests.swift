import Foundation
import Testing

/// The examples below each verb's help are run as printed, but for those that need a service, a
/// bucket or another shell.
@Suite(.enabled(if: BuiltCommand.isPresent, "the command is not built"))
struct HelpExampleTests {
    @Test func theExamplesWork() throws {
        var seen = 0
        for block in try Document("docs/COMMAND.md").blocks where block.language == "text" {
            let examples = Self.examples(in: block.lines).filter(Self.runsAlone)
            guard !examples.isEmpty else { continue }
            let folder = try Self.workplace()
            defer { try? FileManager.default.removeItem(at: folder) }
            for example in examples {
                seen += 1
                let line = Self.before(example) + Self.addressed(example)
                let outcome = try BuiltCommand.run(line, in: folder)
                #expect(
                    outcome.status == Self.status(after: example), "\(example)\n\(outcome.text)")
                #expect(!outcome.text.contains("SQLite refused"), "\(example)\n\(outcome.text)")
            }
        }
        #expect(seen > 18)
    }

    /// The lines below "Examples", those that go on joined.
    private static func examples(in lines: [String]) -> [String] {
        let below = lines.drop { !$0.hasPrefix("Example") }.dropFirst()
        return below.joined(separator: "\n").replacing("\\\n", with: "")
            .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.hasPrefix("#") }
    }

    private static func runsAlone(_ example: String) -> Bool {
        let others = [
            "diptych sync", "diptych serve", "diptych sign-in", "s3://", "fpath", ".xcmappingmodel",
        ]
        return !others.contains { example.contains($0) }
    }

    /// What the reader has before the first example: a model, a store of it and a script.
    private static func workplace() throws -> URL {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("examples-\(UUID().uuidString)")
        let versions = folder.appendingPathComponent("Library.xcdatamodeld")
        for place in [versions, folder.appendingPathComponent("Sources")] {
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        }
        for place in [folder, versions] {
            try FileManager.default.copyItem(
                at: Document.root.appendingPathComponent("Tools/demo-model/Library.xcdatamodel"),
                to: place.appendingPathComponent("Library.xcdatamodel"))
        }
        try Self.addNextVersion(in: folder)
        try Data("@objc class Person {}\n".utf8)
            .write(to: folder.appendingPathComponent("Sources/Person.swift"))
        try Data("insert Book dispo title=\"The Dispossessed\" pages=341\n".utf8)
            .write(to: folder.appendingPathComponent("changes.txt"))
        try Data(Self.schema.utf8).write(to: folder.appendingPathComponent("shelf.ckdb"))
        try Data(Self.publicKey.utf8).write(to: folder.appendingPathComponent("public.pem"))
        let made = try BuiltCommand.run(
            "diptych create Library.sqlite --model Library.xcdatamodel && "
                + "diptych edit Library.sqlite changes.txt", in: folder)
        #expect(made.status == 0, "\(made.text)")
        return folder
    }

    /// Of a server's key, whose private half nobody has.
    private static let publicKey = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE+hJD/pod6smtRm5hnRHqBwCepYQA
        cvb92YAIxP7lwX0UnSVnGbSm6mgHQ8FVdlEDXqCH09pDxjxjap0iVRyEsQ==
        -----END PUBLIC KEY-----

        """

    private static let schema = """
        DEFINE SCHEMA
            RECORD TYPE CD_Book (
                CD_isbn STRING QUERYABLE,
                CD_colour STRING
            );

        """

    /// A version in which books have a weight. No mapping model leads to it: the example that names
    /// one is for readers who have one.
    private static func addNextVersion(in folder: URL) throws {
        let next = folder.appendingPathComponent("New.xcdatamodel")
        try FileManager.default.copyItem(
            at: folder.appendingPathComponent("Library.xcdatamodel"), to: next)
        let contents = next.appendingPathComponent("contents")
        let text = try String(contentsOf: contents, encoding: .utf8)
        let weight = "<attribute name=\"weight\" optional=\"YES\" attributeType=\"Double\"/>"
        try text.replacing("<attribute name=\"pages\"", with: weight + "<attribute name=\"pages\"")
            .write(to: contents, atomically: true, encoding: .utf8)
    }

    /// Makes room for what an example makes.
    private static func before(_ example: String) -> String {
        if example.contains("diptych key") { return passphrase }
        let home =
            "export HOME=\"$PWD\"; mkdir -p ~/.local/share/bash-completion/completions "
            + "~/.config/fish/completions; "
        if example.contains("diptych service") { return home + served }
        if example.contains("diptych share") { return home + shared }
        return example.contains("create Library.sqlite") ? home + "rm Library.sqlite; " : home
    }

    /// A script has its passphrase in a file, where a person is asked for it.
    private static let passphrase =
        "umask 077; echo 'four plain words here' > words; "
        + "diptych() { command diptych \"$@\" --passphrase-file words; }; "

    /// A service that runs as long as the example, always at one port, with another user who has an
    /// empty store. The port is not of those that other tests are given, and may be taken all the
    /// same: a service that cannot start is started again, and not for ever.
    private static let shared = """
        rm -f ready; tries=0
        until test -s ready; do
            if ! kill -0 ${service:-none} 2>/dev/null; then
                tries=$((tries + 1)); test $tries -lt 20 || exit 99
                test -s ben.tokens || echo $((20000 + RANDOM % 12000)) > port
                diptych serve --data records --listen 127.0.0.1:$(cat port) --ready-file ready \
                    >/dev/null & service=$!
            fi
            sleep 0.1
        done
        trap 'kill $service; wait $service' EXIT
        export DIPTYCH_SERVICE=https://127.0.0.1:$(cat port)
        export DIPTYCH_CONTAINER=iCloud.local.diptych DIPTYCH_CA_FILE=records/tls/authority.pem
        export DIPTYCH_TOKEN_FILE=records/iCloud.local.diptych.tokens
        test -s ben.tokens || {
            diptych service users --data records --add Ben --email ben@example.org
            diptych service tokens --data records --issue Ben --container $DIPTYCH_CONTAINER \
                --token-file ben.tokens
            diptych create Shared.sqlite --model Library.xcdatamodel
        } >/dev/null

        """

    /// The example with the address and the invitation that there are here.
    private static func addressed(_ example: String) -> String {
        guard example.contains("diptych share") else { return example }
        return example.replacing(
            "https://127.0.0.1:8443/share/LINK", with: "$(diptych share Library.sqlite link)"
        ).replacing("https://127.0.0.1:8443", with: "$DIPTYCH_SERVICE")
    }

    /// The data folder of a service that ran once, and knows books.
    private static let served = """
        test -d records || {
            diptych serve --data records --listen 127.0.0.1:0 --ready-file ready >/dev/null &
            until test -s ready; do kill -0 $! || exit 99; sleep 0.1; done; kill $!; wait
            diptych service schema --data records --container iCloud.local.diptych \
                --import shelf.ckdb >/dev/null; };\u{20}
        """

    /// The store was never synced, so it is not in sync, and there is no conflict to decide.
    private static func status(after example: String) -> Int32 {
        ["diptych status", "--resolve", "--restore "].contains { example.contains($0) } ? 1 : 0
    }
}
