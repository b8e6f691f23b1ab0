import Foundation
import FuzzTargets
import Testing

/// The fuzzer's seeds and findings, fed again: each in bounded memory and time, none a crash.
@Suite struct ReplayTests {
    @Test(arguments: Seeds.names)
    func noSeedBringsItsReaderDown(name: String) async throws {
        await #expect(processExitsWith: .success) { [name] in
            let (target, data) = try Seeds.named(name)
            Bounds.apply()
            if case .broken(let why) = target.feed(data) { Issue.record("\(why)") }
        }
    }

    @Test(arguments: FuzzTarget.allCases)
    func everyTargetHasSeeds(target: FuzzTarget) throws {
        #expect(try !Seeds.files(of: target).isEmpty)
    }

    /// Seeds of our own making are whole: a reader that refuses them has lost something.
    @Test(arguments: FuzzTarget.allCases)
    func wholeSeedsAreRead(target: FuzzTarget) throws {
        for file in try Seeds.files(of: target)
        where !file.lastPathComponent.hasPrefix(Seeds.findingMark) {
            let verdict = target.feed(try Data(contentsOf: file))
            #expect(verdict == .read, "\(file.lastPathComponent)")
        }
    }
}

/// The files in `Seeds`, by target.
enum Seeds {
    /// How the names of findings begin; all other seeds are whole.
    static let findingMark = "found-"

    /// The names of all seeds, each with its target before it.
    static let names: [String] = FuzzTarget.allCases.flatMap { target in
        ((try? files(of: target)) ?? []).map { "\(target.rawValue)/\($0.lastPathComponent)" }
    }

    static func named(_ name: String) throws -> (target: FuzzTarget, data: Data) {
        let parts = name.split(separator: "/").map(String.init)
        let target = try #require(parts.first.flatMap { FuzzTarget(rawValue: $0) })
        let file = try #require(files(of: target).first { $0.lastPathComponent == parts.last })
        return (target, try Data(contentsOf: file))
    }

    static func files(of target: FuzzTarget) throws -> [URL] {
        let folder = Bundle.module.bundleURL.appendingPathComponent("Seeds/\(target.rawValue)")
        return try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil
        ).sorted { $0.path < $1.path }
    }
}
