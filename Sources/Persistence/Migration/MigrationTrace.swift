internal import Foundation
internal import ObjectModel
internal import Platform

/// Tells on standard error what a migration does, where `com.apple.CoreData.MigrationDebug` asks
/// for it.
enum MigrationTrace {
    /// Tells of the steps of a mapping before they are done.
    static func tell(
        _ url: URL, from source: NSManagedObjectModel, to model: NSManagedObjectModel,
        _ mapping: @autoclosure () -> NSMappingModel
    ) {
        guard DebugSwitch.migration.level > 0 else { return }
        for line in lines(url, from: source, to: model, mapping()) { DebugSwitch.print(line) }
    }

    static func lines(
        _ url: URL, from source: NSManagedObjectModel, to model: NSManagedObjectModel,
        _ mapping: NSMappingModel
    ) -> [String] {
        let head =
            "annotation: migrating \(url.path) from \(source.versionChecksum) to "
            + model.versionChecksum
        let steps = (mapping.entityMappings ?? []).map { step in
            let entities = [step.sourceEntityName, step.destinationEntityName]
                .map { $0 ?? "nothing" }.joined(separator: " to ")
            return "details: migration: \(step.name ?? ""): \(entities)"
        }
        return [head] + steps
    }
}
