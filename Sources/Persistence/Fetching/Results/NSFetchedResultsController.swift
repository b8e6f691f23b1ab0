public import Foundation

/// The results of a fetch request, in sections, kept up to date with a context. Source: Apple,
/// NSFetchedResultsController.
///
/// With a delegate, each change that the context announces changes the results: changed objects are
/// looked at one by one, as Apple does, so an object whose *related* object changed is looked at
/// again when it changes itself. Without a delegate the results stay as they were fetched. Use it
/// on its context's queue; the delegate is called there.
///
/// Differences from Apple: `ResultType` is not constrained, since a Swift protocol type cannot meet
/// its own constraint off Apple's platforms; a request with a limit or an offset keeps to it, as it
/// is fetched anew after each change; an object that another context changed so that it matches now
/// comes also where this context did not have it; results of object IDs are followed, too; a
/// context's reset is followed by a new fetch; a cache of another request is ignored instead of
/// ending the program. A change that cannot be fetched leaves the results as they are until
/// `performFetch`.
///
/// Queue: its context's. Cost: an event is one walk through the results, and O(log results)
/// comparisons for each changed object; only a request with bounds, and a reset, fetch anew.
open class NSFetchedResultsController<ResultType>: NSObject {
    final let source: FetchedResultsSource
    /// What is fetched. After changing it call `performFetch`; a cache notices by itself.
    public final let fetchRequest: NSFetchRequest<ResultType>
    private final var typed: (version: Int, results: [ResultType])?

    /// A controller of a request, which must have sort descriptors: traps with Apple's sentence
    /// where they are nil. With none in the array objects stand as the store gives them, and new
    /// ones at the end. Nothing is fetched yet.
    ///
    /// - Parameters:
    ///   - sectionNameKeyPath: The key path, in the model, to the name of each object's section;
    ///     the first sort descriptor must bring objects of one section together. Nil makes one
    ///     section.
    ///   - name: The file that keeps the sections for the next run of the program; nil for none.
    public init(
        fetchRequest: NSFetchRequest<ResultType>,
        managedObjectContext context:
            NSManagedObjectContext, sectionNameKeyPath: String?, cacheName name: String?
    ) {
        guard fetchRequest.sortDescriptors != nil else { ProgrammingMistake.unsortedResults() }
        self.fetchRequest = fetchRequest
        let tracked = TrackedResults(
            of: fetchRequest, in: context, sectionNameKeyPath: sectionNameKeyPath)
        source = FetchedResultsSource(tracked, request: fetchRequest, cacheName: name)
        super.init()
        source.belong(to: self)
    }

    /// A controller of nothing, which holds a place until there is one, or is handed to a delegate
    /// under test: it shows no results, and fetching throws 134060.
    public override convenience init() {
        let request = NSFetchRequest<ResultType>()
        request.sortDescriptors = []
        self.init(
            fetchRequest: request,
            managedObjectContext: NSManagedObjectContext(
                concurrencyType: .privateQueueConcurrencyType),
            sectionNameKeyPath: nil, cacheName: nil)
    }

    /// A controller over what another one fetched, as delegates are shown it.
    init(showing source: FetchedResultsSource) {
        self.source = source
        let request = NSFetchRequest<ResultType>()
        request.choice = source.request.choice
        request.affectedStores = source.request.affectedStores
        fetchRequest = request
        super.init()
    }

    // MARK: What it was made of

    /// The context whose changes are followed.
    open var managedObjectContext: NSManagedObjectContext { source.tracked.context }
    /// The key path to the names of sections.
    open var sectionNameKeyPath: String? { source.tracked.sectionNameKeyPath }
    /// The name of the file that keeps the sections.
    open var cacheName: String? { source.cacheName }

    /// Who is told of changes; not held. Set it before `performFetch`, which begins to follow the
    /// context. Results that are dictionaries or counts cannot be followed: `performFetch` traps
    /// with Apple's sentence then.
    open var delegate: (any NSFetchedResultsControllerDelegate)? {
        get { source.delegate }
        set { source.delegate = newValue }
    }

