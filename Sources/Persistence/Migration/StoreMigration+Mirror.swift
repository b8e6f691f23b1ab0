internal import Foundation
internal import ObjectModel
internal import Predicates
internal import SQLiteStore
internal import Stores

extension StoreMigration {
    /// A store that is mirrored goes on being so: what it and its service agreed on follows the
    /// objects into the new file.
    func handOnMirror(from former: NSPersistentStoreCoordinator, to new: StoreParameters) throws {
        guard source.type == NSSQLiteStoreType, new.type == NSSQLiteStoreType,
            let from = source.file, let file = new.file,
            let rows = former.persistentStores.first?.rowStore,
            let associations = manager.work?.associations
        else { return }
        let names = FormerNames(mapping, manager)
        let history = FormerHistory(
            edits: { try Self.tellEdits(of: rows, after: $0, to: $1) },
            names: { entity, property in
                rows.layout.entity(entity).map { names.present(property, of: $0.name) } ?? []
            })
        try SQLiteRowStore.handOnMirror(
            from: from, to: file, entities: names.successors, history: history,
            platform: manager.platform
        ) { body in try associations.forEachPair(body) }
    }

    private static let transactionsMax = 200

    private static func tellEdits(
        of rows: any RowStore, after number: Int64, to body: (UnseenEdit) throws -> Void
    ) throws {
        var last = number
        while true {
            let transactions: [HistoryTransaction]
            do {
                transactions = try rows.history(after: last, limit: transactionsMax)
            } catch let error as StoreError where error.code == .historyExpired {
                // Somebody removed it: nobody knows the times any more.
                return
            }
            for transaction in transactions {
                for change in transaction.changes where change.kind != .delete {
                    let names: [String?] = change.kind == .insert ? [nil] : change.changedProperties
                    for name in names {
                        try body(
                            UnseenEdit(
                                row: change.id, property: name, transaction: transaction.number,
                                date: transaction.date, author: transaction.author))
                    }
                }
            }
            guard transactions.count == transactionsMax, let end = transactions.last else { return }
            last = end.number
        }
    }
}

/// What becomes of entities and properties by a mapping model.
private struct FormerNames {
    /// What each old entity that has a mapping becomes: of several, the one of its name or with its
    /// name as renaming identifier, else that of the first mapping.
    let successors: [String: String]
    /// The new properties by the old ones, by old entities.
    private let properties: [String: [String: Set<String>]]

    init(_ mapping: NSMappingModel, _ manager: NSMigrationManager) {
        var successors: [String: String] = [:]
        var properties: [String: [String: Set<String>]] = [:]
        for mapping in mapping.entityMappings ?? [] {
            guard let old = mapping.sourceEntityName, let new = mapping.destinationEntityName else {
                continue
            }
            let entity = manager.destinationModel.entitiesByName[new]
            if successors[old] == nil || old == new || old == entity?.givenRenamingIdentifier {
                successors[old] = new
            }
            for (former, name) in Self.names(mapping, entity) {
                properties[old, default: [:]][former, default: []].insert(name)
            }
        }
        self.successors = successors
        self.properties = properties
    }

    /// A property has its value from what its expression reads, and is the one that its renaming
    /// identifier names.
    private static func names(
        _ mapping: NSEntityMapping, _ entity: NSEntityDescription?
    ) -> [(former: String, name: String)] {
        let written = ((mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? []))
            .compactMap { property -> (String, String)? in
                guard let name = property.name, let node = property.valueExpression?.node,
                    let former = node.keyOfMigrationSource
                else { return nil }
                return (former, name)
            }
        let same = (entity?.propertiesByName ?? [:]).map { name, property in
            (property.givenRenamingIdentifier ?? name, name)
        }
        return written + same
    }

    func present(_ property: String, of entity: String) -> [String] {
        let path = property.split(separator: ".", maxSplits: 1).map(String.init)
        guard let top = path.first else { return [] }
        return (properties[entity]?[top] ?? []).sorted().map {
            ([$0] + path.dropFirst()).joined(separator: ".")
        }
    }
}
