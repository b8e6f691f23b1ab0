import Foundation
import ObjectModel
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

/// Files whose join tables and columns are spelled otherwise than a new store's would be.
@Suite struct OtherSpellingTests {
    private static func model() -> NSManagedObjectModel {
        let poll = TestModel.entity("Poll", [])
        let option = TestModel.entity("PollOption", [])
        let user = TestModel.entity("User", [])
        TestModel.relate(
            poll, "voters2", toMany: true, user, inverse: "polls", inverseToMany: true)
        TestModel.relate(
            option, "voters2", toMany: true, ordered: true, user, inverse: "options",
            inverseToMany: true)
        TestModel.relate(
            user, "blocked", toMany: true, user, inverse: "blockedBy", inverseToMany: true)
        return TestModel.model([poll, option, user])
    }

    /// What other spellings do to a file of ours, as statements.
    private static let spellings: [(name: String, statements: [String])] = [
        (
            "the numbers are the other way round",
            [
                "ALTER TABLE Z_1VOTERS2 RENAME COLUMN Z_3VOTERS2 TO X",
                "ALTER TABLE Z_1VOTERS2 RENAME COLUMN X TO Z_3VOTERS21",
                "ALTER TABLE Z_2VOTERS2 RENAME COLUMN Z_3VOTERS21 TO Z_3VOTERS2",
                "ALTER TABLE Z_2VOTERS2 RENAME COLUMN Z_FOK_3VOTERS21 TO Z_FOK_3VOTERS2",
            ]
        ),
        (
            "the other end names the table",
            ["ALTER TABLE Z_3BLOCKEDBY RENAME TO Z_3BLOCKED"]
        ),
        (
            "columns without numbers",
            [
                "ALTER TABLE Z_2VOTERS2 RENAME COLUMN Z_3VOTERS21 TO Z_3VOTERS2",
                "ALTER TABLE Z_2VOTERS2 RENAME COLUMN Z_FOK_3VOTERS21 TO Z_FOK_3VOTERS2",
            ]
        ),
    ]

    @Test(arguments: spellings.indices) func suchAFileGoesOnWorking(place: Int) throws {
        let scratch = try Scratch()
        let url = scratch.folder.appendingPathComponent("s.sqlite")
        var ids: [String: RowID] = [:]
        do {
            let fixture = try StoreFixture(Self.model(), url: url)
            for (name, entity) in [
                ("p", "Poll"), ("o", "PollOption"), ("u", "User"), ("v", "User"),
            ] {
                ids[name] = try fixture.insert(entity)
            }
            try link(fixture, ids)
        }
        let connection = try Connection(path: url.path)
        for statement in Self.spellings[place].statements { try connection.script(statement) }
        let fixture = try StoreFixture(Self.model(), url: url)
        let (p, o, u, v) = (
            try #require(ids["p"]), try #require(ids["o"]), try #require(ids["u"]),
            try #require(ids["v"])
        )
        func check(_ isWhole: Bool) throws {
            #expect(try Set(fixture.members(p, "voters2")) == (isWhole ? [u, v] : [u]))
            #expect(try fixture.members(o, "voters2") == (isWhole ? [v, u] : [v]))
            #expect(try fixture.members(u, "blocked") == [v])
            #expect(try fixture.members(u, "blockedBy") == [])
            #expect(try fixture.members(v, "blockedBy") == [u])
            #expect(try Set(fixture.members(u, "options")) == (isWhole ? [o] : []))
        }
        try check(true)
        _ = try fixture.save {
            $0.toManys = [
                try fixture.toMany(p, "voters2", remove: [v]),
                try fixture.toMany(o, "voters2", remove: [u]),
            ]
        }
        try check(false)
    }

    private func link(_ fixture: StoreFixture, _ ids: [String: RowID]) throws {
        let (u, v) = (try #require(ids["u"]), try #require(ids["v"]))
        _ = try fixture.save {
            $0.toManys = [
                try fixture.toMany(try #require(ids["p"]), "voters2", add: [u, v]),
                try fixture.toMany(
                    try #require(ids["o"]), "voters2", add: [u, v], order: [v, u]),
                try fixture.toMany(u, "blocked", add: [v]),
            ]
        }
    }
}
