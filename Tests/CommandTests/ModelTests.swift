import Foundation
import Testing

/// What the command says of models, and what it makes of their files.
@Suite struct ModelTests {
    @Test func aModelIsDescribed() throws {
        let workshop = try Workshop()
        let json = try workshop.done(["model", "describe", Workshop.model, "--json"]).json
        let entities = json["entities"] as? [[String: Any]] ?? []
        #expect(entities.count == 7)
        let book = entities.first { $0["name"] as? String == "Book" } ?? [:]
        let attributes = book["attributes"] as? [[String: Any]] ?? []
        let lent = attributes.first { $0["name"] as? String == "lent" }
        #expect(lent?["type"] as? String == "Integer 32")
        #expect(lent?["default"] as? String == "0")
        let links = book["relationships"] as? [[String: Any]] ?? []
        let chapters = links.first { $0["name"] as? String == "chapters" }
        #expect(chapters?["deleteRule"] as? String == "cascade")
        #expect(chapters?["ordered"] as? Bool == true)
        let tag = entities.first { $0["name"] as? String == "Tag" }
        #expect(tag?["unique"] as? [[String]] == [["name"]])
        let text = try workshop.done(["model", "describe", Workshop.model]).output
        #expect(text.contains("Author : Person") && text.contains("unique: name"))
    }

