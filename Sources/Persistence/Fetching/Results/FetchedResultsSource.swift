internal import Foundation

/// What a controller knows, apart from the type of its results: so that delegates, which ask for
/// any results, see the same.
final class FetchedResultsSource {
    let tracked: TrackedResults
    let cacheName: String?
    let request: any FetchRequesting
    private weak var owner: (any SectionTitling)?
    weak var delegate: (any NSFetchedResultsControllerDelegate)? {
        didSet {
            answers = Answers()
            observe()
        }
    }
    /// Counts the contents, so that what was made of one is known to be old.
    private(set) var version = 0
    private var known = KnownContent()
    private var answers = Answers()
    private var observation: ContextObservation?
    /// Events that came while a change was told.
    private var waiting: [ResultEvent] = []
    private var isTelling = false

    /// What was made of a content when it was asked for.
    private struct KnownContent {
        var version = -1
        var sections: [FetchedSection]?
        var places: [ObjectIdentifier: Int]?
    }

    /// Which functions the delegate wrote; nil where that is not known yet.
    private struct Answers {
        var snapshot: Bool?
        var difference: Bool?
        /// Set by the standing implementations.
        var isMissing = false
    }

    init(_ tracked: TrackedResults, request: any FetchRequesting, cacheName: String?) {
        self.tracked = tracked
        self.request = request
        self.cacheName = cacheName
    }

    func belong(to owner: any SectionTitling) { self.owner = owner }

    /// The controller as delegates are shown it.
    private var controller: NSFetchedResultsController<any NSFetchRequestResult> {
        owner as? NSFetchedResultsController<any NSFetchRequestResult>
            ?? NSFetchedResultsController(showing: self)
    }

    // MARK: Contents

    func performFetch() throws {
        if delegate != nil, !TrackedResults.canTrack(request) {
            ProgrammingMistake.untrackedResults("dictionaries or counts")
        }
        try tracked.fetch(cache: cacheName.map(SectionCache.init))
        version += 1
        observe()
        _ = tellSnapshot(updated: [])
    }

    private func observe() {
        guard delegate != nil, tracked.content != nil else { return observation = nil }
        guard observation == nil else { return }
        observation = ContextObservation(of: tracked.context) { [weak self] event in
            self?.take(event)
        }
    }

    /// An item as it is shown: itself, or its ID.
    func shown(_ item: NSObject) -> Any {
        guard request.choice.resultType == .managedObjectIDResultType,
            let object = item as? NSManagedObject
        else { return item }
        return object.objectID
    }

    private func refreshKnown() {
        if known.version != version { known = KnownContent(version: version) }
    }

    var sections: [FetchedSection]? {
        refreshKnown()
        if let sections = known.sections { return sections }
        known.sections = tracked.content.map { content in
            content.sections.indices.map { FetchedSection($0, of: content, source: self) }
        }
        return known.sections
    }

    /// Where an object or ID stands. Cost: O(results) after a change, then O(1).
    func indexPath(of object: AnyObject) -> IndexPath? {
        guard let content = tracked.content else { return nil }
        refreshKnown()
        let places: [ObjectIdentifier: Int]
        if let found = known.places {
            places = found
        } else {
            places = Dictionary(
                content.items.enumerated().map { place, item in
                    (ObjectIdentifier(shown(item) as AnyObject), place)
                }, uniquingKeysWith: { first, _ in first })
            known.places = places
        }
        return places[ObjectIdentifier(object)].map(content.indexPath)
    }

    // MARK: Titles

    func indexTitle(ofSection name: String) -> String? {
        owner?.title(ofSection: name) ?? title(ofSection: name)
    }

    /// The delegate's title, or the first letter in upper case.
    func title(ofSection name: String) -> String? {
        if let delegate {
            answers.isMissing = false
            let title = delegate.controller(controller, sectionIndexTitleForSectionName: name)
            if !answers.isMissing { return title }
        }
        return name.first.map { $0.uppercased() }
    }

    func noteUnanswered() { answers.isMissing = true }

    /// Runs a call of the delegate; returns whether it was written.
    private func isAnswered(_ call: () -> Void) -> Bool {
        answers.isMissing = false
        call()
        return !answers.isMissing
    }

    // MARK: Changes

    private func take(_ event: ResultEvent) {
        waiting.append(event)
        guard !isTelling else { return }
        isTelling = true
        defer { isTelling = false }
        while !waiting.isEmpty {
            let event = waiting.removeFirst()
            // What cannot be fetched now leaves the results as they are.
            guard delegate != nil, let change = try? tracked.change(after: event) else { continue }
            tell(change)
        }
    }

    private func tell(_ change: TrackedResults.Change) {
        guard let delegate, let former = tracked.content else { return }
        show(change.content)
        let updated = change.difference.updated.map { change.content.items[$0.new] }
        if tellSnapshot(updated: updated) || tellDifference(change, from: former) { return }
        // Nobody took the whole: it is told step by step, beginning with what was shown before.
        show(former)
        delegate.controllerWillChangeContent(controller)
        show(change.content)
        DelegateMessages(controller, delegate, self).send(change, from: former)
        delegate.controllerDidChangeContent(controller)
    }

    private func show(_ content: ResultContent) {
        tracked.show(content)
        version += 1
    }

    /// Returns whether the delegate takes snapshots.
    private func tellSnapshot(updated: [NSObject]) -> Bool {
        guard answers.snapshot != false, let delegate, let content = tracked.content else {
            return false
        }
        let snapshot = NSDiffableDataSourceSnapshotReference(content, updated: updated)
        let isTaken = isAnswered { delegate.controller(controller, didChangeContentWith: snapshot) }
        // Made while the queue is the context's: who keeps it may read it anywhere.
        if isTaken { snapshot.settle() }
        answers.snapshot = isTaken
        return isTaken
    }

    /// Returns whether the delegate takes differences.
    private func tellDifference(
        _ change: TrackedResults.Change, from former: ResultContent
    ) -> Bool {
        guard answers.difference != false, tracked.sectionNameKeyPath == nil, let delegate,
            let difference = change.difference.ofIDs(from: former, to: change.content)
        else { return false }
        let isTaken = isAnswered {
            delegate.controller(controller, didChangeContentWith: difference)
        }
        answers.difference = isTaken
        return isTaken
    }
}

/// Who gives sections their titles: the controller, whose class may have rules of its own.
protocol SectionTitling: AnyObject {
    func title(ofSection name: String) -> String?
}
