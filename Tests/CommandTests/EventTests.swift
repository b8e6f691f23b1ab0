import ChildProcesses
import Foundation
import Testing

/// `diptych events`: what rounds did, and what they do from now on.
@Suite struct EventTests {
    @Test func eventsAreFollowed() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let store = try workshop.library()
        try workshop.edit(store, "insert Book title=Emma")
        try workshop.done(["sync", store] + service.settings)
        let before = try workshop.done(["events", store, "--json"]).lines
        let child = try workshop.start(["events", store, "--follow", "--json"])
        func lines() -> Int { child.printed.split(separator: "\n").count }
        try until { lines() >= before.count }
        try workshop.edit(store, "insert Book title=Persuasion")
        try workshop.done(["sync", store] + service.settings)
        try until { lines() > before.count }
        child.send(SIGTERM)
        #expect(child.wait() == 143)
        let run = Run(status: 0, output: child.printed, complaint: child.complaint)
        #expect(run.lines.count > before.count)
        #expect(run.lines.last?["event"] as? String == "export", "\(child.complaint)")
        let identifiers = run.lines.compactMap { $0["id"] as? String }
        #expect(Set(identifiers).count == identifiers.count)
    }
}
