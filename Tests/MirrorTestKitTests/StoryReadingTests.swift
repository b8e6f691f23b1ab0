import Foundation
import MirrorEngine
import MirrorTestKit
import Testing

/// What cannot be understood is told with its line and with what to write.
@Suite struct StoryReadingTests {
    private static let head = """
        entity Note: title text, views integer counter
        entity Tag: label text unique
        relation Note.tags many, Tag.notes many
        devices Ann, Ben
        Ann inserts Note n with title "Milk"

        """

    private func error(_ text: String) -> StoryError? {
        do {
            _ = try Story(text: text, folder: FileManager.default.temporaryDirectory)
            return nil
        } catch {
            return error as? StoryError
        }
    }

    @Test(arguments: [
        ("Ann frobs n", "'frobs' is nothing that a device does"),
        ("Cem syncs", "A line begins with a device"),
        ("Ann sets n.title", "'to' is missing"),
        ("Ann sets n.title to", "A value is missing"),
        ("Ann sets n.title to \"x\" now", "'now' is too much here"),
        ("Ann sets n.colour to \"x\"", "n is a Note, which has no colour"),
        ("Ann sets m.title to \"x\"", "No object is called m here"),
        ("Ann sets title to \"x\"", "'title' names no property of an object"),
        ("Ann sets n.title to \"x", "A quote is not closed"),
        ("Ann inserts Nte m", "There is no entity Nte"),
        ("Ann inserts Note n", "An object is called n already"),
        ("Ann inserts Note m-1", "An object cannot be called 'm-1'"),
        ("Ann inserts Note nothing", "An object cannot be called 'nothing'"),
        ("Ann chooses Nte", "There is no entity Nte"),
        ("under latest expect n.title is \"x\"", "The story is not played under latest"),
        ("Ann becomes a copy of Cem", "There is no device Cem"),
        ("Ann opens model newer", "There is no model newer"),
        ("Ann takes mine for n.title", "'mine' is no side of a conflict"),
        ("Ann moves n up in n.tags", "The place is missing"),
        ("the service is happy", "That does not befall a service"),
        ("5 fortnights pass", "'fortnights' is no unit of time"),
        ("under best expect n.title is \"x\"", "There is no rule 'best'"),
        ("expect n.title is \"x\" on Cem", "There is no device Cem"),
        ("expect n", "That cannot be expected of an object"),
        ("expect n.title", "That cannot be expected of a property"),
        ("expect 3 Nte", "There is no entity Nte"),
        ("devices Cem", "A device comes after the story began"),
    ])
    func aWrongLineIsTold(line: String, words: String) {
        let error = error(Self.head + line)
        #expect(error?.line == 6, "\(String(describing: error))")
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
    }

    @Test(arguments: [
        ("devices Ann", 0, "The story has no model"),
        ("entity Note: title text", 0, "The story has no devices"),
        ("entity Note: title txt\ndevices A", 1, "'txt' is no type"),
        ("entity Note: title text quick\ndevices A", 1, "There is no rule 'quick'"),
        ("entity A\nentity A\ndevices X", 2, "There is an entity A already"),
        ("entity B\nentity A is C\ndevices X", 2, "There is no entity C, which A is"),
        ("entity A: x text, x text\ndevices X", 0, "named “x”; rename one."),
        ("entity A\nrelation A.b many\ndevices X", 2, "The other end is missing"),
        ("entity A\nrelation A.b several\ndevices X", 2, "A.b is 'one' or 'many'"),
        ("entity A\nrelation A.b many to C\ndevices X", 0, "There is no entity C"),
        ("entity A\ndevices X, X", 2, "There is a device X already"),
        ("entity A\ndevice X with colour red", 2, "That is no setting of a device"),
        ("entity A\ndevice X with the store of Y", 0, "X cannot work on the store of Y"),
        ("model from nowhere.xcdatamodel\ndevices X", 1, "cannot be read"),
        ("entity A\npolicy best\ndevices X", 2, "There is no rule 'best'"),
        ("entity A\ndatabase open\ndevices X", 2, "is private or public"),
        (
            "entity A\ndatabase public\ndevices X\nX inserts A a\nX shares a as s", 5,
            "Nothing is shared in the public database"
        ),
        (
            "entity A\ndatabase public\ndevices X\nthe zone is deleted", 4, "cannot be deleted"
        ),
        ("entity A\ncompare policies local best\ndevices X", 2, "'best' is too much here"),
    ])
    func aWrongBeginningIsTold(text: String, line: Int, words: String) {
        let error = error(text)
        #expect(error?.line == line, "\(String(describing: error))")
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
    }

    /// Every kind of line is written as it is read.
    @Test func whatIsReadIsWrittenAlike() throws {
        let lines = [
            "Ann inserts Note m with title \"a \\\"b\\\"\\n\", views 3", "Ann clears n.title",
            "Ann adds 2 to n.views", "Ann removes t from n.tags", "Ann deletes m",
            "Ann takes back the deletion of n",
            "Ann moves m before n in o.list", "Ann moves m to the end of o.list", "Ann begins",
            "Ann saves", "Ann undoes", "Ann takes back", "Ann syncs", "Ann goes offline",
            "Ann comes online", "Ann loses the next request", "Ann loses the next answer",
            "Ann crashes", "Ann crashes in the next sync", "Ann is backed up", "Ann is restored",
            "Ann becomes a copy of Ben", "Ann resets", "Ann opens model newer",
            "Ann takes remote for n.title", "Ann sets the clock 60 seconds behind",
            "everyone syncs", "everyone settles", "the service is lost", "the zone is deleted",
            "90 seconds pass", "Ann and Ben syncs", "expect n.tags is t, u on Ann",
            "expect m is gone on the service", "expect m and n are one", "expect 2 Note",
            "expect everyone agrees", "expect Ann is not in sync", "expect nothing was logged",
            "expect n.title was logged by local on Ben", "expect n.title waits",
            "under latest expect n.title is \"x\"", "expect it was refused",
            "expect it told \"older state\"",
        ]
        let head = """
            compare policies latest
            model newer
            entity Note: title text, views integer counter
            entity Tag: label text
            entity Owner: name text
            relation Note.tags many, Tag.notes many
            relation Owner.list many ordered to Note
            device Ann with model newer
            device Ben with model newer
            Ann inserts Note n
            Ann inserts Tag t
            Ann inserts Tag u
            Ann inserts Owner o

            """
        let folder = FileManager.default.temporaryDirectory
        let story = try Story(text: head + lines.joined(separator: "\n"), folder: folder)
        #expect(story.steps.dropFirst(4).map { StoryStep($0.action).text } == lines)
    }

    @Test func devicesHaveSettings() throws {
        let text = """
            # A remark.
            story   Clocks and rules   # another
            policy latest
            deletion keepEdited
            compare policies local, max
            entity Note: title text
            device Ann with clock 5 minutes ahead, policy remote and deletion deleteWins
            device Ben with the store of Ann
            """
        let story = try Story(text: text, folder: FileManager.default.temporaryDirectory)
        #expect(story.title == "Clocks and rules")
        #expect(story.policy.standard.name == "latest")
        #expect(story.policy.deletion == .keepEdited)
        #expect(story.comparedRules == ["local", "max"])
        #expect(story.devices[0].clockSeconds == 300)
        #expect(story.devices[0].rule == "remote")
        #expect(story.devices[0].deletion == .deleteWins)
        #expect(story.devices[1].sharedStore == "Ann")
    }
}
