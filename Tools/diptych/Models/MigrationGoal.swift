internal import Foundation
internal import ObjectModel
internal import Persistence

/// The versions that a store can go over to the one that was asked for.
struct MigrationGoal {
    let versions: ModelVersions

    /// `goal` is a model, or a bundle or folder of versions, of which `named` or else the current
    /// one is meant; `source` is the store's own model, where it is known apart from those.
    init(
        _ goal: URL, version named: String?, source: NSManagedObjectModel?,
        storeMetadata metadata: [String: Any], mapping: URL?
    ) throws {
        let known = try Self.versions(goal, named)
        let isKnown = known.versions.contains {
            $0.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        }
        var list = known.versions
        if !isKnown {
            guard let source else {
                throw CommandError(
                    "missingSourceModel",
                    "The store keeps no copy of its model, and \(goal.path) has no version that "
                        + "fits it.",
                    hint: "Give the model that the store was written with: --model MODEL.")
            }
            list.insert(.init(name: "the store's model", model: source), at: 0)
        }
        // The goal is the last.
        let end = known.versions[known.current].name
        list = Array(list.prefix { $0.name != end }) + list.filter { $0.name == end }
        if !list.contains(where: {
            $0.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        }) {
            throw CommandError(
                "newerStore",
                "The store is of a later version than \(end); it stays as it is.",
                hint: "Use the newer program, or export the objects with 'diptych export'.")
        }
        var mappings = known.mappings
        if let mapping { mappings.insert(try Self.mapping(mapping, list), at: 0) }
        versions = ModelVersions(list, mappings: mappings)
    }

    private static func versions(_ goal: URL, _ named: String?) throws -> ModelVersions {
        let isVersions =
            FileKind(of: goal) == .folder && goal.pathExtension != "xcdatamodel"
        if isVersions { return try ModelVersions(in: goal, current: named) }
        let name = goal.deletingPathExtension().lastPathComponent
        return ModelVersions([
            .init(name: name, model: try ModelSource.load(goal, version: named))
        ])
    }

    /// The mapping model that was named. It may have been made for an earlier state of its models:
    /// who names it means it, and it counts by the names of its entities.
    private static func mapping(
        _ file: URL, _ versions: [ModelVersions.Version]
    ) throws -> NSMappingModel {
        let mapping = try NSMappingModel.load(from: file)
        let models = versions.map(\.model.entityVersionHashesByName)
        let hashes = Set(models.flatMap(\.values))
        let steps = mapping.entityMappings ?? []
        let isExact = steps.allSatisfy { step in
            [step.sourceEntityVersionHash, step.destinationEntityVersionHash]
                .allSatisfy { $0.map(hashes.contains) ?? true }
        }
        if !isExact {
            for step in steps {
                step.sourceEntityVersionHash = nil
                step.destinationEntityVersionHash = nil
            }
        }
        return mapping
    }
}
