/// One section of a controller's results. Source: Apple, NSFetchedResultsSectionInfo. Queue: its
/// controller's.
public protocol NSFetchedResultsSectionInfo {
    /// The section's name: the value at the section key path as text; empty for a missing value,
    /// and for the one section of a controller without sections.
    var name: String { get }
    /// What the section is called in an index.
    var indexTitle: String? { get }
    /// How many objects the section has.
    var numberOfObjects: Int { get }
    /// The section's objects, in order. Cost: a copy of the section.
    var objects: [Any]? { get }
}

/// A section as it stands in one content.
final class FetchedSection: NSFetchedResultsSectionInfo {
    let name: String
    private let source: FetchedResultsSource
    private let content: ResultContent
    private let range: Range<Int>

    /// `isGone` is for a section that is told of as it leaves: it has no objects any more.
    init(
        _ number: Int, of content: ResultContent, source: FetchedResultsSource, isGone: Bool = false
    ) {
        let section = content.sections[number]
        name = section.name
        range = isGone ? section.range.lowerBound..<section.range.lowerBound : section.range
        self.content = content
        self.source = source
    }

    var indexTitle: String? { source.indexTitle(ofSection: name) }
    var numberOfObjects: Int { range.count }
    var objects: [Any]? { content.items[range].map(source.shown) }
}
