import CoreData
import Foundation
import MirrorEngine
import MirrorTestKit
import Testing

/// Three devices edit the library at random over a bad network, and must come to agree.
@Suite struct LibrarySyncTests {
    static let modelFile = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Tools/demo-model/Library.xcdatamodel")

    @Test(arguments: 0..<10 as Range<UInt64>) func devicesAgree(seed: UInt64) throws {
        var settings = WorldSettings(model: try NSManagedObjectModel.load(from: Self.modelFile))
        settings.devices = 3
        settings.steps = 80
        settings.policy = MergePolicy(standard: .remote, deletion: .keepEdited)
        settings.faults.lostReplyPercent = 20
        settings.faults.duplicatePercent = 10
        settings.faults.killPercent = 5

        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("library-\(seed)-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = try SimulatedWorld(seed: seed, settings: settings, folder: folder)
        let broken = try world.run()
        #expect(broken == [], "seed \(seed)\n\(world.story.joined(separator: "\n"))")
    }
}
