internal import Foundation
internal import ObjectModel
internal import Stores

// Finding objects.
extension NSManagedObjectContext {
    /// The results of a request: what is stored, with the context's own changes.
    ///
    /// Cost: one query; an unsaved change of the entity adds an evaluation in memory for each changed object.
    public final func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
        if let type = T.self as? NSManagedObject.Type { KnownClasses.note(type) }
        let results = try results(of: request)
        if let typed = results as? [T] { return typed }
        throw PersistenceErrors.resultType(of: results.first, wanted: "\(T.self)")
    }

    /// The number of objects a request would return.
    public final func count<T>(for request: NSFetchRequest<T>) throws -> Int {
        let query = try query(for: request)
        return try count(matching: query, includingPending: request.choice.includesPendingChanges)
    }

    /// The results of a request of any result type.
    final func results(of request: any FetchRequesting) throws -> [Any] {
        let choice = request.choice
        let query = try query(for: request)
        switch choice.resultType {
        case .managedObjectIDResultType:
            return try ids(matching: query, includingPending: choice.includesPendingChanges)
        case .countResultType:
            return [
                NSNumber(
                    value: try count(
                        matching: query, includingPending: choice.includesPendingChanges))
            ]
        case .dictionaryResultType: return try DictionaryFetch(choice: choice).run(query, in: self)
        default:
            let objects = try objects(
                matching: query, includingPending: choice.includesPendingChanges,
                refreshing: choice.refreshesRefetched)
            if !choice.returnsObjectsAsFaults { for object in objects { object.fire() } }
            return objects
        }
    }

    final func query(for request: any FetchRequesting) throws -> ObjectQuery {
        let choice = request.choice
        let named = choice.entityName.flatMap { model?.entitiesByName[$0] }
        guard let entity = choice.entity ?? named else {
            throw PersistenceErrors.unknownEntity(choice.entityName)
        }
        var query = ObjectQuery(entity: entity)
        query.includesSubentities = choice.includesSubentities
        query.predicate = choice.predicate
        query.sort = choice.sortDescriptors ?? []
        query.limit = choice.limit
        query.offset = choice.offset
        query.stores = request.affectedStores
        return query
    }

    // MARK: Objects, IDs, counts

    final func objects(
        matching query: ObjectQuery, includingPending: Bool, refreshing: Bool = false
    ) throws -> [NSManagedObject] {
        guard let source else { throw PersistenceErrors.noCoordinator }
        let changed = includingPending ? changedObjects(for: query) : []
        let found = try source.find(changed.isEmpty ? query : query.widened(by: changed.count))
        let objects = found.map { found in
            let object = materialize(found.id, found.snapshot)
            if refreshing, let snapshot = found.snapshot { object.rebase(onto: snapshot) }
            return object
        }
        guard !changed.isEmpty else { return objects }
        return try overlay(changed, on: objects, for: query)
    }

    final func ids(
        matching query: ObjectQuery, includingPending: Bool
    ) throws -> [NSManagedObjectID] {
        guard let source else { throw PersistenceErrors.noCoordinator }
        if includingPending && !changedObjects(for: query).isEmpty {
            return try objects(matching: query, includingPending: true).map(\.objectID)
        }
        return try source.findIDs(query)
    }

    final func count(matching query: ObjectQuery, includingPending: Bool) throws -> Int {
        guard let source else { throw PersistenceErrors.noCoordinator }
        if includingPending && !changedObjects(for: query).isEmpty {
            return try objects(matching: query, includingPending: true).count
        }
        return try source.count(query)
    }

    // MARK: Unsaved changes

    private func changedObjects(for query: ObjectQuery) -> [NSManagedObject] {
        pending.objects.filter { $0.hasChanges && query.covers($0.entity) }
    }

    /// Takes out what no longer belongs, adds what now does, and restores order and bounds.
    private func overlay(
        _ changed: [NSManagedObject], on found: [NSManagedObject], for query: ObjectQuery
    ) throws -> [NSManagedObject] {
        let predicate = query.predicate
        var matching = Set<ObjectIdentifier>()
        for object in changed where !object.isDeleted {
            if predicate?.evaluate(with: object) ?? true {
                matching.insert(ObjectIdentifier(object))
            }
        }
        let touched = Set(changed.map(ObjectIdentifier.init))
        var objects = found.filter {
            !touched.contains(ObjectIdentifier($0)) || matching.contains(ObjectIdentifier($0))
        }
        let present = Set(objects.map(ObjectIdentifier.init))
        for object in changed {
            let key = ObjectIdentifier(object)
            if matching.contains(key) && !present.contains(key) { objects.append(object) }
        }
        return query.bounded(query.sorted(objects))
    }

    // MARK: Fetched properties

    /// The results of a fetched property's request, with the object as its source.
    final func fetchedProperty(_ key: String, of object: NSManagedObject) -> Any? {
        guard let property = object.entity.propertiesByName[key] as? NSFetchedPropertyDescription,
            let template = property.template,
            let entity = model?.entitiesByName[template.entityName]
        else { return nil }
        do {
            let query = ObjectQuery(entity: entity)
            return try objects(matching: query, includingPending: true)
        } catch {
            pending.failure = error
            return nil
        }
    }
}

extension ObjectQuery {
    /// The same query with room for `count` results that pending changes may take away.
    func widened(by count: Int) -> ObjectQuery {
        var wider = self
        wider.offset = 0
        wider.limit = limit == 0 ? 0 : offset + limit + count
        return wider
    }

    func bounded<Element>(_ elements: [Element]) -> [Element] {
        guard offset > 0 || limit > 0 else { return elements }
        let rest = elements.dropFirst(offset)
        return Array(limit > 0 ? rest.prefix(limit) : rest)
    }

    func sorted(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        guard !sort.isEmpty else { return objects }
        return objects.sorted { first, second in
            for descriptor in sort {
                switch descriptor.compare(first, to: second) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return false
        }
    }
}

extension NSFetchRequest {
    /// The request's results in the context whose lane the caller runs on. Throws outside of one.
    public final func execute() throws -> [ResultType] {
        guard let context = NSManagedObjectContext.current else {
            throw PersistenceErrors.noCurrentContext
        }
        return try context.fetch(self)
    }
}
