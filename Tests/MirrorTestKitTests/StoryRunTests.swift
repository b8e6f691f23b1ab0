import Foundation
import MirrorTestKit
import Testing

/// What a story does, tells and finds false.
@Suite struct StoryRunTests {
    private static let head = """
        entity Note: title text, views integer counter, done flag, at date, size number
        entity Folder: name text
        relation Folder.notes many ordered, Note.folder one
        devices Ann, Ben

        """

    @Test func aFalseExpectationSaysWhatIsThere() throws {
        let report = try StoryStage.play(
            Self.head + """
                Ann inserts Note n with title "Milk"
                expect n.title is "Bread" on Ann
                expect n is there
                expect n is gone on Ann
                expect 2 Note on Ann
                expect everyone agrees
                expect Ann is in sync
                expect n.title was logged
                expect n.title waits
                expect it was refused
                Ann syncs
                expect n is there on the service
                """)
        let failures = report.failures.compactMap(\.failure)
        #expect(
            failures == [
                "Ann has n.title \"Milk\".", "Ben has no n.", "Ann has n.", "Ann has 1 Note.",
                "Only Ann has n.", "Ann is not in sync: something waits.",
                "There is no such line; nothing was logged.",
                "It does not wait; nothing was logged.", "Nothing was refused.",
            ], "\(report.told)")
        #expect(!report.holds)
        #expect(report.steps.last?.failure == nil)
    }

    @Test func aStepThatCannotBeDoneEndsTheStory() throws {
        let report = try StoryStage.play(
            Self.head + """
                Ann inserts Note n
                Ben sets n.title to "x"
                Ann syncs
                """)
        #expect(report.steps.count == 2)
        #expect(report.failures.first?.failure == "Ben has no object n.")
    }

    /// It comes up again, and the next round learns what the service has.
    @Test func everyoneSettlesOverADeviceThatDies() throws {
        let report = try StoryStage.play(
            Self.head + """
                Ann inserts Note n with title "Milk"
                Ann crashes in the next sync
                everyone settles
                expect n.title is "Milk"
                expect 1 Note
                expect everyone agrees
                """)
        #expect(report.holds, "\(report.told)")
    }

    @Test func whoDoesNotComeToRestSaysWhy() throws {
        let report = try StoryStage.play(
            Self.head + """
                Ann inserts Note n
                Ann goes offline
                everyone settles
                """)
        #expect(
            report.failures.first?.failure
                == "Ann does not come to rest: There is no network.")
    }

    @Test func aChoiceThatNoQueryCanAskFailsItsLine() throws {
        let report = try StoryStage.play(
            Self.head + """
                Ann inserts Note n
                Ann chooses Note where "nope == 1"
                """)
        #expect(report.failures.first?.failure?.contains("nope") == true, "\(report.told)")
    }

    @Test func dataMayBeEmpty() throws {
        let report = try StoryStage.play(
            """
            entity Note: title text, body data
            devices Ann, Ben
            Ann inserts Note n with body base64:, title "x"
            everyone settles
            expect n.body is base64:
            expect n.title is "x"
            """)
        #expect(report.holds, "\(report.told)")
    }

    @Test func aRefusalThatNobodyExpectsFailsTheNextStep() throws {
        let report = try StoryStage.play(
            """
            entity Note: title text required
            devices Ann
            Ann inserts Note n
            Ann syncs
            """)
        #expect(report.failures.count == 1)
        #expect(report.steps[0].notes.contains { $0.hasPrefix("refused: ") }, "\(report.told)")
    }

    @Test func everyKindOfValueComesOver() throws {
        let report = try StoryStage.play(
            """
            entity All: t text, i integer, n number, d decimal, a date, f flag, u uuid, l link, \
            b data
            devices Ann, Ben
            Ann inserts All x with t "ä \\"q\\"", i -7, n 2.5, d 3.25, a 2026-03-14T09:26:53Z
            Ann sets x.f to true
            Ann sets x.u to 8394571D-30E0-4D4A-8BEA-9AB943989253
            Ann sets x.l to "https://example.org/a?b=c"
            Ann sets x.b to base64:AP8Q
            everyone settles
            expect x.t is "ä \\"q\\""
            expect x.i is -7
            expect x.n is 2.5
            expect x.d is 3.25
            expect x.a is 2026-03-14T09:26:53Z
            expect x.f is yes
            expect x.u is 8394571D-30E0-4D4A-8BEA-9AB943989253
            expect x.l is "https://example.org/a?b=c"
            expect x.b is base64:AP8Q
            Ben clears x.t
            everyone settles
            expect x.t is nothing
            expect everyone agrees
            """.replacing("\\\n", with: ""))
        #expect(report.holds, "\(report.told)")
    }

    /// What is expected is read as the holder's own model has the property.
    @Test func eachDeviceIsAskedByItsOwnModel() throws {
        let report = try StoryStage.play(
            """
            model older
            entity Note: size number
            entity Todo is Note
            model newer
            entity Note: size text
            entity Todo: size text
            device Ann with model older
            device Ben with model newer
            Ann inserts Todo n with size 1.50
            Ben inserts Todo m with size "1.50"
            expect n.size is 1.5 on Ann
            expect m.size is "1.50" on Ben
            expect 1 Note on Ann
            expect 0 Note on Ben
            """)
        #expect(report.holds, "\(report.told)")
    }

    @Test func editsWaitBetweenBeginAndSave() throws {
        let report = try StoryStage.play(
            Self.head + """
                Ann inserts Note n with title "Milk"
                Ann begins
                Ann sets n.title to "Bread"
                Ann inserts Note m with title "Salt"
                Ann syncs
                Ben syncs
                expect n.title is "Milk"
                expect m is gone
                Ann saves
                everyone settles
                expect n.title is "Bread"
                expect m.title is "Salt"
                Ann begins
                Ann sets n.title to "Wine"
                Ann takes back
                Ann begins
                Ann sets m.title to "Sugar"
                Ann crashes
                everyone settles
                expect n.title is "Bread"
                expect m.title is "Salt"
                """)
        #expect(report.holds, "\(report.told)")
    }

    @Test func faultsAreTold() throws {
        let report = try StoryStage.play(
            Self.head + """
                Ann goes offline
                Ann inserts Note n with title "Milk"
                Ann syncs
                expect it told "no network"
                expect Ann is not in sync
                Ann comes online
                Ann loses the next request
                Ann syncs
                expect n is there on the service
                Ann crashes in the next sync
                Ann sets n.title to "Bread"
                Ann syncs
                expect it told "Ann dies"
                expect n.title is "Bread" on the service
                the zone is deleted
                everyone settles
                the service is lost
                everyone settles
                expect n.title is "Bread" on the service
                expect everyone agrees
                """)
        #expect(report.holds, "\(report.told)")
    }

    @Test func theSameStoryIsToldAlike() throws {
        let text = """
            entity Tag: label text unique
            devices Ann, Ben, Cem
            Ann inserts Tag a with label "x"
            Ben inserts Tag b with label "x"
            Cem inserts Tag c with label "x"
            everyone settles
            expect 1 Tag
            """
        #expect(try StoryStage.play(text).told == StoryStage.play(text).told)
    }

    @Test func whatIsHeldIsShownOnceItChanged() throws {
        let report = try StoryStage.play(
            Self.head + """
                Ann inserts Folder f with name "Home"
                Ann inserts Note n with title "Milk", folder f
                everyone settles
                Ben deletes n
                """)
        let settled = report.steps[2].changes
        #expect(settled.map(\.holder) == ["Ben", "service"])
        #expect(
            settled[0].objects.map(\.text) == [
                "f: name \"Home\", notes n", "n: folder f, title \"Milk\"",
            ])
        #expect(report.steps[3].changes.map(\.holder) == ["Ben"])
        #expect(report.steps[3].changes[0].objects.map(\.text) == ["f: name \"Home\""])
    }
}
