import CoreData
import Foundation
import Testing

@testable import Persistence

@Suite struct MigrationTraceTests {
    private func model(_ names: [String]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = names.map { name in
            let entity = NSEntityDescription()
            entity.name = name
            return entity
        }
        return model
    }

    @Test func stepsAreToldByEntity() throws {
        let (source, target) = (model(["Book"]), model(["Book", "Tag"]))
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: source, destinationModel: target)
        let lines = MigrationTrace.lines(
            URL(fileURLWithPath: "/a/b.sqlite"), from: source, to: target, mapping)
        #expect(lines[0].hasPrefix("annotation: migrating /a/b.sqlite from "))
        #expect(lines.contains { $0.hasSuffix(": Book to Book") })
        #expect(lines.contains { $0.hasSuffix(": nothing to Tag") })
    }
}
