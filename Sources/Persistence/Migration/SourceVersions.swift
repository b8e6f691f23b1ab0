internal import Foundation
internal import ObjectModel
internal import Stores

/// The models that have a store's hashes, and the one of them that it was last used with.
///
/// Names of composites are in no hash, so versions that differ in them alone fit alike; but what is
/// migrated from the wrong one is not found again, or is in a file that names it otherwise.
struct SourceVersions {
    private let parameters: StoreParameters
    private let metadata: [String: Any]

    /// `parameters` say how the store is to be opened: with which model, and from where.
    init(of parameters: StoreParameters, _ metadata: [String: Any]) {
        self.parameters = parameters
        self.metadata = metadata
    }

    /// The best of `models`, the newest last, and of what the program has among its resources; nil
    /// where none fits. Cost: those are read where no other fits, or one with composites does.
    func best(of models: [NSManagedObjectModel]) -> NSManagedObjectModel? {
        let given = fitting(models)
        if let first = given.first, !Self.hasComposites(first) { return first }
        let resources = [
            NSManagedObjectModel.versions(in: Bundle.allBundles), ModelSearch.versions,
        ]
        let found = given + resources.flatMap(fitting)
        return best(amongFitting: found)
            ?? resources.lazy.compactMap {
                NSManagedObjectModel(byMerging: $0, forStoreMetadata: metadata)
            }.first
    }

    private func fitting(_ models: [NSManagedObjectModel]) -> [NSManagedObjectModel] {
        models.compactMap { NSManagedObjectModel(byMerging: [$0], forStoreMetadata: metadata) }
    }

    private static func hasComposites(_ model: NSManagedObjectModel) -> Bool {
        model.entities.contains { entity in
            entity.properties.contains { $0 is NSCompositeAttributeDescription }
        }
    }

    /// Of those that name alike the first.
    private func best(amongFitting models: [NSManagedObjectModel]) -> NSManagedObjectModel? {
        var named: [[String: [String]]: Int] = [:]
        var different: [NSManagedObjectModel] = []
        for model in models where named.updateValue(0, forKey: Self.names(in: model)) == nil {
            different.append(model)
        }
        guard different.count > 1 else { return different.first }
        let readable = different.filter(canRead)
        let ranked = (readable.isEmpty ? different : readable).map { ($0, keptValues(from: $0)) }
        let most = ranked.map(\.1).max()
        return ranked.last { $0.1 == most }?.0
    }

    private static func names(in model: NSManagedObjectModel) -> [String: [String]] {
        let layouts = ModelLayout(model: model).entities
        return Dictionary(
            layouts.map { ($0.name, $0.attributes.map(\.name)) }, uniquingKeysWith: { $1 })
    }

    /// XML and binary files spell names as the version did that wrote them last.
    private func canRead(_ model: NSManagedObjectModel) -> Bool {
        guard parameters.type != NSSQLiteStoreType else { return true }
        var reading = parameters
        reading.model = model
        reading.configuration = parameters.configuration.flatMap {
            model.entities(forConfigurationName: $0) == nil ? nil : $0
        }
        reading.options = [NSReadOnlyPersistentStoreOption: true]
        return (try? StoreRegistry.factory(for: parameters.type)(reading)) != nil
    }

    /// How many attributes, elements of composites included, an inferred migration brings along.
    private func keptValues(from model: NSManagedObjectModel) -> Int {
        let present =
            parameters.model.entities(
                forConfigurationName: parameters.configuration) ?? parameters.model.entities
        let matches = InferredMapping.attempt(from: model.entities, to: present).mapping.matches
        return matches.map { match in
            EntityLayout(entity: match.destination, number: 0).attributes.count { slot in
                let path = slot.name.split(separator: ".").map(String.init)
                let property = match.attributes.first { $0.destination.name == path.first }
                return property?.source != nil
                    && property?.formerPath(of: path.dropFirst()) != nil
            }
        }.reduce(0, +)
    }
}
