internal import Foundation
internal import ObjectModel
internal import Platform
internal import Stores

/// What opening a store works out from a model: its schema and its archive. For models in use,
/// which change no more, the last ones are kept, so that a second store of a model opens sooner.
/// Any thread.
enum ModelFacts {
    /// The schema of a configuration's entities (nil: all), numbered by `numbers`, or afresh.
    /// Throws `StoreError`. Cost: O(properties) at the first call for a model in use.
    ///
    /// `layout` is one of just these entities and numbers, where there is one already.
    static func schema(
        _ model: NSManagedObjectModel, _ configuration: String?, numbers: [String: Int32]?,
        _ layout: ModelLayout? = nil
    ) throws -> StoreSchema {
        let key = SchemaKey(configuration: configuration, numbers: numbers)
        if let known = of(model)?.schemas[key] { return known }
        let schema = try SchemaBuilder.schema(
            of: layout
                ?? ModelLayout(model: model, configuration: configuration, numbers: numbers))
        keep(model) { $0.schemas[key] = schema }
        return schema
    }

    /// Whether `schema` would have nothing to work out.
    static func knows(
        _ model: NSManagedObjectModel, _ configuration: String?, numbers: [String: Int32]
    ) -> Bool {
        of(model)?.schemas[SchemaKey(configuration: configuration, numbers: numbers)] != nil
    }

    /// The bytes of `Z_MODELCACHE`; nil for a model that no archive can hold.
    static func archive(_ model: NSManagedObjectModel) -> Data? {
        if let known = of(model)?.archive { return known }
        let packed = ModelCache.packed(model)
        keep(model) { $0.archive = packed }
        return packed
    }

    // MARK: Kept

    private struct SchemaKey: Hashable {
        var configuration: String?
        var numbers: [String: Int32]?
    }

    private struct Facts {
        let model: NSManagedObjectModel
        var schemas: [SchemaKey: StoreSchema] = [:]
        var archive: Data?
    }

    /// The model used last stands at the end.
    private static let kept = Lock<[Facts]>([])
    private static let modelsMax = 8
    private static let schemasMax = 8

    private static func of(_ model: NSManagedObjectModel) -> Facts? {
        kept.withLock { $0.last { $0.model === model } }
    }

    private static func keep(_ model: NSManagedObjectModel, _ change: (inout Facts) -> Void) {
        guard model.isFrozen else { return }
        kept.withLock { kept in
            var facts = Facts(model: model)
            if let index = kept.firstIndex(where: { $0.model === model }) {
                facts = kept.remove(at: index)
            }
            if facts.schemas.count >= schemasMax { facts.schemas = [:] }
            change(&facts)
            kept.append(facts)
            if kept.count > modelsMax { kept.removeFirst() }
        }
    }
}
