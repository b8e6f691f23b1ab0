internal import ObjectModel
internal import Platform
internal import Stores
internal import Synchronization

/// The schema of a file that its hashes prove to be made for a model: worked out entity by entity,
/// when one is asked for. Any thread.
///
/// A piece is the schema of those few trees that decide on the columns of one entity. After some
/// pieces the whole is less work.
final class SchemaPieces: Sendable {
    let layout: ModelLayout
    private let reach: SchemaReach
    private let resolver: SchemaResolver
    private let makeWhole: @Sendable () throws -> StoreSchema
    private let places: [Int32: Place]
    private let madeWhole = AtomicLazyReference<WholeSchema>()
    private let madeCount = Atomic(0)
    private let failures = Lock<[Int32: StoreError]>([:])
    private static let piecesMax = 12

    private final class Place: Sendable {
        let columns = AtomicLazyReference<EntityColumns>()
    }

    /// `makeWhole` gives the schema of the whole layout. Nil where pieces of it cannot be told from
    /// the model alone, or where something must be known of all entities at once.
    init?(
        _ layout: ModelLayout, _ resolver: SchemaResolver,
        makeWhole: @escaping @Sendable () throws -> StoreSchema
    ) {
        guard let reach = SchemaReach(layout) else { return nil }
        self.layout = layout
        self.reach = reach
        self.resolver = resolver
        self.makeWhole = makeWhole
        places = Dictionary(
            layout.members.map { ($0.number, Place()) }, uniquingKeysWith: { first, _ in first })
    }

    /// Nil for an entity that is not here, or that the file does not hold as the model has it.
    func columns(of entity: Int32) -> EntityColumns? {
        guard let place = places[entity] else { return nil }
        if let known = place.columns.load() { return known }
        do {
            guard let made = try piece(of: entity) else { return nil }
            return place.columns.storeIfNil(made)
        } catch {
            failures.withLock { $0[entity] = error as? StoreError }
            return nil
        }
    }

    func failure(of entity: Int32) -> StoreError? { failures.withLock { $0[entity] } }

    private func piece(of entity: Int32) throws -> EntityColumns? {
        if let whole = madeWhole.load() { return whole.content.columnsByNumber[entity] }
        let made = madeCount.wrappingAdd(1, ordering: .relaxed).newValue
        let needed = reach.entities(for: entity)
        guard made <= Self.piecesMax, needed.count * 2 < layout.count else {
            return try wholeSchema().content.columnsByNumber[entity]
        }
        let columns = try SchemaBuilder.columns(of: entity, in: layout.keeping(needed))
        return try columns.map {
            try resolver.resolve($0, layout.entity(entity))
        }
    }

    /// All of it; nil where the file does not hold it as the model has it.
    var whole: WholeSchema? { try? wholeSchema() }

    private func wholeSchema() throws -> WholeSchema {
        if let known = madeWhole.load() { return known }
        let made = try resolver.resolve(makeWhole())
        return madeWhole.storeIfNil(WholeSchema(made.content))
    }
}
