import Foundation
import FuzzTargets
import Testing

/// The fuzzer's seeds and findings, fed again: each in bounded memory and time, none a crash.
@Suite struct ReplayTests {
    @Test(arguments: FuzzTarget.allCases)
    func noSeedBringsItsReaderDown(target: FuzzTarget) async throws {
        #expect(try !Seeds.files(of: target).isEmpty)
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [name = target.rawValue as String] in
            let target = try #require(FuzzTarget(rawValue: name))
            Bounds.apply()
            for file in try Seeds.files(of: target) {
                Bounds.say(file.lastPathComponent)
                let verdict = target.feed(try Data(contentsOf: file))
                if case .broken(let why) = verdict { Bounds.fail(why) }
            }
        }
        #expect(result != nil, "the last line names the seed: \(Bounds.text(result))")
    }

    /// Seeds of our own making are whole: a reader that refuses them has lost something.
    @Test(arguments: FuzzTarget.allCases)
    func wholeSeedsAreRead(target: FuzzTarget) throws {
        for file in try Seeds.files(of: target)
        where !file.lastPathComponent.hasPrefix(Seeds.findingMark) {
            #expect(
                target.feed(try Data(contentsOf: file)) == .read, "\(file.lastPathComponent)")
        }
    }
}

/// The files in `Seeds`, by target.
enum Seeds {
    /// How the names of findings begin; all other seeds are whole.
    static let findingMark = "found-"

    static func files(of target: FuzzTarget) throws -> [URL] {
        let folder = Bundle.module.bundleURL.appendingPathComponent("Seeds/\(target.rawValue)")
        return try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil
        ).sorted { $0.path < $1.path }
    }
}
