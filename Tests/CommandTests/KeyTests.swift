import ChildProcesses
import Foundation
import Testing

/// Keys of sealed values, and objects that the log brings back.
@Suite struct KeyTests {
    @Test func aKeyFileIsMadeShownRotatedAndWrappedAnew() throws {
        let workshop = try Workshop()
        let (file, one) = (workshop.path("Library.keys"), try workshop.write("horse\n", to: "one"))
        let two = try workshop.write("staple\n", to: "two")
        let made = try workshop.done(
            ["key", "create", file, "--passphrase-file", one, "--json"]).json
        #expect((made["keys"] as? [String])?.count == 1)
        let facts = try FileManager.default.attributesOfItem(atPath: file)
        #expect(facts[.posixPermissions] as? Int == 0o600)
        let again = try workshop.run("key", "create", file, "--passphrase-file", one, "--json")
        #expect(again.status == 1 && again.errorCode == "fileExists")
        try workshop.done(["key", "rotate", file, "--passphrase-file", one])
        let shown = try workshop.done(["key", "show", file, "--json"]).json
        #expect((shown["keys"] as? [String])?.count == 2)
        #expect((shown["keys"] as? [String])?.first == made["seals"] as? String)
        try workshop.done([
            "key", "passphrase", file, "--passphrase-file", one, "--new-passphrase-file", two,
        ])
        let former = try workshop.run("key", "rotate", file, "--passphrase-file", one, "--json")
        #expect(former.status == 1 && former.errorCode == "keyRefused")
        try workshop.done(["key", "rotate", file, "--passphrase-file", two])
    }

    /// As shells make them of `<(…)`: a secret need not lie in a file.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/bin/bash")))
    func whatACallNamesMayBeAPipe() throws {
        let workshop = try Workshop()
        let (file, library) = (workshop.path("Library.keys"), try workshop.library())
        func bash(_ words: String) throws -> Run {
            let child = try workshop.start("/bin/bash", ["-c", words, Workshop.command])
            return Run(status: child.wait(), output: child.printed, complaint: child.complaint)
        }
        let made = try bash("exec \"$0\" key create '\(file)' --passphrase-file <(echo horse)")
        #expect(made.status == 0, "\(made.complaint)")
        let one = try workshop.write("horse\n", to: "one")
        try workshop.done(["key", "rotate", file, "--passphrase-file", one])
        let edited = try bash("exec \"$0\" edit '\(library)' <(echo 'insert Tag name=t')")
        #expect(edited.status == 0, "\(edited.complaint)")
        #expect(try workshop.sql(library, "select ZNAME from ZTAG") == "t")
        let folder = try workshop.run(
            "key", "create", workshop.path("none"), "--passphrase-file", workshop.folder.path)
        #expect(folder.status == 1 && folder.complaint.contains("holds no passphrase"))
    }

