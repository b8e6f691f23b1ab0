internal import Stores

/// One end of an association: a row, once it is written, else its object.
enum AssociationEnd {
    case row(RowID)
    case object(NSManagedObject)
}

/// Which new objects came of which old ones by one mapping.
///
/// Pairs of rows take 24 bytes; an object is held only as long as it has no row.
struct AssociationTable {
    private typealias Pair = (source: NSManagedObject, destination: NSManagedObject)

    // The rows of pairs, at the same places.
    private var sources = RowList()
    private var destinations = RowList()
    /// Pairs of which one end has no row yet.
    private var unwritten: [Pair] = []
    // The places of those that were searched among, by the objects' IDs.
    private var unwrittenBySource: [ObjectIdentifier: [Int]] = [:]
    private var unwrittenByDestination: [ObjectIdentifier: [Int]] = [:]
    private var indexedCount = 0

    mutating func associate(_ source: NSManagedObject, _ destination: NSManagedObject) {
        unwritten.append((source, destination))
    }

    private mutating func indexUnwritten() {
        for place in indexedCount..<unwritten.count {
            let (source, destination) = unwritten[place]
            unwrittenBySource[ObjectIdentifier(source.objectID), default: []].append(place)
            unwrittenByDestination[ObjectIdentifier(destination.objectID), default: []]
                .append(place)
        }
        indexedCount = unwritten.count
    }

    /// Keeps the rows of those pairs that have got them, and lets go of their objects; of those,
    /// too, that were deleted before they got one.
    mutating func settle(_ sourceSide: MigrationSide, _ destinationSide: MigrationSide) {
        let pairs = unwritten
        unwritten = []
        unwrittenBySource = [:]
        unwrittenByDestination = [:]
        indexedCount = 0
        for pair in pairs where pair.destination.managedObjectContext != nil {
            guard let source = sourceSide.row(of: pair.source),
                let destination = destinationSide.row(of: pair.destination)
            else {
                associate(pair.source, pair.destination)
                continue
            }
            sources.append(source)
            destinations.append(destination)
        }
    }

    // MARK: Finding

    /// What came of an object, in the order in which it was made.
    mutating func destinations(of source: NSManagedObjectID, row: RowID?) -> [AssociationEnd] {
        indexUnwritten()
        let written = row.map { sources.places(of: $0) } ?? []
        let others = unwrittenBySource[ObjectIdentifier(source)] ?? []
        return written.map { AssociationEnd.row(destinations[$0]) }
            + others.map { AssociationEnd.object(unwritten[$0].destination) }
    }

    /// What an object came of.
    mutating func sources(of destination: NSManagedObject, row: RowID?) -> [AssociationEnd] {
        indexUnwritten()
        let written = row.map { destinations.places(of: $0) } ?? []
        let others = unwrittenByDestination[ObjectIdentifier(destination.objectID)] ?? []
        return written.map { AssociationEnd.row(sources[$0]) }
            + others.map { AssociationEnd.object(unwritten[$0].source) }
    }

    /// What the objects of some rows came of, each row's first.
    mutating func firstSources(of rows: [RowID]) -> [RowID] {
        rows.compactMap { destinations.places(of: $0).first }.map { sources[$0] }
    }

    /// What came of some rows.
    mutating func destinations(of rows: [RowID]) -> [RowID] {
        rows.flatMap { sources.places(of: $0) }.map { destinations[$0] }
    }

    // MARK: All of it

    func forEachPair(_ body: (RowID, RowID) throws -> Void) rethrows {
        for place in 0..<sources.count { try body(sources[place], destinations[place]) }
    }

    /// How many pairs of rows there are. Their places stay.
    var writtenCount: Int { sources.count }

    /// The new rows at some places, without those that stand at an earlier one, too.
    mutating func made(_ places: Range<Int>) -> [RowID] {
        places.compactMap { place in
            let row = destinations[place]
            return destinations.places(of: row).first == place ? row : nil
        }
    }

    /// The new objects of pairs without rows, each once.
    func unwrittenMade() -> [NSManagedObject] {
        var seen: Set<ObjectIdentifier> = []
        return unwritten.map(\.destination).filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
}