    @Test func hashesAreThoseOfTheStore() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let json = try workshop.done(["model", "hash", Workshop.model, "--json"]).json
        #expect(Set(json.keys) == ["entities", "digest", "checksum"])
        let facts = try workshop.done(["inspect", library, "--json"]).json
        let stored = (facts["entities"] as? [[String: Any]] ?? []).reduce(
            into: [String: String]()
        ) { $0[$1["name"] as? String ?? ""] = $1["versionHash"] as? String }
        #expect(json["entities"] as? [String: String] == stored)
        let metadata = (facts["store"] as? [String: Any])?["metadata"] as? [String: Any]
        #expect(
            json["digest"] as? String == metadata?["NSStoreModelVersionHashesDigest"] as? String)
        let own = try workshop.done(["model", "hash", library, "--json"]).json
        #expect(own["digest"] as? String == json["digest"] as? String)
    }

    // MARK: Differences

    private static let price = #"<attribute name="price" optional="YES" attributeType="Decimal"/>"#

    private static let edits: [(from: String, to: String, code: String, effect: String)] = [
        (price, "", "removedAttribute", "losesData"),
        (
            price, price + #"<attribute name="isbn" optional="YES" attributeType="String"/>"#,
            "addedAttribute", "lightweight"
        ),
        (
            price, price + #"<attribute name="isbn" attributeType="String"/>"#, "addedAttribute",
            "impossible"
        ),
        (
            price,
            price + #"<attribute name="isbn" attributeType="String" defaultValueString="none"/>"#,
            "addedAttribute", "lightweight"
        ), (price, price.replacing("Decimal", with: "Double"), "type", "impossible"),
        (
            #""pages" optional="YES" attributeType="Integer 16""#,
            #""pages" optional="YES" attributeType="Integer 64""#, "type", "lightweight"
        ),
        (
            #""lent" optional="YES" attributeType="Integer 32""#,
            #""lent" optional="YES" attributeType="Integer 16""#, "type", "impossible"
        ),
        (
            price, price.replacing("name=\"price\"", with: "name=\"cost\" elementID=\"price\""),
            "renamedAttribute", "lightweight"
        ), (price, price.replacing("optional=\"YES\" ", with: ""), "required", "impossible"),
        (#"toMany="YES" ordered="YES""#, #"toMany="YES""#, "order", "losesData"),
        (#"defaultValueString="0""#, #"defaultValueString="1""#, "default", "none"),
        (#"<constraint value="name"/>"#, #"<constraint value="books"/>"#, "", ""),
        (
            #"<entity name="Tag" representedClassName="Tag""#,
            #"<entity name="Tag" representedClassName="Tag" parentEntity="Person""#,
            "mergedHierarchies", "impossible"
        ),
    ]

    @Test(arguments: edits.filter { !$0.code.isEmpty }) func aDifferenceIsNamedWithItsEffect(
        from: String, to: String, code: String, effect: String
    ) throws {
        let workshop = try Workshop()
        let newer = try workshop.model {
            var text = $0.replacing(from, with: to)
            if code == "mergedHierarchies" {
                text = text.replacing(#"<attribute name="name" attributeType="String"/>"#, with: "")
                text = text.replacing(#"<constraint value="name"/>"#, with: "")
            }
            return text
        }
        let run = try workshop.run("model", "diff", Workshop.model, newer, "--json")
        #expect(Set(run.json.keys) == ["needsMigration", "lightweight", "changes"])
        let changes = run.json["changes"] as? [[String: Any]] ?? []
        #expect(
            changes.contains {
                $0["change"] as? String == code && $0["effect"] as? String == effect
            })
        #expect(run.json["lightweight"] as? Bool == (effect != "impossible"))
        #expect(run.json["needsMigration"] as? Bool == (effect != "none"))
        #expect(run.status == (effect == "impossible" ? 1 : 0))
    }

    @Test func equalModelsDifferInNothing() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let run = try workshop.done(["model", "diff", library, Workshop.model, "--json"])
        #expect(run.json["needsMigration"] as? Bool == false)
        let text = try workshop.done(["model", "diff", library, Workshop.model]).output
        #expect(text.contains("no migration is needed"))
    }

    @Test func aRenamedEntityIsRecognised() throws {
        let workshop = try Workshop()
        let newer = try workshop.model {
            $0.replacing(
                #"<entity name="Jacket""#, with: #"<entity name="Cover" elementID="Jacket""#
            )
            .replacing(#"destinationEntity="Jacket""#, with: #"destinationEntity="Cover""#)
            .replacing(#"inverseEntity="Jacket""#, with: #"inverseEntity="Cover""#)
        }
        let run = try workshop.done(["model", "diff", Workshop.model, newer, "--json"])
        let changes = run.json["changes"] as? [[String: Any]] ?? []
        #expect(changes.compactMap { $0["change"] as? String } == ["renamedEntity"])
    }

    @Test func boundsAreComparedAsNumbers() throws {
        let workshop = try Workshop()
        let model = try workshop.model {
            $0.replacing(
                Self.price,
                with: #"<attribute name="price" optional="YES" attributeType="Double" "#
                    + #"minValueString="1e10" maxValueString="3e10"/>"#)
        }
        let compiled = workshop.path("Compiled.mom")
        try workshop.done(["model", "convert", model, compiled])
        let run = try workshop.done(["model", "diff", model, compiled, "--json"])
        #expect((run.json["changes"] as? [Any])?.isEmpty == true, "\(run.output)")
    }

    /// As after a version was copied, and the renaming identifiers of the copy changed: a migration
    /// goes by the names then, so that the difference does, too.
    @Test func anIdentifierThatNamesNothingRenamesNothing() throws {
        let workshop = try Workshop()
        let newer = try workshop.model {
            $0.replacing(
                #"<entity name="Jacket""#, with: #"<entity name="Jacket" elementID="X1""#
            ).replacing(
                #"<attribute name="pages""#, with: #"<attribute name="pages" elementID="X2""#)
        }
        let run = try workshop.done(["model", "diff", Workshop.model, newer, "--json"])
        #expect((run.json["changes"] as? [Any])?.isEmpty == true, "\(run.output)")
        let library = try workshop.library()
        let trial = try workshop.run("migrate", library, "--to", newer, "--dry-run")
        #expect(!trial.output.contains("LOSES DATA"), "\(trial.output)")
    }

    @Test func aNameForRecordsThatIsLetGoIsTold() throws {
        let workshop = try Workshop()
        let renamed = try workshop.model {
            $0.replacing(#""shelf""#, with: #""place" elementID="shelf""#)
        }
        let kept = workshop.path("Renamed.mom")
        try workshop.done(["model", "convert", renamed, kept])
        let cleared = try workshop.model { $0.replacing(#""shelf""#, with: #""place""#) }
        let run = try workshop.done(["model", "diff", kept, cleared, "--json"])
        let changes = run.json["changes"] as? [[String: Any]] ?? []
        let codes = changes.map { "\($0["change"] ?? "") \($0["property"] ?? "")" }
        #expect(codes == ["recordName place"], "\(run.output)")
        #expect(run.json["needsMigration"] as? Bool == false)
    }

    /// The name is another's that asks for it: as a migration has it, what had it is renamed.
    @Test func aNameThatAnotherAsksForIsNotKept() throws {
        let workshop = try Workshop()
        let newer = try workshop.model {
            $0.replacing(
                Self.price,
                with: Self.price.replacing(#""price""#, with: #""cost" elementID="price""#)
                    + Self.price.replacing(#""price""#, with: #""price" elementID="X1""#))
        }
        let run = try workshop.run("model", "diff", Workshop.model, newer, "--json")
        let changes = run.json["changes"] as? [[String: Any]] ?? []
        let codes = changes.map { "\($0["change"] ?? "") \($0["property"] ?? "")" }
        #expect(codes.sorted() == ["addedAttribute price", "renamedAttribute cost"], "\(codes)")
    }

    // MARK: Checks

    @Test func theCheckNamesWhatIsReadOtherwiseThanItStands() throws {
        let workshop = try Workshop()
        let odd = try workshop.model {
            $0.replacing(#"defaultValueString="0""#, with: #"defaultValueString="NO""#)
        }
        let text = try workshop.done(["model", "check", odd]).output
        #expect(text.contains("Read as Apple's compiler reads it:"))
        #expect(text.contains("Book.lent, line "))
        #expect(text.contains("defaultValueString=\"NO\""))
        let notes = try workshop.done(["model", "check", odd, "--json"]).json["notes"]
        #expect((notes as? [[String: Any]])?.first?["code"] as? String == "readingNote")
        let plain = try workshop.done(["model", "check", Workshop.model, "--json"]).json["notes"]
        #expect((plain as? [Any])?.isEmpty == true)
    }

    @Test func theCheckTellsWhoCanMirror() throws {
        let workshop = try Workshop()
        let run = try workshop.done(["model", "check", Workshop.model, "--json"])
        #expect(run.json["ok"] as? Bool == true)
        #expect((run.json["mirror"] as? [String: Any])?["ok"] as? Bool == true)
        let cloudKit = run.json["cloudKit"] as? [String: Any] ?? [:]
        #expect(cloudKit["ok"] as? Bool == false)
        let codes = (cloudKit["reasons"] as? [[String: Any]] ?? []).compactMap {
            $0["code"] as? String
        }
        #expect(Set(codes) == ["requiredWithoutDefault", "ordered", "uniquenessConstraint"])
        let rule = try workshop.model { $0.replacing("\"counter\"", with: "\"countr\"") }
        let refused = try workshop.run("model", "check", rule, "--json")
        #expect(refused.status == 1)
        #expect((refused.json["mirror"] as? [String: Any])?["ok"] as? Bool == false)
    }

    @Test func whatNoStoreDerivesIsTold() throws {
        let workshop = try Workshop()
        let derived =
            Self.price
            + #"<attribute name="sum" optional="YES" attributeType="Integer 64" derived="YES" "#
            + #"derivationExpression="chapters.@sum.length"/>"#
        let model = try workshop.model { $0.replacing(Self.price, with: derived) }
        let run = try workshop.run("model", "check", model, "--json")
        #expect(run.status == 1)
        let store = run.json["store"] as? [String: Any] ?? [:]
        #expect(store["ok"] as? Bool == false)
        let reason = (store["reasons"] as? [[String: Any]])?.first
        #expect(reason?["property"] as? String == "sum")
        #expect((reason?["message"] as? String)?.contains("intermediate component") == true)
        let text = try workshop.run("model", "check", model).output
        #expect(text.contains("No SQLite store can be made for it"))
    }

    @Test func aContradictionIsTold() throws {
        let workshop = try Workshop()
        let model = try workshop.model {
            $0.replacing(#"attributeType="Decimal""#, with: #"attributeType="Undefined""#)
        }
        let run = try workshop.run("model", "check", model, "--json")
        #expect(run.status == 1)
        #expect(run.json["ok"] as? Bool == false)
        let missing = try workshop.run("model", "check", workshop.path("none.mom"), "--json")
        #expect(missing.errorCode == "cannotRead")
    }

    // MARK: Files

    @Test(arguments: ["mom", "momd", "xcdatamodel", "xcdatamodeld"])
    func aModelIsConvertedAndBack(form: String) throws {
        let workshop = try Workshop()
        let other = workshop.path("Library.\(form)")
        try workshop.done(["model", "convert", Workshop.model, other])
        let back = workshop.path("Back.xcdatamodel")
        try workshop.done(["model", "convert", other, back])
        for work in ["describe", "hash"] {
            let given = try workshop.done(["model", work, Workshop.model, "--json"]).output
            #expect(try workshop.done(["model", work, other, "--json"]).output == given)
            #expect(try workshop.done(["model", work, back, "--json"]).output == given)
        }
        let again = try workshop.run("model", "convert", Workshop.model, other, "--json")
        #expect(again.errorCode == "exists")
    }

    @Test func whatAFileCannotHoldIsSaid() throws {
        let workshop = try Workshop()
        let request = """
            <fetchRequest name="early" entity="Book" predicateString="title BEGINSWITH 'A'"/>\
            <fetchRequest name="cheap" entity="Book" predicateString="price &lt; 3"/></model>
            """
        let model = try workshop.model { $0.replacing("</model>", with: request) }
        let compiled = workshop.path("Library.mom")
        let run = try workshop.done(["model", "convert", model, compiled, "--json"]).json
        #expect(run["hiddenFromApple"] as? [String] == ["the stored request early"])
        #expect(run["lost"] as? [String] == [])
        let text = try workshop.done(["model", "describe", compiled]).output
        #expect(text.contains("cheap: Book where price < 3"))
        #expect(text.contains("early: Book where title BEGINSWITH 'A'"))
        let source = workshop.path("Again.xcdatamodel")
        let plain = try workshop.done(["model", "convert", compiled, source]).output
        #expect(!plain.contains("cannot hold"))
    }

    @Test func aRenamedPropertyIsNoDifferenceFromItself() throws {
        let workshop = try Workshop()
        let twins =
            Self.price
            + #"<attribute name="cost" optional="YES" attributeType="Decimal" elementID="price"/>"#
        let model = try workshop.model { $0.replacing(Self.price, with: twins) }
        let run = try workshop.done(["model", "diff", model, model, "--json"]).json
        #expect((run["changes"] as? [Any])?.isEmpty == true)
    }

    @Test func aBundleKeepsItsVersions() throws {
        let workshop = try Workshop()
        let first = workshop.path("Library.xcdatamodeld/One.xcdatamodel")
        let second = workshop.path("Library.xcdatamodeld/Two.xcdatamodel")
        try workshop.done(["model", "convert", Workshop.model, first])
        let newer = try workshop.model { $0.replacing(Self.price, with: "") }
        try workshop.done(["model", "convert", newer, second])
        let mark = """
            <plist version="1.0"><dict><key>_XCCurrentVersionName</key>\
            <string>Two.xcdatamodel</string></dict></plist>
            """
        try workshop.write(mark, to: "Library.xcdatamodeld/.xccurrentversion")
        let bundle = workshop.path("Library.xcdatamodeld")
        let compiled = workshop.path("Library.momd")
        let run = try workshop.done(["model", "convert", bundle, compiled, "--json"])
        #expect(run.json["versions"] as? [String] == ["One", "Two"])
        func digest(_ words: String...) throws -> String? {
            try workshop.done(["model", "hash"] + words + ["--json"]).json["digest"] as? String
        }
        #expect(try digest(compiled) == digest(newer))
        #expect(try digest(compiled, "--version", "One") == digest(Workshop.model))
        let sources = workshop.path("Again.xcdatamodeld")
        try workshop.done(["model", "convert", compiled, sources])
        #expect(try digest(sources) == digest(newer))
        let none = try workshop.run("model", "hash", bundle, "--version", "Three", "--json")
        #expect(none.errorCode == "missingVersion")
    }

    @Test func classesAreGenerated() throws {
        let workshop = try Workshop()
        let folder = workshop.path("Classes")
        let run = try workshop.done(["model", "generate", Workshop.model, folder, "--json"])
        let files = run.json["files"] as? [String] ?? []
        #expect(files.count == 14 && files.contains("Book+CoreDataClass.swift"))
        let text = try String(
            contentsOfFile: folder + "/Book+CoreDataProperties.swift", encoding: .utf8)
        #expect(text.contains("extension Book"))
        #expect(text.contains("@NSManaged public var title: String"))
    }
}
