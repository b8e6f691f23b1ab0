import Foundation
import Testing

/// Starting over with a service.
@Suite struct ResetTests {
    @Test func aStoreMovesToAnotherServiceAndKeepsEverything() throws {
        let workshop = try Workshop()
        let first = try workshop.service()
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag t name=a\ninsert Book b title=B\nlink b.tags t")
        try workshop.done(["sync", library] + first.settings)
        try workshop.edit(library, "insert Tag name=b\nset Book[title == 'B'] title=C")
        let second = try workshop.service("--data", workshop.path("second"))
        let refused = try workshop.run(["sync", library, "--json"] + second.settings)
        #expect(refused.errorCode == "otherContainer")
        #expect((refused.error["hint"] as? String)?.contains("diptych reset") == true)
        let before = try workshop.sql(library, "select * from ZTAG; select * from ZBOOK")
        let reset = try workshop.done(["reset", library, "--json"]).json
        #expect(reset["reset"] as? Bool == true)
        #expect((reset["service"] as? String)?.hasPrefix(first.text("url")) == true)
        #expect(reset["waiting"] as? Int == 2)
        #expect(try workshop.sql(library, "select * from ZTAG; select * from ZBOOK") == before)
        try workshop.done(["sync", library] + second.settings)
        let copy = try workshop.library("Copy.sqlite")
        try workshop.done(["sync", copy] + second.settings)
        try workshop.expectEqual(library, copy)
    }

    @Test func theSameServiceSeesNothingTwice() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag t name=a\ninsert Book b title=B\nlink b.tags t")
        try workshop.done(["sync", library] + service.settings)
        try workshop.edit(library, "delete Tag[name == 'a']")
        let text = try workshop.done(["reset", library]).output
        #expect(text.contains("tied to no service"))
        let run = try workshop.done(["sync", library, "--json"] + service.settings)
        #expect(run.json["inSync"] as? Bool == true)
        let copy = try workshop.library("Copy.sqlite")
        try workshop.done(["sync", copy] + service.settings)
        try workshop.expectEqual(library, copy, rows: 1)
        #expect(try workshop.sql(copy, "select count(*) from ZTAG") == "0")
    }

    @Test func aStoreThatWasNeverSyncedIsLeftAlone() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let run = try workshop.done(["reset", library])
        #expect(run.output.contains("never synced"))
        let missing = try workshop.run("reset", workshop.path("none.sqlite"), "--json")
        #expect(missing.errorCode == "noStore")
    }
}
