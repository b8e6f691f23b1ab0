internal import Foundation
internal import ObjectModel
internal import Platform
internal import Predicates
internal import Stores

// Finding objects.
extension NSManagedObjectContext {
    /// The results of a request: what is stored, with the context's own changes.
    ///
    /// Cost: one query; an unsaved change of the entity adds an evaluation in memory for each
    /// changed object. Throws 134060 for an entity, result type or key path that is not there,
    /// 134091 for what no store can answer, and the stores' failures (134180 and others).
    public final func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
        do {
            return try found(request)
        } catch {
            throw PersistenceErrors.bridged(error)
        }
    }

    private func found<T>(_ request: NSFetchRequest<T>) throws -> [T] {
        if QueueGuard.isOn { checkQueue() }
        if let type = T.self as? NSManagedObject.Type { KnownClasses.note(type) }
        let typed: [T]?
        let first: Any?
        switch request.choice.resultType {
        case .managedObjectIDResultType:
            let ids = try ids(of: request)
            // The same type, which a cast would find out for each element.
            typed =
                T.self == NSManagedObjectID.self ? unsafeBitCast(ids, to: [T].self) : ids as? [T]
            first = ids.first
        case .managedObjectResultType:
            let objects = try objects(of: request)
            (typed, first) = (Self.typed(objects), objects.first)
        default:
            let results = try results(of: request)
            (typed, first) = (results as? [T], results.first)
        }
        guard let typed else { throw PersistenceErrors.resultType(of: first, wanted: "\(T.self)") }
        return typed
    }

    /// Objects as elements of the type that a program asked for; nil where one is of another.
    private static func typed<T>(_ objects: [NSManagedObject]) -> [T]? {
        guard T.self is NSManagedObject.Type, T.self != NSManagedObject.self else {
            return objects as? [T]
        }
        // One look at each class rather than at each object.
        var seen: (any AnyObject.Type)?
        for object in objects where type(of: object) != seen {
            guard object is T else { return nil }
            seen = type(of: object)
        }
        // An array of references is the same whatever class they are known to be of.
        return unsafeBitCast(objects, to: [T].self)
    }

    private func objects(of request: any FetchRequesting) throws -> [NSManagedObject] {
        let choice = request.choice
        let query = try query(for: request)
        if choice.returnsBatches, choice.batchSize > 0 || !choice.flags.includesPropertyValues {
            return try batchedObjects(
                matching: query, size: max(choice.batchSize, 1),
                prefetching: choice.prefetching ?? [])
        }
        let objects = try objects(
            matching: query, includingPending: choice.flags.includesPendingChanges,
            refreshing: choice.flags.refreshesRefetched)
        return try completed(objects, choice)
    }

    /// Objects as a request wants them: with the relationships it names, and as faults or not.
    final func completed(
        _ objects: [NSManagedObject], _ choice: FetchChoice
    ) throws -> [NSManagedObject] {
        try prefetch(choice.prefetching ?? [], of: objects)
        if !choice.flags.returnsObjectsAsFaults { for object in objects { object.fire() } }
        return objects
    }

    private func ids(of request: any FetchRequesting) throws -> [NSManagedObjectID] {
        try ids(
            matching: try query(for: request),
            includingPending: request.choice.flags.includesPendingChanges)
    }

    /// The number of results a request would return.
    ///
    /// Cost: one query. Throws as `fetch` does.
    public final func count<T>(for request: NSFetchRequest<T>) throws -> Int {
        do {
            return try counted(request)
        } catch {
            throw PersistenceErrors.bridged(error)
        }
    }

    private func counted<T>(_ request: NSFetchRequest<T>) throws -> Int {
        let query = try query(for: request)
        if request.choice.resultType == .dictionaryResultType {
            return try DictionaryFetch(request.choice, query, in: self).run().count
        }
        return try count(
            matching: query, includingPending: request.choice.flags.includesPendingChanges)
    }

    /// The results of a request of any result type.
    final func results(of request: any FetchRequesting) throws -> [Any] {
        let choice = request.choice
        let query = try query(for: request)
        switch choice.resultType {
        case .managedObjectIDResultType: return try ids(of: request)
        case .countResultType:
            return [
                NSNumber(
                    value: try count(
                        matching: query, includingPending: choice.flags.includesPendingChanges))
            ]
        case .dictionaryResultType: return try DictionaryFetch(choice, query, in: self).run()
        default: return try objects(of: request)
        }
    }

    final func query(for request: any FetchRequesting) throws -> ObjectQuery {
        if propagatesDeletesAtEndOfEvent { propagateDeletions() }
        let choice = request.choice
        let named = choice.entityName.flatMap { model?.entitiesByName[$0] }
        guard let entity = choice.entity ?? named else {
            throw PersistenceErrors.unknownEntity(choice.entityName)
        }
        var query = ObjectQuery(entity: entity)
        query.includesSubentities = choice.flags.includesSubentities
        query.predicate = try choice.predicate.map { try FetchExpressions.answered($0, in: self) }
        query.sort = choice.sortDescriptors ?? []
        query.limit = choice.limit
        query.offset = choice.offset
        query.stores = request.affectedStores
        query.coordinator = persistentStoreCoordinator
        return query
    }

    // MARK: Objects, IDs, counts

    final func objects(
        matching query: ObjectQuery, includingPending: Bool, refreshing: Bool = false
    ) throws -> [NSManagedObject] {
        guard let source else { throw PersistenceErrors.noCoordinator }
        let translation = PredicateTranslation(query)
        let changed = includingPending ? changedObjects(for: query) : []
        let isPlain = translation.isStorable && changed.isEmpty && source.answersWhole(query)
        if !isPlain, let computed = try computingAggregates(in: query, includingPending) {
            return try objects(
                matching: computed, includingPending: includingPending, refreshing: refreshing)
        }
        let asked = translation.isStorable ? query.widened(by: changed.count) : query.everything
        let found = try source.find(isPlain ? query : asked)
        var objects = materialize(found, refreshing: refreshing)
        if isPlain { return objects }
        if !translation.isStorable { objects = try objects.filter(translation.matches) }
        objects = try overlay(changed, on: objects, translation)
        return query.bounded(try translation.sorted(objects))
    }

    final func ids(
        matching query: ObjectQuery, includingPending: Bool
    ) throws -> [NSManagedObjectID] {
        guard let source else { throw PersistenceErrors.noCoordinator }
        guard isPlain(query, source, includingPending) else {
            return try objects(matching: query, includingPending: includingPending).map(\.objectID)
        }
        return try source.findIDs(query)
    }

    final func count(matching query: ObjectQuery, includingPending: Bool) throws -> Int {
        guard let source else { throw PersistenceErrors.noCoordinator }
        if isPlain(query, source, includingPending) { return try source.count(query) }
        if let computed = try computingAggregates(in: query, includingPending) {
            return try count(matching: computed, includingPending: includingPending)
        }
        let translation = PredicateTranslation(query)
        guard translation.isStorable else {
            return try objects(matching: query, includingPending: includingPending).count
        }
        let changed = includingPending ? changedObjects(for: query) : []
        var all = query.everything
        all.predicate = query.predicate
        let stored = try source.count(all)
        let overlaid = try source.count(all.among(changed.map(\.objectID)))
        let present = try changed.filter { try !$0.isDeleted && translation.matches($0) }.count
        return query.bounded(stored - overlaid + present)
    }

    /// Whether the source can answer without the context's help.
    final func isPlain(
        _ query: ObjectQuery, _ source: any ObjectSource, _ includingPending: Bool
    ) -> Bool {
        PredicateTranslation(query).isStorable && source.answersWhole(query)
            && !(includingPending && !changedObjects(for: query).isEmpty)
    }

    /// A query that no store answers alone, with what functions over all objects of its entity
    /// (`age == max:(age)`) make of all that the context sees; nil where it has none. Cost: reads
    /// all of them.
    private func computingAggregates(
        in query: ObjectQuery, _ includingPending: Bool
    ) throws -> ObjectQuery? {
        let calls = AggregateCalls(of: query.entity)
        guard let predicate = query.predicate.map(node(of:)), calls.areIn(predicate) else {
            return nil
        }
        let all = try objects(matching: query.everything, includingPending: includingPending)
        var computed = query
        computed.predicate = try UndefinedKeys.throwing {
            try calls.computing(predicate, over: all, platform: .system).predicate
        }
        return computed
    }

    // MARK: Unsaved changes

    /// The changed objects that may be among the results, or were: of the query's stores, or new
    /// ones that a save would put there.
    private func changedObjects(for query: ObjectQuery) -> [NSManagedObject] {
        let changed = pending.objects.filter { $0.hasChanges && query.covers($0.entity) }
        guard let stores = query.stores, !changed.isEmpty else { return changed }
        let translation = PredicateTranslation(query)
        let isOfEach = !translation.hasAggregates
        // To find out where a new one goes takes a look at all that changed.
        lazy var choice = storeChoice()
        return changed.filter { object in
            if let space = object.reservedSpace {
                return stores.contains { $0 === space.store?.target }
            }
            guard !isOfEach || (try? translation.matches(object)) != false else { return false }
            guard let choice else { return true }
            let place = try? choice.store(for: object)
            return stores.contains { $0 === place }
        }
    }

    /// Takes out what no longer belongs and adds what now does.
    private func overlay(
        _ changed: [NSManagedObject], on found: [NSManagedObject],
        _ translation: PredicateTranslation
    ) throws -> [NSManagedObject] {
        guard !changed.isEmpty else { return found }
        var matching = Set<ObjectIdentifier>()
        for object in changed where !object.isDeleted {
            if try translation.matches(object) { matching.insert(ObjectIdentifier(object)) }
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
        return objects
    }

    // MARK: Fetched properties

    /// The results of a fetched property's request, with the object as its source.
    final func fetchedProperty(_ key: String, of object: NSManagedObject) -> Any? {
        guard let property = object.entity.propertiesByName[key] as? NSFetchedPropertyDescription,
            let template = property.template,
            let entity = model?.entitiesByName[template.entityName]
        else { return nil }
        do {
            var query = ObjectQuery(entity: entity)
            query.limit = template.fetchLimit
            query.sort = template.sortKeys.map(\.descriptor)
            query.includesSubentities = template.includesSubentities
            query.predicate = try template.predicateText.map { text in
                let variables: [String: Any?] = [
                    "FETCH_SOURCE": object, "FETCHED_PROPERTY": DescribedProperty(property),
                ]
                let bound = node(of: try NSPredicate.parse(text)).substituting(variables)
                return try bound.mapExpressions(Self.computed).predicate
            }
            return try objects(matching: query, includingPending: true)
        } catch {
            pending.failure = error
            return nil
        }
    }
}

