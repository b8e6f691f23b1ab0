public import Foundation

/// A model that staged migration finds when it needs it, and checks by its checksum.
/// Source: Apple, NSManagedObjectModelReference.
open class NSManagedObjectModelReference: NSObject, @unchecked Sendable {
    // @unchecked: both members are constants; the closure reads files or constants only.
    /// The checksum the model must have.
    public let versionChecksum: String
    private let find: () throws -> NSManagedObjectModel

    /// A reference to a model at hand.
    public init(model: NSManagedObjectModel, versionChecksum: String) {
        self.versionChecksum = versionChecksum
        find = { model }
    }

    /// A reference to a model file, or to the version with that checksum in a bundle of versions.
    public init(fileURL: URL, versionChecksum: String) {
        self.versionChecksum = versionChecksum
        find = { try Self.model(at: fileURL, checksum: versionChecksum) }
    }

    /// A reference to the model named `modelName` among a bundle's resources (nil: the main
    /// bundle).
    public init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
        self.versionChecksum = versionChecksum
        let bundle = bundle ?? .main
        find = {
            let kinds = ["momd", "mom", "xcdatamodeld", "xcdatamodel"]
            let found = kinds.lazy.compactMap {
                bundle.url(forResource: modelName, withExtension: $0)
            }.first
            guard let found else { throw Self.notFound("a model named “\(modelName)”") }
            return try Self.model(at: found, checksum: versionChecksum)
        }
    }

    /// A reference to the model with those entity hashes among a bundle's resources.
    public init(
        entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?,
        versionChecksum: String
    ) {
        self.versionChecksum = versionChecksum
        let hashes = versionHash.reduce(into: [String: Data]()) { result, entry in
            if let name = entry.key as? String { result[name] = entry.value as? Data }
        }
        find = {
            let metadata: [String: Any] = [NSManagedObjectModel.versionHashesKey: hashes]
            let bundles = bundle.map { [$0] }
            guard
                let model = NSManagedObjectModel.mergedModel(
                    from: bundles, forStoreMetadata: metadata)
            else { throw Self.notFound("a model with the given entity hashes") }
            return model
        }
    }

    /// The model; nil when it cannot be found, and `resolve()` says why.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var resolvedModel: NSManagedObjectModel! { try? resolve() }

    /// The model. Throws `ModelFileError` when it is not found or its checksum is another one.
    public func resolve() throws -> NSManagedObjectModel {
        let model = try find()
        guard model.versionChecksum == versionChecksum else {
            throw ModelFileError(
                .missingVersion,
                "The model's checksum is not the one referred to; it or the checksum is out of"
                    + " date.",
                fields: ["expected": versionChecksum, "value": model.versionChecksum])
        }
        return model
    }

    private static func model(at url: URL, checksum: String) throws -> NSManagedObjectModel {
        for version in try ModelFile.versions(in: url) {
            let model = try NSManagedObjectModel.load(from: url, version: version)
            if model.versionChecksum == checksum { return model }
        }
        throw notFound("a version with the checksum \(checksum)")
    }

    private static func notFound(_ what: String) -> ModelFileError {
        ModelFileError(
            .missingVersion, "There is no such model: \(what); check the bundle and the checksum.")
    }
}
