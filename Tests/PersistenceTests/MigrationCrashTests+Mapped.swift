import CoreData
import FaultFiles
import Foundation
import SQLiteDriver
import Testing

/// Mapped migrations and stores with large values, struck at each deed.
extension MigrationCrashTests {
    /// A way to another version, and what both versions hold.
    private struct Trial {
        let old: NSManagedObjectModel
        let new: NSManagedObjectModel
        let mappings: [NSMappingModel]
        static let count = 6

        private static func version(_ name: String, isNew: Bool) -> NSManagedObjectModel {
            VersionDraft.model { draft in
                let large = TestModel.attribute(
                    isNew ? "picture" : "data", .binaryDataAttributeType, optional: true,
                    default: nil)
                large.allowsExternalBinaryDataStorage = true
                large.renamingIdentifier = "data"
                let gone = TestModel.attribute(
                    "gone", .binaryDataAttributeType, optional: true, default: nil)
                gone.allowsExternalBinaryDataStorage = true
                draft.entity(
                    name, [text("name"), large] + (isNew ? [number("size")] : [gone]),
                    from: "Person")
            }
        }

        /// Inferred, or by a mapping model.
        init(isMapped: Bool) {
            let (old, new) = (
                Self.version("Person", isNew: false), Self.version("Being", isNew: true)
            )
            (self.old, self.new) = (old, new)
            guard isMapped else {
                mappings = []
                return
            }
            let model = NSMappingModel()
            model.entityMappings = [
                .transforming(
                    "Person", "Being", ["name": "$source.name", "picture": "$source.data"],
                    from: old, to: new)
            ]
            mappings = [model]
        }

        static func bytes(_ place: Int) -> Data { Data(repeating: UInt8(place), count: 150_000) }

        func fill(_ bench: MigrationBench) throws {
            try bench.fill(old) { context in
                for place in 0..<Self.count {
                    _ = context.make(
                        "Person",
                        [
                            "name": "p\(place)", "data": Self.bytes(place),
                            "gone": Self.bytes(200 + place),
                        ])
                }
            }
        }

        func migrate(_ bench: MigrationBench) throws {
            try ProgressiveMigration(
                storeAt: bench.url, type: .sqlite,
                versions: ModelVersions(
                    [.init(name: "1", model: old), .init(name: "2", model: new)],
                    mappings: mappings)
            ).run()
        }

        /// Checks that the store is whole, of either version, and migrates when asked. Returns
        /// whether it was the new one.
        func expectWhole(_ bench: MigrationBench, _ deed: Int) throws -> Bool {
            let connection = try Connection(path: bench.url.path, access: .readWrite)
            #expect(
                try connection.value("PRAGMA integrity_check")?.string == "ok", "deed \(deed)")
            let isNew = try connection.value(
                "SELECT 1 FROM sqlite_master WHERE name = 'ZBEING'")
            try bench.open(isNew == nil ? old : new, options: [:]) { context throws in
                try expectValues(context, isNew: isNew != nil, deed)
            }
            try migrate(bench)
            try bench.open(new, options: [:]) { context throws in
                try expectValues(context, isNew: true, deed)
            }
            return isNew != nil
        }

        private func expectValues(
            _ context: NSManagedObjectContext, isNew: Bool, _ deed: Int
        ) throws {
            let found = try context.all(isNew ? "Being" : "Person")
            #expect(found.count == Self.count, "deed \(deed)")
            for (place, object) in found.enumerated() {
                let key = isNew ? "picture" : "data"
                #expect(object.value(forKey: key) as? Data == Self.bytes(place), "deed \(deed)")
                guard !isNew else { continue }
                #expect(
                    object.value(forKey: "gone") as? Data == Self.bytes(200 + place),
                    "deed \(deed)")
            }
        }
    }

    /// Migrates copies of one store, each struck some deeds later, until one comes through.
    private func strike(
        _ trial: Trial, _ fault: FaultFileSystem.Fault, by step: Int
    ) throws -> (struck: Int, new: Int) {
        let faults = FaultFileSystem.shared
        let origin = try MigrationBench()
        try trial.fill(origin)
        var (struck, new) = (0, 0)
        for deed in stride(from: 1, to: 3_000, by: step) {
            let bench = try MigrationBench()
            try origin.copy(to: bench.folder)
            faults.begin(bench.folder, fault, at: deed)
            let isDone = (try? trial.migrate(bench)) != nil
            let left = try MigrationBench()
            try bench.copy(to: left.folder)
            let (_, hasStruck) = faults.end(bench.folder)
            #expect(isDone || hasStruck, "deed \(deed)")
            if try trial.expectWhole(left, deed) { new += 1 }
            guard hasStruck else { return (struck, new - 1) }
            struck += 1
        }
        return (struck, new)
    }

    @Test(arguments: [true, false]) func largeValuesOutliveADeedThatFails(_ isMapped: Bool) throws {
        let (struck, _) = try strike(Trial(isMapped: isMapped), .failing, by: 1)
        #expect(struck > 10)
    }

    @Test(arguments: [true, false]) func largeValuesOutliveLostWrites(_ isMapped: Bool) throws {
        let (struck, _) = try strike(Trial(isMapped: isMapped), .losingUnsynced, by: 1)
        #expect(struck > 10)
    }

    @Test(arguments: [true, false]) func largeValuesOutliveAFullDisk(_ isMapped: Bool) throws {
        let (struck, _) = try strike(Trial(isMapped: isMapped), .full, by: 3)
        #expect(struck > 3)
    }
}
