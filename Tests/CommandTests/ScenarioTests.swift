import ChildProcesses
import Foundation
import Testing

/// `diptych scenario`: stories from files, as tables and as JSON.
@Suite struct ScenarioTests {
    private static let story = """
        story Milk
        entity Note: title text
        devices Ann, Ben
        Ann inserts Note n with title "Milk"
        everyone settles
        expect n.title is "Milk"

        """

    @Test func aNewStoryHolds() throws {
        let workshop = try Workshop()
        let file = workshop.path("new.story")
        #expect(try workshop.done(["scenario", "new", file]).output.contains("scenario run"))
        let run = try workshop.done(["scenario", "run", file])
        #expect(run.output.contains("expect n.title is \"Oat milk\"\n      · holds"))
        #expect(run.output.contains("Ben logged n.title"))
        #expect(run.output.contains("holds, "))
        let spaced = try workshop.done(["scenario", "new", workshop.path("a b.story")])
        #expect(spaced.output.contains("scenario run '\(workshop.path("a b.story"))'"))
        let again = try workshop.run("scenario", "new", file, "--json")
        #expect(again.status == 1 && again.errorCode == "cannotWrite")
        #expect(
            try workshop.done(["scenario", "new", "-"]).output
                == String(contentsOfFile: file, encoding: .utf8) + "\n")
    }

    @Test func aTableHasAColumnForEachHolder() throws {
        let workshop = try Workshop()
        let file = try workshop.write(Self.story, to: "milk.story")
        let lines = try workshop.done(["scenario", "run", file, "--wide"]).output
            .split(separator: "\n").map(String.init)
        let head = try #require(lines.first { $0.hasPrefix("STEP") })
        #expect(head.split(separator: " ") == ["STEP", "ANN", "BEN", "SERVICE"])
        let row = try #require(lines.first { $0.contains("everyone settles") })
        let place = try #require(head.range(of: "BEN")).lowerBound
        let column = head.distance(from: head.startIndex, to: place)
        #expect(row.dropFirst(column).hasPrefix("n: title \"Milk\""))
    }

    @Test func aFailedExpectationIsExitStatusOne() throws {
        let workshop = try Workshop()
        let good = try workshop.write(Self.story, to: "good.story")
        let bad = try workshop.write(
            Self.story + "expect n.title is \"Bread\" on Ben\n", to: "bad.story")
        let run = try workshop.run("scenario", "run", good, bad)
        #expect(run.status == 1)
        #expect(run.output.contains("FAILED: Ben has n.title \"Milk\"."))
        #expect(run.complaint.contains("bad.story, line 7: Ben has n.title"))
        let json = try workshop.run("scenario", "run", good, bad, "--json")
        #expect(json.status == 1 && json.errorCode == "expectationFailed")
        #expect(json.lines.map { $0["holds"] as? Bool } == [true, false])
        let steps = try #require(json.json["steps"] as? [[String: Any]])
        #expect(steps.last?["failure"] as? String == "Ben has n.title \"Milk\".")
        let changes = try #require(steps[0]["changes"] as? [[String: Any]])
        let objects = try #require(changes[0]["objects"] as? [[String: Any]])
        #expect(objects[0]["values"] as? [String: String] == ["title": "\"Milk\""])
    }

    @Test func whatCannotBeReadIsExitStatusTwo() throws {
        let workshop = try Workshop()
        let file = try workshop.write(Self.story + "Ann dances\n", to: "dance.story")
        let run = try workshop.run("scenario", "run", file, "--json")
        #expect(run.status == 2 && run.errorCode == "badStory")
        #expect((run.error["message"] as? String)?.contains("line 7: 'dances'") == true)
        #expect(try workshop.run("scenario", "run", workshop.path("none.story")).status == 2)
        #expect(try workshop.run("scenario", "play", file).status == 2)
        #expect(try workshop.run("scenario", "new", file, file).status == 2)
        #expect(try workshop.run("scenario", "run").status == 2)
    }

    @Test func rulesAreCompared() throws {
        let workshop = try Workshop()
        let text = Self.story.replacing(
            "story Milk", with: "story Milk\ncompare policies local, max")
        let file = try workshop.write(text, to: "rules.story")
        let run = try workshop.done(["scenario", "run", file, "--json"])
        #expect(run.lines.map { $0["rule"] as? String } == ["local", "max"])
    }

    @Test func aStoryTakesAModelFromAFile() throws {
        let workshop = try Workshop()
        let file = try workshop.write(
            """
            model from "\(Workshop.model)"
            devices Ann, Ben
            Ann inserts Book b with title "Emma", pages 474
            everyone settles
            expect b.pages is 474
            """, to: "book.story")
        try workshop.done(["scenario", "run", file])
    }

    @Test func aStoryIsPlayedOnAServiceElsewhere() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let text =
            Self.story + """
                Ann loses the next answer
                Ann sets n.title to "Bread"
                Ben sets n.title to "Wine"
                everyone settles
                expect n.title is "Wine"
                expect n.title is "Wine" on the service
                expect everyone agrees
                """
        let file = try workshop.write(text, to: "milk.story")
        let run = try workshop.done(["scenario", "run", file] + service.settings)
        #expect(run.output.contains("holds, "))
        let lost = try workshop.write(Self.story + "the service is lost\n", to: "lost.story")
        let refused = try workshop.run(["scenario", "run", lost] + service.settings)
        #expect(refused.status == 1 && refused.complaint.contains("without --service"))
    }

    @Test func anInterruptedStoryLeavesNoZoneElsewhere() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        func zones() throws -> Int {
            let words = ["service", "status", "--json", "--data", service.text("dataFolder")]
            return try workshop.done(words).lines.reduce(0) { $0 + ($1["zones"] as? Int ?? 0) }
        }
        let before = try zones()
        let rounds = (0..<2_000).map { "Ann sets n.title to \"\($0)\"\neveryone settles\n" }
        let file = try workshop.write(Self.story + rounds.joined(), to: "long.story")
        let run = try workshop.start(["scenario", "run", file] + service.settings)
        try until { try zones() > before || !run.isRunning }
        run.send(SIGINT)
        #expect(run.wait() == 130, "\(run.complaint)")
        #expect(try zones() == before)
    }

    @Test(arguments: [
        ["scenario", "new", "made.story"], ["model", "convert", "MODEL", "made.momd"],
        ["model", "convert", "MODEL", "made.xcdatamodeld"],
    ]) func whatHasNoRoomIsNotMade(words: [String]) throws {
        let workshop = try Workshop()
        let words = words.map { word in
            word == "MODEL" ? Workshop.model : word.contains(".") ? workshop.path(word) : word
        }
        let text =
            "(trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\") 2>&1 | cat; "
            + "exit ${PIPESTATUS[0]}"
        let child = try workshop.start("/bin/bash", ["-c", text, Workshop.command] + words)
        #expect(child.wait() == 1)
        #expect(child.printed.contains("room"), "\(child.printed)")
        let made = try FileManager.default.contentsOfDirectory(atPath: workshop.folder.path)
        #expect(made.filter { $0.hasPrefix("made") }.isEmpty)
    }
}
