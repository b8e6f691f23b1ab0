import ChildProcesses
import Foundation
import Testing

/// What a round would do, whether both sides are equal, and one object's life: all by looking only.
@Suite struct ComparisonTests {
    private static func conflicting(_ workshop: Workshop) throws -> (
        desk: String, phone: String, service: TestService
    ) {
        let service = try workshop.service()
        let desk = try workshop.library("desk.sqlite")
        let phone = try workshop.library("phone.sqlite")
        try workshop.edit(
            desk, "insert Book a title=Emma pages=474\ninsert Book b title=Persuasion pages=249")
        for store in [desk, phone] { try workshop.done(["sync", store] + service.settings) }
        try workshop.edit(desk, "set Book[title == 'Emma'] pages=1")
        try workshop.edit(desk, "delete Book[title == 'Persuasion']\ninsert Book c title=Sanditon")
        try workshop.done(["sync", desk] + service.settings)
        try workshop.edit(
            phone, "set Book[title == 'Emma'] pages=2\ninsert Tag t name=Austen")
        return (desk, phone, service)
    }

    /// The bytes of a store and its log, and all that the service has.
    private static func bytes(_ store: String) -> [Data?] {
        ["", "-wal"].map { FileManager.default.contents(atPath: store + $0) }
    }

    /// All that the service has but for when a token was last used, which it notes a little later.
    private static func kept(_ workshop: Workshop) throws -> [Substring] {
        try workshop.sql(workshop.path("service/records.sqlite"), ".dump").split(separator: "\n")
            .filter { !$0.hasPrefix("INSERT INTO token_uses ") }
    }

    // MARK: sync --dry-run

