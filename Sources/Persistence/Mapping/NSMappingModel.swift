public import Foundation
public import ObjectModel

/// How a store of one version of a model becomes one of another. Source: Apple, NSMappingModel.
/// Queue: one; used by one migration at a time.
open class NSMappingModel: NSObject, @unchecked Sendable {
    // @unchecked: see NSEntityMapping.

    /// In the order in which a migration follows them.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var entityMappings: [NSEntityMapping]! = []

    /// A mapping model without mappings.
    public override init() { super.init() }

    /// Whether another model has the same mappings in the same order.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSMappingModel else { return false }
        return self === other || (entityMappings ?? []) == (other.entityMappings ?? [])
    }

    open override var hash: Int { entityMappings?.count ?? 0 }

    /// The mapping model in a file: a compiled one (`.cdm`) or, unlike with Apple's, a source
    /// (`.xcmappingmodel`); nil where there is none that can be read, and `load(from:)` says why.
    public init?(contentsOf url: URL?) {
        guard let url, let mappings = try? Self.mappings(in: url) else { return nil }
        super.init()
        entityMappings = mappings
    }

    /// The mapping model among the resources of `bundles` (nil: the main bundle) that was made for
    /// exactly the entities of two versions, by their hashes; nil where there is none. Compiled
    /// ones come before sources. Cost: all mapping models of the bundles are read.
    public init?(
        from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
        destinationModel: NSManagedObjectModel?
    ) {
        guard let sourceModel, let destinationModel else { return nil }
        let models = Self.mappings(in: bundles ?? [.main])
        guard let fitting = models.first(where: { $0.fits(sourceModel, destinationModel) }) else {
            return nil
        }
        super.init()
        entityMappings = fitting.entityMappings
    }

    /// The mapping models among the resources of `bundles`.
    static func mappings(in bundles: [Bundle]) -> [NSMappingModel] {
        let files = fileExtensions.flatMap { suffix in
            bundles.flatMap { $0.urls(forResourcesWithExtension: suffix, subdirectory: nil) ?? [] }
        }
        return files.compactMap { NSMappingModel(contentsOf: $0 as URL) }
    }

    /// Of mapping models of the same versions the first, and those that share no entity with one
    /// that was taken: big stores may be migrated in several parts.
    static func parts(of candidates: [NSMappingModel]) -> [NSMappingModel] {
        var taken: Set<String> = []
        return candidates.filter { model in
            let names = (model.entityMappings ?? []).compactMap {
                $0.destinationEntityName ?? $0.sourceEntityName
            }
            guard taken.isDisjoint(with: names) else { return false }
            taken.formUnion(names)
            return true
        }
    }

    /// Parts as one mapping model, so that what one makes is found by the expressions of another;
    /// as they are where mappings of several have one name.
    static func joined(_ parts: [NSMappingModel]) -> [NSMappingModel] {
        let mappings = parts.flatMap { $0.entityMappings ?? [] }
        guard parts.count > 1, Set(mappings.map(\.name)).count == mappings.count else {
            return parts
        }
        let joined = NSMappingModel()
        joined.entityMappings = mappings
        return [joined]
    }

    /// Whether the mapping was made for these versions of a model.
    final func fits(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) -> Bool {
        let old = source.entityVersionHashesByName
        let new = destination.entityVersionHashesByName
        let mappings = entityMappings ?? []
        return !mappings.isEmpty && mappings.allSatisfy { $0.fits(old, new) }
    }

    /// Reads a compiled mapping model (`.cdm`) or a source (`.xcmappingmodel`, or the file in it);
    /// the contents decide, not the name. A source gets what Xcode's compiler adds: the names of
    /// mappings, the hashes of entities, and the expressions that nobody wrote. Throws
    /// `ModelFileError` for what is none, and for one that holds an expression of a kind this
    /// package does not know. Cost: reads the file, O(mappings).
    public static func load(from url: URL) throws -> NSMappingModel {
        let model = NSMappingModel()
        model.entityMappings = try mappings(in: url)
        return model
    }

    /// Whether the mapping was made for the entities of this model.
    final func fitsSource(_ source: NSManagedObjectModel) -> Bool {
        let hashes = source.entityVersionHashesByName
        return (entityMappings ?? []).allSatisfy { mapping in
            mapping.sourceEntityName.map {
                NSEntityMapping.fits($0, mapping.sourceEntityVersionHash, hashes)
            } ?? true
        }
    }

    /// The mappings by their names; of two with one name the first.
    open var entityMappingsByName: [String: NSEntityMapping] {
        Dictionary(
            (entityMappings ?? []).map { ($0.name ?? "", $0) },
            uniquingKeysWith: { first, _ in first })
    }
}

extension NSEntityMapping {
    /// Whether the mapping was made for entities with these hashes.
    fileprivate func fits(_ source: [String: Data], _ destination: [String: Data]) -> Bool {
        Self.fits(sourceEntityName, sourceEntityVersionHash, source)
            && Self.fits(destinationEntityName, destinationEntityVersionHash, destination)
    }

    fileprivate static func fits(
        _ name: String?, _ hash: Data?, _ hashes: [String: Data]
    ) -> Bool {
        guard let name else { return true }
        guard let present = hashes[name] else { return false }
        return hash.map { $0 == present } ?? true
    }
}