extension NSManagedObjectContext {
    /// A path from an object that is known already, as the value at its end.
    fileprivate static func computed(_ expression: ExpressionNode) throws -> ExpressionNode {
        guard case .path(from: .constant, _) = expression else { return expression }
        return .constant(try value(of: expression, with: nil))
    }
}

/// A fetched property as the predicate of its own request reads it:
/// `$FETCHED_PROPERTY.userInfo.key`.
private final class DescribedProperty: KeyValueReading {
    private let property: NSFetchedPropertyDescription

    init(_ property: NSFetchedPropertyDescription) { self.property = property }

    func value(forKey key: String) throws -> Any? {
        switch key {
        case "name": return property.name
        case "userInfo": return property.userInfo
        case "versionHashModifier": return property.versionHashModifier
        case "renamingIdentifier": return property.renamingIdentifier
        case "isOptional": return property.isOptional
        case "isTransient": return property.isTransient
        default:
            throw EvaluationError(
                .unknownKey, "A fetched property has no property \(key) to read.",
                fields: ["key": key])
        }
    }
}

extension ObjectQuery {
    /// The same query for results that the context bounds itself: from the first on, with room for
    /// `count` that pending changes may take away. No store knows which of its results are the
    /// first of several stores'.
    func widened(by count: Int) -> ObjectQuery {
        var wider = self
        wider.offset = 0
        wider.limit = reach(and: count)
        return wider
    }