    @Test func aLinkedKeyFileIsChangedWhereItIs() throws {
        let workshop = try Workshop()
        let (file, link) = (workshop.path("real.keys"), workshop.path("Library.keys"))
        let one = try workshop.write("horse\n", to: "one")
        let two = try workshop.write("staple\n", to: "two")
        try workshop.done(["key", "create", file, "--passphrase-file", one])
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: "real.keys")
        try workshop.done(["key", "rotate", link, "--passphrase-file", one])
        try workshop.done([
            "key", "passphrase", link, "--passphrase-file", one, "--new-passphrase-file", two,
        ])
        let shown = try workshop.done(["key", "show", file, "--json"]).json
        #expect((shown["keys"] as? [String])?.count == 2)
        let destination = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
        #expect(destination == "real.keys")
        try workshop.done(["key", "rotate", file, "--passphrase-file", two])
    }

    /// What a link leads to may come back, as with a volume that is not mounted just now.
    @Test func aLinkThatLeadsNowhereIsNotWrittenOver() throws {
        let workshop = try Workshop()
        let one = try workshop.write("horse\n", to: "one")
        let link = workshop.path("a.link")
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: "gone/real.keys")
        func expectStays(_ what: String) {
            let destination = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
            #expect(destination == "gone/real.keys", "\(what)")
        }
        let made = try workshop.run("key", "create", link, "--passphrase-file", one, "--json")
        #expect(made.status == 1 && made.errorCode == "fileExists", "\(made.complaint)")
        expectStays("key")
        let service = try workshop.service()
        let place = [
            "--container", service.text("container"), "--token-file", link, "--json",
        ]
        let tokens = try workshop.run(
            ["service", "tokens", "--issue", "owner", "--data", service.text("dataFolder")]
                + place)
        #expect(tokens.status == 1 && tokens.errorCode == "fileExists", "\(tokens.complaint)")
        expectStays("tokens")
        let signIn = try workshop.run(
            ["sign-in", "--service", service.text("url"), "--ca-file", service.text("caFile")]
                + place)
        #expect(signIn.status == 1 && signIn.errorCode == "fileExists", "\(signIn.complaint)")
        expectStays("sign-in")
    }

    @Test func aFileThatLooksLikeAPartIsItsOwners() throws {
        let workshop = try Workshop()
        let own = try workshop.write("mine", to: "Library.keys.part")
        let pass = try workshop.write("horse\n", to: "pass")
        let file = workshop.path("Library.keys")
        try workshop.done(["key", "create", file, "--passphrase-file", pass])
        #expect((try? String(contentsOfFile: own, encoding: .utf8)) == "mine")
        let names = try FileManager.default.contentsOfDirectory(atPath: workshop.folder.path)
        #expect(
            names.filter { $0.hasPrefix("Library.keys") }.sorted()
                == ["Library.keys", "Library.keys.part"])
    }

    /// Each reads the file, wraps a further key for a while, and writes the file.
    @Test func rotationsAtOnceAllStay() throws {
        let workshop = try Workshop()
        let pass = try workshop.write("horse\n", to: "pass")
        let file = workshop.path("Library.keys")
        try workshop.done(["key", "create", file, "--passphrase-file", pass])
        let rotations = try (0..<6).map { _ in
            try workshop.start(["key", "rotate", file, "--passphrase-file", pass])
        }
        for rotation in rotations {
            let status = rotation.wait()
            #expect(status == 0, "\(rotation.complaint)")
        }
        let shown = try workshop.done(["key", "show", file, "--json"]).json
        #expect((shown["keys"] as? [String])?.count == 7)
    }

    @Test func theEndingOfALineBelongsToNoPassphrase() throws {
        let workshop = try Workshop()
        let file = workshop.path("Library.keys")
        let dos = try workshop.write("horse\r\nsecond\r\n", to: "dos")
        let plain = try workshop.write("horse", to: "plain")
        try workshop.done(["key", "create", file, "--passphrase-file", dos])
        try workshop.done(["key", "rotate", file, "--passphrase-file", plain])
        // Keys that an earlier version wrapped by the return too open by the same file still.
        let whole = try workshop.write("staple\r", to: "whole")
        let former = workshop.path("Former.keys")
        let twice = try workshop.write("staple\r\r\n", to: "twice")
        try workshop.done(["key", "create", former, "--passphrase-file", twice])
        try workshop.done(["key", "rotate", former, "--passphrase-file", whole])
        try workshop.done([
            "key", "passphrase", former, "--passphrase-file", whole, "--new-passphrase-file", plain,
        ])
        try workshop.done(["key", "rotate", former, "--passphrase-file", plain])
    }

    @Test func withoutAPassphraseOrAFileTheReasonIsTold() throws {
        let workshop = try Workshop()
        let empty = try workshop.write("\n", to: "empty")
        let file = workshop.path("k")
        let run = try workshop.run("key", "create", file, "--passphrase-file", empty, "--json")
        #expect(run.status == 1 && run.errorCode == "noPassphrase")
        #expect(try workshop.run("key", "show", file, "--json").errorCode == "noKeys")
        #expect(try workshop.run("key", "melt", file).status == 2)
        #expect(try workshop.run("key", "show", file, "--new-passphrase-file", empty).status == 2)
    }

    @Test func devicesWithTheKeySeeWhatTheServiceDoesNot() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let model = try Self.sealedModel(workshop)
        let (desk, phone) = (workshop.path("d.sqlite"), workshop.path("p.sqlite"))
        for store in [desk, phone] { try workshop.done(["create", store, "--model", model]) }
        try workshop.edit(desk, "insert Book title=sealed-words pages=1")
        let keys = [
            "--key-file", workshop.path("keys"), "--passphrase-file",
            try workshop.write("horse", to: "pass"),
        ]
        try workshop.done(["key", "create", keys[1]] + keys[2...])
        try workshop.done(["sync", desk] + service.settings + keys)
        // The phone joins before it has the key.
        try workshop.done(["sync", phone] + service.settings)
        #expect(try workshop.sql(phone, "select ZPAGES, ZTITLE is null from ZBOOK") == "1|1")
        try workshop.done(["sync", phone] + service.settings + keys)
        #expect(try workshop.sql(phone, "select ZTITLE from ZBOOK") == "sealed-words")
        try workshop.done(["verify", phone] + service.settings + keys)
        // Without the key a value that is there on both sides would look like a difference.
        for verb in ["sync", "verify"] {
            let without = try workshop.run([verb, phone, "--json"] + service.settings)
            #expect(without.status == 1 && without.errorCode == "keyMissing")
        }
    }

    /// The library with sealed titles.
    private static func sealedModel(_ workshop: Workshop) throws -> String {
        let contents = URL(fileURLWithPath: Workshop.model).appendingPathComponent("contents")
        let text = try String(contentsOf: contents, encoding: .utf8)
        let sealed = text.replacing(
            "<attribute name=\"title\"",
            with: "<attribute name=\"title\" allowsCloudEncryption=\"YES\"",
            maxReplacements: 1)
        try #require(sealed != text)
        let folder = URL(fileURLWithPath: workshop.path("Sealed.xcdatamodel"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(sealed.utf8).write(to: folder.appendingPathComponent("contents"))
        return folder.path
    }

    @Test func aDeletedObjectIsRestoredFromTheLog() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let (desk, phone) = (try workshop.library("d.sqlite"), try workshop.library("p.sqlite"))
        try workshop.edit(desk, "insert Book title=a pages=1")
        for store in [desk, phone] { try workshop.done(["sync", store] + service.settings) }
        try workshop.edit(desk, "delete Book[pages == 1]")
        try workshop.edit(phone, "set Book[pages == 1] shelf=kept")
        for store in [desk, phone] { try workshop.done(["sync", store] + service.settings) }
        let run = try workshop.done(["conflicts", phone, "--restore", "1"])
        #expect((run.output + run.complaint).contains("is there again, with its links"))
        for store in [phone, desk] { try workshop.done(["sync", store] + service.settings) }
        #expect(try workshop.sql(desk, "select ZTITLE, ZSHELF from ZBOOK") == "a|kept")
        let again = try workshop.run("conflicts", phone, "--restore", "1", "--json")
        #expect(again.status == 1 && again.errorCode == "unknownConflict")
        let both = ["conflicts", phone, "--restore", "1", "--resolve", "1", "--take", "local"]
        #expect(try workshop.run(both).status == 2)
    }
}
