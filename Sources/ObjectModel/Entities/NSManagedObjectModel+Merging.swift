public import Foundation

extension NSManagedObjectModel {
    /// A model with the entities of all `models`; nil when there are none, or when two of them
    /// describe one entity differently. Source: Apple, NSManagedObjectModel.
    public convenience init?(byMerging models: [NSManagedObjectModel]?) {
        guard let models, !models.isEmpty else { return nil }
        var merge = ModelMerge()
        for model in models {
            guard merge.take(model.entities, model.entityVersionHashesByName) else { return nil }
        }
        self.init()
        adopt(merge, of: models)
    }

    /// A model with those entities of `models` that a store with this metadata was made for; nil
    /// when one of the store's entities is in none of them.
    public convenience init?(
        byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]
    ) {
        guard let wanted = metadata[Self.versionHashesKey] as? [String: Data] else { return nil }
        var merge = ModelMerge()
        var found: Set<String> = []
        for model in models {
            let hashes = model.entityVersionHashesByName.filter { wanted[$0.key] == $0.value }
            let fitting = model.entities.filter { $0.name.map { hashes[$0] != nil } ?? false }
            _ = merge.take(fitting, hashes)
            found.formUnion(hashes.keys)
        }
        guard found.count == wanted.count else { return nil }
        self.init()
        adopt(merge, of: models)
    }

    /// A model merged from all model files among the resources of `bundles` (nil: the main bundle).
    /// Nil when there are none or they contradict each other.
    public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
        NSManagedObjectModel(byMerging: models(in: bundles))
    }

    /// A model merged from the model files among the resources of `bundles` whose entities fit a
    /// store with this metadata. All versions in a bundle of versions are tried.
    public class func mergedModel(
        from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
    ) -> NSManagedObjectModel? {
        NSManagedObjectModel(byMerging: versions(in: bundles), forStoreMetadata: metadata)
    }

    /// The models among the resources of `bundles` (nil: the main bundle), all versions of each.
    package class func versions(in bundles: [Bundle]?) -> [NSManagedObjectModel] {
        modelFiles(in: bundles).flatMap { file in
            (try? ModelFile.versions(in: file))?.compactMap { try? load(from: file, version: $0) }
                ?? []
        }
    }

    private func adopt(_ merge: ModelMerge, of models: [NSManagedObjectModel]) {
        for model in models {
            versionIdentifiers.formUnion(model.versionIdentifiers)
            fetchRequestTemplates.merge(model.fetchRequestTemplates) { first, _ in first }
            for (name, members) in model.configurationMembers {
                let known = configurationMembers[name] ?? []
                configurationMembers[name] = known + members.filter { !known.contains($0) }
            }
        }
        entities = merge.copies()
    }

    private static func models(in bundles: [Bundle]?) -> [NSManagedObjectModel] {
        modelFiles(in: bundles).compactMap { try? load(from: $0) }
    }

    private static func modelFiles(in bundles: [Bundle]?) -> [URL] {
        let extensions = ["momd", "mom", "xcdatamodeld", "xcdatamodel"]
        return (bundles ?? [.main]).flatMap { bundle in
            extensions.flatMap { suffix in
                (bundle.urls(forResourcesWithExtension: suffix, subdirectory: nil) ?? [])
                    .map { $0 as URL }
            }
        }
    }
}
