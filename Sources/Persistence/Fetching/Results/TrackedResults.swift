internal import Foundation
internal import ObjectModel

/// The results of a request, and how they change with a context: what fetched results controllers
/// and `updates(of:)` share. Used on the context's queue.
///
/// Changed objects are looked at one by one, as Apple does: whether they match, where they stand
/// and in which section. Objects that only lead to other values by a relationship are not looked at
/// again until they change themselves. Requests with bounds, of some stores, with functions over
/// all objects, or without pending changes are fetched anew after each change.
final class TrackedResults {
    let context: NSManagedObjectContext
    let sectionNameKeyPath: String?
    private let request: any FetchRequesting
    /// Nil before the first fetch.
    private(set) var content: ResultContent?
    private var form = Form()

    /// What the request said when it was fetched.
    private struct Form {
        var query: ObjectQuery?
        var choice = FetchChoice()
        var translation: PredicateTranslation?

        /// Whether the results are objects, whose changes the context announces.
        var isTracked: Bool {
            choice.resultType == .managedObjectResultType
                || choice.resultType == .managedObjectIDResultType
        }

        var isFetchedAnew: Bool {
            choice.limit > 0 || choice.offset > 0 || !choice.flags.includesPendingChanges
                || query?.stores != nil || translation?.hasAggregates == true
        }
    }

    /// A change that was found, and not taken in yet.
    struct Change {
        let content: ResultContent
        let difference: ContentDifference
    }

    init(
        of request: any FetchRequesting, in context: NSManagedObjectContext,
        sectionNameKeyPath: String? = nil
    ) {
        self.request = request
        self.context = context
        self.sectionNameKeyPath = sectionNameKeyPath
    }

    /// Whether what was fetched, or would be, are objects.
    static func canTrack(_ request: any FetchRequesting) -> Bool {
        Form(choice: request.choice).isTracked
    }

    // MARK: Fetching

    /// Fetches. Throws as `fetch` does, and 134060 where objects do not stand in the order of their
    /// sections.
    func fetch(cache: SectionCache? = nil) throws {
        form = Form(query: try context.query(for: request), choice: request.choice)
        form.translation = form.query.map(PredicateTranslation.init)
        let stamp = cache?.stamp(of: request, in: context, sectionNameKeyPath)
        let items = try items()
        if let stamp, let runs = cache?.read(stamp, count: items.count) {
            content = ResultContent(items, runs: runs)
            return
        }
        let fresh = try sectioned(items)
        if let section = fresh.repeatedSection {
            throw PersistenceErrors.unsortedSections(section.name, at: section.start)
        }
        content = fresh
        if let stamp, cache?.stamp(of: request, in: context, sectionNameKeyPath) == stamp {
            cache?.write(fresh.sections, stamp)
        }
    }

    private func items() throws -> [NSObject] {
        guard form.choice.resultType == .managedObjectIDResultType, let query = form.query else {
            return try context.results(of: request).compactMap { $0 as? NSObject }
        }
        return try context.objects(
            matching: query, includingPending: form.choice.flags.includesPendingChanges)
    }

    private func sectioned(_ items: [NSObject]) throws -> ResultContent {
        guard let path = sectionNameKeyPath else { return ResultContent(items) }
        return try UndefinedKeys.throwing {
            ResultContent(items, names: items.map { Self.sectionName(of: $0, path) })
        }
    }

    private static func sectionName(of item: NSObject, _ path: String) -> String {
        let value: Any? =
            if let object = item as? NSManagedObject {
                object.value(forKeyPath: path)
            } else {
                (item as? NSDictionary)?[path]
            }
        return switch value {
        case nil, is NSNull: ""
        case let text as String: text
        case let number as NSNumber: number.stringValue
        case let other?: "\(other)"
        }
    }

    // MARK: Changes

    /// What an event does to the results; nil where it does nothing. Throws what a new fetch or a
    /// predicate throws.
    func change(after event: ResultEvent) throws -> Change? {
        guard let content, form.isTracked, let query = form.query else { return nil }
        let touched =
            event.objects.filter { query.covers($0.entity) }
            + (event.isWhole ? [] : try unknown(event.mergedIDs, query))
        let isShifted =
            form.isFetchedAnew && event.deletedIDs.contains { query.covers($0.entity) }
        guard event.isWhole || isShifted || !touched.isEmpty else { return nil }
        if event.isWhole || form.isFetchedAnew {
            return try refetched(content, touched, isWhole: event.isWhole)
        }
        guard !event.isSave else { return nil }
        do {
            return try UndefinedKeys.throwing {
                let next = try self.content(content, with: touched)
                return Self.change(from: content, to: next, touched)
            }
        } catch {
            // What cannot be told of single objects a fetch may tell.
            return try refetched(content, touched, isWhole: false)
        }
    }

    /// Objects that others updated while this context had none of them: they may match now.
    private func unknown(
        _ ids: [NSManagedObjectID], _ query: ObjectQuery
    ) throws -> [NSManagedObject] {
        let objects = ids.filter {
            query.covers($0.entity) && context.registeredObject(for: $0) == nil
        }.map(context.object(with:))
        if !objects.isEmpty { try context.readRows(of: objects) }
        return objects
    }

    /// Makes a content that was found the present one.
    func show(_ content: ResultContent) { self.content = content }

    private static func change(
        from old: ResultContent, to new: ResultContent, _ touched: [NSObject]
    ) -> Change? {
        let difference = ContentDifference(
            from: old, to: new, changed: Set(touched.map(ObjectIdentifier.init)))
        return difference.isEmpty ? nil : Change(content: new, difference: difference)
    }

    /// The change that a new fetch finds. After a reset all objects are others with the same IDs,
    /// so each that is still there counts as updated.
    private func refetched(
        _ old: ResultContent, _ touched: [NSManagedObject], isWhole: Bool
    ) throws -> Change? {
        let fresh = try sectioned(items())
        guard isWhole else { return Self.change(from: old, to: fresh, touched) }
        var present: [ObjectIdentifier: NSObject] = [:]
        for case let object as NSManagedObject in fresh.items {
            present[ObjectIdentifier(object.objectID)] = object
        }
        let renewed = old.items.map { item in
            (item as? NSManagedObject).flatMap { present[ObjectIdentifier($0.objectID)] } ?? item
        }
        let former = ResultContent(renewed, runs: old.sections.map { ($0.name, $0.count) })
        return Self.change(from: former, to: fresh, fresh.items)
    }

    /// The content with changed objects taken out and put where they belong now.
    private func content(
        _ old: ResultContent, with touched: [NSManagedObject]
    ) throws -> ResultContent {
        guard let translation = form.translation else { return old }
        var placing = ResultPlacing(
            old, touched: Set(touched.map(ObjectIdentifier.init)), order: translation.order)
        var seen = Set<ObjectIdentifier>()
        for object in touched where seen.insert(ObjectIdentifier(object)).inserted {
            guard isPresent(object), try translation.matches(object), isPresent(object) else {
                continue
            }
            let name = sectionNameKeyPath.map { Self.sectionName(of: object, $0) } ?? ""
            try placing.place(object, section: name)
        }
        let (items, names) = try placing.merged()
        return sectionNameKeyPath == nil
            ? ResultContent(items) : ResultContent(items, names: names)
    }

    /// Whether an object is still one of the context; reading a value may find that it is not.
    private func isPresent(_ object: NSManagedObject) -> Bool {
        !object.isDeleted && context.owns(object)
    }
}
