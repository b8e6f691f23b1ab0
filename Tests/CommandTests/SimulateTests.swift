import Foundation
import Testing

/// `diptych simulate`: random stories over a person's own model.
@Suite struct SimulateTests {
    @Test func storiesOverAModelHold() throws {
        let workshop = try Workshop()
        let words = [
            "simulate", "--model", Workshop.model, "--seeds", "3", "--ops", "15", "--devices", "3",
        ]
        let text = try workshop.done(words).output
        #expect(text.contains("3 stories of 15 lines on 3 devices: all laws hold."))
        let run = try workshop.done(
            words + ["--json", "--faults", "all", "--policy", "latest", "--seed", "9"])
        #expect(run.json["holds"] as? Bool == true)
        #expect(run.json["stories"] as? Int == 3)
        #expect(run.json["firstSeed"] as? Int == 9)
    }

    /// Before the stories, which may take hours.
    @Test func aPlaceForTheStoryThatIsNoneIsRefused() throws {
        let workshop = try Workshop()
        let run = try workshop.run(
            "simulate", "--model", Workshop.model, "--seeds", "1", "--ops", "1", "--json", "--out",
            workshop.path("nowhere/a.story"))
        #expect(run.status == 1 && run.errorCode == "noFolder" && run.output.isEmpty)
    }

    @Test func whatCannotBeMeantIsRefused() throws {
        let workshop = try Workshop()
        #expect(try workshop.run("simulate", "--seeds", "2").status == 2)
        let run = try workshop.run(
            "simulate", "--model", Workshop.model, "--faults", "crash,floods", "--json")
        #expect(run.status == 2 && run.errorCode == "usage")
        #expect((run.error["message"] as? String)?.contains("floods") == true)
        let none = try workshop.run("simulate", "--model", workshop.path("none.xcdatamodel"))
        #expect(none.status != 0)
        let zero = try workshop.run("simulate", "--model", Workshop.model, "--devices", "0")
        #expect(zero.status == 2)
    }
}
