import Foundation
import MirrorTestKit
import Testing

/// `DIPTYCH_SHRINK` names seeds that fail, with commas between: what is least in worlds that break
/// the same law, and such a world's story. `DIPTYCH_SHRINK_SECONDS` bounds the processor time of
/// each; `Tools/soak worlds` asks for it.
@Suite(.serialized) struct SmallestWorldTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let names = (environment["DIPTYCH_SHRINK"] ?? "").split(separator: ",").map(
        String.init)
    private static let seconds = Int(environment["DIPTYCH_SHRINK_SECONDS"] ?? "") ?? 120

    @Test(.enabled(if: !names.isEmpty, "DIPTYCH_SHRINK names seeds that fail"), arguments: names)
    func aNamedSeedIsMadeSmall(name: String) throws {
        let (kind, seed) = try #require(WorldKind.named(name), "\(name) is no seed's name")
        let begin = clock()
        let failure = WorldTrial(folder: WorldRun.folder(seed: seed)).smallest(
            seed: seed, settings: kind.settings(seed: seed, extremes: WorldRun.extremes)
        ) { clock() - begin < Self.seconds * Int(CLOCKS_PER_SEC) }
        guard let failure else { return print("Seed \(name) breaks no law.") }
        print(
            """
            The smallest world like seed \(name), of \(failure.worlds): \(failure.summary)
            \(failure.outcome.broken.joined(separator: "\n"))
            \(failure.outcome.story.joined(separator: "\n"))
            """)
    }
}