    /// Removes a cache's file; all of the program's for nil.
    open class func deleteCache(withName name: String?) { SectionCache.remove(name) }

    // MARK: Fetching

    /// Runs the request. A delegate that takes snapshots gets the first one.
    ///
    /// Cost: one query; with sections every object is read, unless a cache has them. Throws as
    /// `NSManagedObjectContext.fetch` does; 134060 where objects do not stand in the order of their
    /// sections, are not of the type asked for, or have no such key path.
    open func performFetch() throws {
        try source.performFetch()
        guard let items = source.tracked.content?.items, fetchedObjects == nil else { return }
        throw PersistenceErrors.resultType(of: items.first, wanted: "\(ResultType.self)")
    }

    /// All results, in order; nil before the first fetch. Cost: a cast of each after a change.
    open var fetchedObjects: [ResultType]? {
        guard let items = source.tracked.content?.items else { return nil }
        if let typed, typed.version == source.version { return typed.results }
        guard let results = items.map(source.shown) as? [ResultType] else { return nil }
        typed = (source.version, results)
        return results
    }

    /// The result at a place: section, then row. Traps where there is none.
    open func object(at indexPath: IndexPath) -> ResultType {
        guard let content = source.tracked.content, let place = content.place(at: indexPath) else {
            ProgrammingMistake.noResult(at: Array(indexPath))
        }
        let item = source.shown(content.items[place])
        guard let result = item as? ResultType else {
            ProgrammingMistake.mistypedResult(item, wanted: ResultType.self)
        }
        return result
    }

    /// Where a result stands; nil where it is none. Cost: a look at all results after a change,
    /// then one look into a table.
    open func indexPath(forObject object: ResultType) -> IndexPath? {
        source.indexPath(of: object as AnyObject)
    }

    // MARK: Sections

    /// The sections in order; nil before the first fetch. Without a section key path there is one,
    /// also where nothing was found.
    open var sections: [any NSFetchedResultsSectionInfo]? { source.sections }

    /// The title of a section in an index: what the delegate says, else the name's first letter in
    /// upper case. May be overridden.
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        source.title(ofSection: sectionName)
    }

    /// The titles of all sections, each once. May be overridden, with
    /// `section(forSectionIndexTitle:at:)`.
    open var sectionIndexTitles: [String] {
        var seen = Set<String>()
        return (source.sections ?? []).compactMap(\.indexTitle).filter {
            seen.insert($0).inserted
        }
    }

    /// The number of the first section of a title. Traps where no section has it.
    open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
        guard let found = source.sections?.firstIndex(where: { $0.indexTitle == title }) else {
            ProgrammingMistake.noSectionIndexTitle(title, at: sectionIndex)
        }
        return found
    }

    // MARK: Being the same

    /// Controllers over the same results are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? any ResultsShowing)?.source === source
    }

    open override var hash: Int { ObjectIdentifier(source).hashValue }

    /// Whether both are over the same results: the one an app made, and the one its delegate is
    /// shown.
    public static func === <Other>(
        left: NSFetchedResultsController<ResultType>, right: NSFetchedResultsController<Other>
    ) -> Bool { left.source === right.source }

    /// Whether both are over the same results.
    public static func === <Other>(
        left: NSFetchedResultsController<ResultType>, right: NSFetchedResultsController<Other>?
    ) -> Bool { left.source === right?.source }

    /// Whether they are over different results.
    public static func !== <Other>(
        left: NSFetchedResultsController<ResultType>, right: NSFetchedResultsController<Other>
    ) -> Bool { left.source !== right.source }

    /// Whether they are over different results.
    public static func !== <Other>(
        left: NSFetchedResultsController<ResultType>, right: NSFetchedResultsController<Other>?
    ) -> Bool { left.source !== right?.source }
}

/// A controller of any result type.
protocol ResultsShowing {
    var source: FetchedResultsSource { get }
}

extension NSFetchedResultsController: ResultsShowing {}

extension NSFetchedResultsController: SectionTitling {
    func title(ofSection name: String) -> String? { sectionIndexTitle(forSectionName: name) }
}
