internal import Foundation
internal import ObjectModel
internal import Stores

/// An incremental store as rows: single objects and their links. Whatever works on rows in bulk is
/// refused with a reason.
final class IncrementalRows: HistorylessStore {
    let layout: ModelLayout
    let identifier: String
    /// The store owns its rows.
    private unowned let store: NSIncrementalStore

    init(store: NSIncrementalStore, layout: ModelLayout, identifier: String) {
        self.store = store
        self.layout = layout
        self.identifier = identifier
    }

    func metadata() throws -> [String: Any] { store.metadata }
    func setMetadata(_ metadata: [String: Any]) throws { store.metadata = metadata }

    // MARK: Objects

    func row(_ id: RowID) throws -> Row? {
        guard layout.entity(id.entity) != nil else { return nil }
        return try row(id, from: store.node(of: id, for: store.asking))
    }

    /// The row that a node tells of.
    func row(_ id: RowID, from node: NSIncrementalStoreNode) throws -> Row? {
        guard let entity = layout.entity(id.entity) else { return nil }
        let objectID = store.id(for: id)
        var row = Row(id: id, layout: entity)
        row.version = Int64(clamping: node.version)
        for (slot, place) in entity.attributes.enumerated() {
            let given = try CacheNodeGraph.value(place.name, of: entity) { node.value(named: $0) }
            guard let value = AttributeCoding.accept(given, for: place.attribute) else {
                throw CacheNodeGraph.misfit(entity, place.name)
            }
            row.attributes[slot] = value
        }
        for (slot, relationship) in entity.toOnes.enumerated() {
            let value =
                try node.value(for: relationship)
                ?? store.newValue(
                    forRelationship: relationship, forObjectWith: objectID, with: store.asking)
            guard let targets = CacheNodeGraph.rows(value), targets.count <= 1 else {
                throw CacheNodeGraph.misfit(entity, relationship.name)
            }
            row.toOnes[slot] = targets.first.map { Link($0) }
        }
        return row
    }

    func rows(_ ids: [RowID]) throws -> [Row] { try ids.compactMap { try row($0) } }

    func members(of owner: RowID, toMany slot: Int) throws -> [Link] {
        guard let entity = layout.entity(owner.entity) else { return [] }
        let relationship = entity.toManys[slot]
        let value = try store.newValue(
            forRelationship: relationship, forObjectWith: store.id(for: owner), with: store.asking)
        guard let members = CacheNodeGraph.rows(value) else {
            throw CacheNodeGraph.misfit(entity, relationship.name)
        }
        return members.map { Link($0) }
    }

    // MARK: What has no rows

    func reserveKeys(entity: Int32, count: Int) throws -> [Int64] { throw refusal }
    func rows(matching query: RowQuery) throws -> [Row] { throw refusal }
    func ids(matching query: RowQuery) throws -> [RowID] { throw refusal }
    func count(matching query: RowQuery) throws -> Int { throw refusal }
    func save(_ changes: ChangeSet) throws -> SaveOutcome { throw refusal }
    var historyRefusal: StoreError { refusal }

    private var refusal: StoreError {
        StoreError(
            .unsupported,
            "An incremental store keeps no history and takes no batch requests or migrations; use "
                + "contexts, or a store of another type.", fields: ["type": store.type])
    }
}