    @Test func aDryRunSaysWhatWouldTravelAndChangesNothing() throws {
        let workshop = try Workshop()
        let (_, phone, service) = try Self.conflicting(workshop)
        let before = Self.bytes(phone)
        let dump = try workshop.sql(phone, ".dump")
        let records = try Self.kept(workshop)
        let run = try workshop.done(["sync", phone, "--dry-run", "--json"] + service.settings)
        #expect(Self.bytes(phone) == before)
        #expect(try workshop.sql(phone, ".dump") == dump)
        #expect(try Self.kept(workshop) == records)

        let sent = run.lines.filter { $0["event"] as? String == "send" }
        #expect(
            Set(sent.map { "\($0["kind"] ?? "") \($0["object"] ?? "")" }) == [
                "create Tag/p1", "update Book/p1",
            ])
        let update = try #require(sent.first { $0["kind"] as? String == "update" })
        #expect(update["properties"] as? [String] == ["pages"])
        let applied = run.lines.filter { $0["event"] as? String == "apply" }
        let deeds = applied.map { "\($0["kind"] ?? "") \($0["object"] ?? "")" }
        #expect(deeds.contains("delete Book/p2"))
        #expect(deeds.contains { $0.hasPrefix("insert Book/p") })
        let conflict = try #require(
            run.lines.first { $0["event"] as? String == "conflict" }?["conflict"]
                as? [String: Any])
        #expect(conflict["property"] as? String == "pages")
        #expect(conflict["winner"] as? String == "local")
        #expect(run.json["event"] as? String == "preview")
        #expect(run.json["conflicts"] as? Int == 1)

        // The round then does as it was said.
        let real = try workshop.done(["sync", phone, "--json"] + service.settings)
        #expect(real.json["exported"] as? Int == run.json["sent"] as? Int)
        #expect(real.json["conflicts"] as? Int == 1)
    }

    @Test func aDryRunIsReadByPeople() throws {
        let workshop = try Workshop()
        let (_, phone, service) = try Self.conflicting(workshop)
        let text = try workshop.done(
            ["sync", phone, "--dry-run", "--policy", "remote"] + service.settings
        ).output
        #expect(text.contains("Nothing was changed."))
        #expect(text.contains("SEND  1"))
        #expect(text.contains("Book/p1.pages  remote wins, by remote  base 474, local 2, remote 1"))
    }

    @Test func aDryRunOfAStoreThatWasNeverSyncedMakesNothing() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let store = try workshop.library()
        try workshop.edit(store, "insert Book title=Emma")
        let before = Self.bytes(store)
        let run = try workshop.done(["sync", store, "--dry-run", "--json"] + service.settings)
        #expect(run.json["sent"] as? Int == 1)
        #expect(Self.bytes(store) == before)
        #expect(try workshop.run("status", store).output.contains("never synced"))
        let wrong = try workshop.run(
            ["sync", store, "--dry-run", "--remember"] + service.settings)
        #expect(wrong.status == 2)
    }

    // MARK: verify

    @Test func equalSidesHaveOneDigest() throws {
        let workshop = try Workshop()
        let (desk, phone, service) = try Self.conflicting(workshop)
        // A relationship that is its own inverse leads from both ends to one pair.
        try workshop.edit(desk, "insert Book left title=Left\nlink left.related left")
        try workshop.edit(
            desk, "insert Book right title=Right\nlink right.related Book[title == 'Left']")
        for store in [phone, desk, phone] { try workshop.done(["sync", store] + service.settings) }
        let run = try workshop.done(["verify", desk, "--json"] + service.settings)
        let here = try #require(run.json["store"] as? [String: Any])
        let there = try #require(run.json["service"] as? [String: Any])
        #expect(run.json["equal"] as? Bool == true)
        #expect(here["digest"] as? String == there["digest"] as? String)
        #expect(here["objects"] as? Int == 5)
        let other = try workshop.done(["verify", phone, "--json"] + service.settings)
        #expect(
            (other.json["store"] as? [String: Any])?["digest"] as? String
                == here["digest"] as? String)
        let text = try workshop.done(["verify", desk] + service.settings).output
        #expect(text.contains("hold the same"))
    }

    @Test func whatWaitsHasItsReason() throws {
        let workshop = try Workshop()
        let (_, phone, service) = try Self.conflicting(workshop)
        let before = Self.bytes(phone)
        let run = try workshop.run(["verify", phone, "--json"] + service.settings)
        #expect(run.status == 1)
        #expect(Self.bytes(phone) == before)
        let found = run.lines.dropLast().map {
            "\($0["kind"] ?? "") \($0["object"] ?? ""): \($0["reason"] ?? "")"
        }
        #expect(found.contains("differs Book/p1: both sides changed since they last met"))
        #expect(found.contains("onlyHere Tag/p1: it waits to be sent"))
        #expect(
            found.contains { $0.hasPrefix("onlyThere Book ") && $0.hasSuffix("not fetched yet") })
        #expect(found.contains { $0.hasPrefix("onlyHere Book/p2: ") })
        #expect(run.json["unexplained"] as? Int == 0)
        let text = try workshop.run(["verify", phone, "--limit", "1"] + service.settings).output
        #expect(text.contains("more; --limit shows them"))
        #expect(text.contains("diptych sync \(phone)"))
    }

    /// A store that was synced, with a photo in a file of its own.
    private static func photos(_ workshop: Workshop, _ service: TestService) throws -> String {
        let model = workshop.path("Photos.xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        try workshop.write(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Photo">
                    <attribute name="bytes" optional="YES" attributeType="Binary" \
            allowsExternalBinaryDataStorage="YES"/>
                </entity>
            </model>
            """, to: "Photos.xcdatamodel/contents")
        let store = workshop.path("Photos.sqlite")
        try workshop.done(["create", store, "--model", model])
        let large = Data(repeating: 7, count: 200_000).base64EncodedString()
        try workshop.done(
            ["import", store, "-"],
            input: #"{"entity":"Photo","values":{"bytes":"\#(large)"}}"#)
        try workshop.done(["sync", store] + service.settings)
        return store
    }

    /// Earlier versions kept values beside the link by which a store was opened.
    @Test func largeValuesBesideALinkAreCompared() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let store = try Self.photos(workshop, service)
        let files = FileManager.default
        try files.createDirectory(
            atPath: workshop.path("links/.Photos_SUPPORT"), withIntermediateDirectories: true)
        try files.moveItem(
            atPath: workshop.path(".Photos_SUPPORT/_EXTERNAL_DATA"),
            toPath: workshop.path("links/.Photos_SUPPORT/_EXTERNAL_DATA"))
        let link = workshop.path("links/Photos.sqlite")
        try files.createSymbolicLink(atPath: link, withDestinationPath: store)
        let run = try workshop.run(["verify", link] + service.settings)
        #expect(run.output.contains("hold the same"), "\(run.output)")
    }

    @Test func largeValuesAreCompared() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let store = try Self.photos(workshop, service)
        let values = workshop.path(".Photos_SUPPORT/_EXTERNAL_DATA")
        let names = try FileManager.default.contentsOfDirectory(atPath: values)
        #expect(names.count == 1)
        #expect(
            try workshop.done(["verify", store] + service.settings).output
                .contains("hold the same"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: values) == names)
        // A value whose file is gone is told still.
        for name in names { unlink("\(values)/\(name)") }
        let run = try workshop.run(["verify", store] + service.settings)
        #expect(run.status == 1 && run.output.contains("bytes is"))
    }

    /// A book with a tag in a store of the sample model that was synced, and migrated to one in
    /// which the relationship between both is as `change` makes it.
    private static func migrated(
        _ workshop: Workshop, _ service: TestService, _ change: (String) -> String
    ) throws -> String {
        let library = try workshop.library()
        try workshop.edit(
            library, "insert Tag t name=Austen\ninsert Book a title=Emma\nlink a.tags t")
        try workshop.done(["sync", library] + service.settings)
        let newer = try workshop.model(change)
        try workshop.done(["migrate", library, "--to", newer])
        try workshop.done(["sync", library] + service.settings)
        return library
    }

    private static let tags =
        #"<relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify" "#
        + #"destinationEntity="Tag" inverseName="books" inverseEntity="Tag""#
    private static let books =
        #"<relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify" "#
        + #"destinationEntity="Book" inverseName="tags" inverseEntity="Book"/>"#

    @Test func pairsUnderAFormerNameAreTheSame() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try Self.migrated(workshop, service) {
            $0.replacing(
                Self.tags + "/>",
                with: #"<attribute name="isbn" optional="YES" attributeType="String"/>"#
                    + Self.tags + #"><userInfo><entry key="MirrorName" value="labels"/>"#
                    + "</userInfo></relationship>")
        }
        let text = try workshop.done(["verify", library] + service.settings).output
        #expect(text.contains("hold the same"), "\(text)")
    }

    @Test func whatTheModelHasNoMoreIsKeptAsideAndSettledByNoRound() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try Self.migrated(workshop, service) {
            $0.replacing(Self.tags + "/>", with: "").replacing(Self.books, with: "")
        }
        let run = try workshop.run(["verify", library] + service.settings)
        #expect(run.status == 1)
        #expect(
            run.output.contains("kept aside: the store's model has no such relationship"),
            "\(run.output)")
        #expect(run.output.contains("diptych status \(library)"))
        #expect(!run.output.contains("diptych sync \(library)"))
    }

    @Test func aDifferenceNobodyMadeIsFound() throws {
        let workshop = try Workshop()
        let (desk, _, service) = try Self.conflicting(workshop)
        // Past the history, as damage would.
        _ = try workshop.sql(desk, "update ZBOOK set ZPAGES = 7 where ZTITLE = 'Emma'")
        let run = try workshop.run(["verify", desk] + service.settings)
        #expect(run.status == 1)
        #expect(run.output.contains("pages is 7 in the store and 1 at the service, for no reason"))
        #expect(run.output.contains("1 difference without a reason"))
    }

    /// What another program wrote, and a column does not hold as it came, is no difference.
    @Test func whatAColumnRoundsIsEqual() throws {
        let workshop = try Workshop()
        let (desk, _, service) = try Self.conflicting(workshop)
        let tokens = try String(contentsOfFile: service.text("tokenFile"), encoding: .utf8)
        func token(_ name: String) -> String {
            let line = tokens.split(separator: "\n").first { $0.hasPrefix(name + ": ") } ?? ""
            return String(line.dropFirst(name.count + 2))
        }
        let record = """
            {"recordName":"foreign","recordType":"CD_Book","fields":{\
            "CD_entityName":{"value":"Book"},"CD_title":{"value":"Emma"},\
            "CD_price":{"value":1.5,"type":"DOUBLE"},\
            "CD_price_exact":{"value":"1.50000000000000000001"}}}
            """
        let child = try workshop.start(
            "/usr/bin/env",
            [
                "curl", "-s", "-k", "-H", "X-Diptych-API-Token: \(token("api"))",
                "-H", "X-Diptych-User-Token: \(token("user"))", "-d",
                #"{"zoneID":{"zoneName":"com.apple.coredata.cloudkit.zone"},"operations":["#
                    + #"{"operationType":"create","record":\#(record)}]}"#,
                service.text("url") + "/database/1/" + service.text("container")
                    + "/development/private/records/modify",
            ])
        child.wait()
        #expect(child.printed.contains("recordChangeTag"), "\(child.printed)")
        try workshop.done(["sync", desk] + service.settings)
        let text = try workshop.done(["verify", desk] + service.settings).output
        #expect(text.contains("hold the same"))
    }

    @Test func aStoreThatWasNeverSyncedIsNotVerified() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let store = try workshop.library()
        let run = try workshop.run(["verify", store, "--json"] + service.settings)
        #expect(run.status == 1 && run.errorCode == "notMirrored")
    }

    // MARK: trace

    @Test func anObjectsLifeIsTold() throws {
        let workshop = try Workshop()
        let (desk, phone, service) = try Self.conflicting(workshop)
        for store in [phone, desk] { try workshop.done(["sync", store] + service.settings) }
        let before = Self.bytes(phone)
        let run = try workshop.done(["trace", phone, "Book/p1", "--json"])
        #expect(Self.bytes(phone) == before)
        let kinds = run.lines.dropLast().map { $0["event"] as? String ?? "" }
        for kind in ["made", "changed", "conflict", "written"] { #expect(kinds.contains(kind)) }
        let name = try #require((run.json["records"] as? [String])?.first)
        let text = try workshop.done(["trace", phone, name]).output
        #expect(text.hasPrefix("Book/p1\n"))
        #expect(text.contains("pages: kept local, by local (base 474, local 2, remote 1"))
        let gone = try workshop.done(["trace", phone, "Book/p2"]).output
        #expect(gone.contains("is not here") && gone.contains("deleted"))
    }

    @Test func whatWaitsIsTold() throws {
        let workshop = try Workshop()
        let (_, phone, _) = try Self.conflicting(workshop)
        #expect(try workshop.done(["trace", phone, "Tag/p1"]).output.contains("to be sent"))
        let plain = try workshop.library("plain.sqlite")
        try workshop.edit(plain, "insert Book title=Emma")
        #expect(try workshop.done(["trace", plain, "Book/p1"]).output.contains("never synced"))
        let plainID = try workshop.sql(plain, "select Z_UUID from Z_METADATA")
        try workshop.done(["trace", plain, "x-coredata://\(plainID)/Book/p1"])
        try workshop.edit(plain, "delete Book[TRUEPREDICATE]")
        let gone = try workshop.done(["trace", plain, "Book/p1"]).output
        #expect(gone.contains("is not here") && gone.contains("deleted"))
        for word in ["nobody", "Book/p999", "x-coredata://\(plainID)/Book/p1"] {
            let run = try workshop.run("trace", phone, word, "--json")
            #expect(run.status == 1 && run.errorCode == "notFound", "\(word)")
        }
        let other = ["--object", "x-coredata://\(plainID)/Book/p1", "--json"]
        #expect(try workshop.run(["history", phone] + other).errorCode == "notFound")
    }
}
