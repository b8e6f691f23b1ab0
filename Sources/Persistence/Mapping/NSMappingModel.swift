public import Foundation
public import ObjectModel

internal import class Predicates.NSExpression

/// How a store of one version of a model becomes one of another. Source: Apple, NSMappingModel.
/// Queue: one; used by one migration at a time.
open class NSMappingModel: NSObject, @unchecked Sendable {
    // @unchecked: see NSEntityMapping.

    /// In the order in which a migration follows them.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var entityMappings: [NSEntityMapping]! = []

    /// A mapping model without mappings.
    public override init() { super.init() }

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
        let files = Self.fileExtensions.flatMap { suffix in
            (bundles ?? [.main]).flatMap {
                $0.urls(forResourcesWithExtension: suffix, subdirectory: nil) ?? []
            }
        }
        let models = files.lazy.compactMap { NSMappingModel(contentsOf: $0 as URL) }
        guard let fitting = models.first(where: { $0.fits(sourceModel, destinationModel) }) else {
            return nil
        }
        super.init()
        entityMappings = fitting.entityMappings
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
        func fits(_ name: String?, _ hash: Data?, _ hashes: [String: Data]) -> Bool {
            guard let name else { return true }
            guard let present = hashes[name] else { return false }
            return hash.map { $0 == present } ?? true
        }
        return fits(sourceEntityName, sourceEntityVersionHash, source)
            && fits(destinationEntityName, destinationEntityVersionHash, destination)
    }
}