    /// How many results there are up to the last within the bounds, and `count` more; 0 for all,
    /// also where no number says it.
    private func reach(and count: Int) -> Int {
        guard limit > 0 else { return 0 }
        let (end, isEndless) = limit.addingReportingOverflow(offset)
        let (reach, isBeyond) = end.addingReportingOverflow(count)
        return isEndless || isBeyond ? 0 : reach
    }

    /// All objects of the entity, in no order.
    var everything: ObjectQuery {
        var all = self
        all.predicate = nil
        all.sort = []
        all.limit = 0
        all.offset = 0
        return all
    }

    /// The same query, of these objects only.
    func among(_ ids: [NSManagedObjectID]) -> ObjectQuery {
        var fewer = self
        let isOne = ComparisonNode(left: .evaluatedObject, operator: .in, right: .constant(ids))
        let parts = [predicate.map(node(of:)), .comparison(isOne)].compactMap { $0 }
        fewer.predicate = PredicateNode.and(parts).predicate
        return fewer
    }

    /// How many of `count` results are within the query's bounds.
    func bounded(_ count: Int) -> Int {
        let rest = max(count - offset, 0)
        return limit > 0 ? min(rest, limit) : rest
    }

    func bounded<Element>(_ elements: [Element]) -> [Element] {
        guard offset > 0 || limit > 0 else { return elements }
        let rest = elements.dropFirst(offset)
        return Array(limit > 0 ? rest.prefix(limit) : rest)
    }
}

extension NSFetchRequest {
    /// The request's results in the context whose `perform` the caller runs in. Throws 134060
    /// outside of one, and as `fetch` does. Cost: as `fetch`.
    public final func execute() throws -> [ResultType] {
        guard let context = NSManagedObjectContext.current else {
            throw PersistenceErrors.noCurrentContext
        }
        return try context.fetch(self)
    }

    func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let request = NSAsynchronousFetchRequest(fetchRequest: self)
        let result = NSAsynchronousFetchResult(request, in: context, progress: nil)
        result.finish(.success(try context.fetch(self)))
        return result
    }
}
