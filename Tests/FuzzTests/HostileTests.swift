import Foundation
import FuzzTargets
import Testing

/// Hostile files by hand: each gets its typed error, or is read, in bounded memory and time.
@Suite struct HostileTests {
    @Test(arguments: HostileFile.all.map(\.name))
    func aHostileFileIsAnsweredInBounds(name: String) async throws {
        await #expect(processExitsWith: .success) { [name] in
            let file = try #require(HostileFile.all.first { $0.name == name })
            let data = try file.make()
            Bounds.apply()
            switch (file.target.feed(data), file.answer) {
            case (.broken(let why), _): Issue.record("\(why)")
            case (.refused(let message), .refused(let wanted)):
                if !message.contains(wanted) { Issue.record("\(message)") }
            case (.read, .refused): Issue.record("it was read")
            case (.read, .either), (.refused, .either): break
            }
        }
    }

    @Test func hostileFilesHaveNamesOfTheirOwn() {
        #expect(Set(HostileFile.all.map(\.name)).count == HostileFile.all.count)
    }
}
