internal import Foundation
internal import ObjectModel
internal import Stores

extension StoreFacts {
    /// What an XML or binary store holds: by its model where there is one, else by its own names.
    static func entities(
        of access: StoreAccess, _ type: StoreFileKind, _ model: NSManagedObjectModel?,
        _ metadata: [String: Any]
    ) throws -> [Entity] {
        let hashes = metadata["NSStoreModelVersionHashes"] as? [String: Data] ?? [:]
        guard let model else { return try namelessEntities(of: access.url, type, hashes) }
        let store = try type.open(access.url, model: model, readOnly: true, pragmas: [:])
        return try store.layout.entities.map { entity in
            var query = RowQuery(entity: entity.number)
            let family = try store.count(matching: query)
            query.includesSubentities = false
            return Entity(
                name: entity.name, parent: entity.entity.superentity?.name,
                count: try store.count(matching: query), countWithSubentities: family,
                hash: hashes[entity.name])
        }
    }

    /// Without a model nothing is known of inheritance: every entity counts for itself.
    private static func namelessEntities(
        of url: URL, _ type: StoreFileKind, _ hashes: [String: Data]
    ) throws -> [Entity] {
        let graph =
            try type == .xml ? XMLRowStore.contents(at: url) : BinaryRowStore.contents(at: url)
        var counts: [String: Int] = [:]
        for object in graph.objects { counts[object.entity, default: 0] += 1 }
        func spelled(_ name: String) -> String { type == .xml ? name.uppercased() : name }
        let known = Set(hashes.keys.map(spelled))
        let names = Array(hashes.keys) + counts.keys.filter { !known.contains($0) }
        return names.sorted().map { name in
            let count = counts[spelled(name)] ?? 0
            return Entity(
                name: name, parent: nil, count: count, countWithSubentities: count,
                hash: hashes[name])
        }
    }
}
