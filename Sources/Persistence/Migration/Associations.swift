internal import Stores

/// Which new objects came of which old ones, by the name of the mapping.
struct Associations {
    private let source: MigrationSide
    private let destination: MigrationSide
    private var tables: [String: AssociationTable] = [:]
    /// New rows that were deleted again.
    private var gone: Set<RowID> = []

    init(from source: MigrationSide, to destination: MigrationSide) {
        self.source = source
        self.destination = destination
    }

    mutating func associate(
        _ source: NSManagedObject, _ destination: NSManagedObject, _ mapping: String
    ) {
        tables[mapping, default: AssociationTable()].associate(source, destination)
    }

    /// Lets go of objects that have been written, and of rows that are no more.
    mutating func settle(without deleted: [RowID]) {
        gone.formUnion(deleted)
        for name in tables.keys { tables[name]?.settle(source, destination) }
    }

    private func isGone(_ end: AssociationEnd) -> Bool {
        switch end {
        case .row(let row): gone.contains(row)
        case .object(let object): object.isDeleted
        }
    }

    /// What came of `sources` by a mapping; of all for nil.
    mutating func destinations(
        _ mapping: String, of sources: [NSManagedObject]?
    ) -> [AssociationEnd] {
        guard let sources else { return made(mapping) }
        return destinations(mapping, of: sources.map(\.objectID))
    }

    mutating func destinations(
        _ mapping: String, of sources: [NSManagedObjectID]
    ) -> [AssociationEnd] {
        sources.flatMap {
            tables[mapping]?.destinations(of: $0, row: source.row(of: $0)) ?? []
        }.filter { !isGone($0) }
    }

    /// What `destinations` came from by a mapping.
    mutating func sources(
        _ mapping: String, of destinations: [NSManagedObject]
    ) -> [AssociationEnd] {
        destinations.flatMap {
            tables[mapping]?.sources(of: $0, row: destination.row(of: $0)) ?? []
        }
    }

    /// All new objects of a mapping, in the order in which they were made.
    private mutating func made(_ mapping: String) -> [AssociationEnd] {
        let written = made(mapping, 0..<writtenCount(mapping))
        return written.map { AssociationEnd.row($0) }
            + unwrittenMade(mapping).map { AssociationEnd.object($0) }
    }

    /// Calls `body` with each old row and what came of it, by any mapping.
    func forEachPair(_ body: (RowID, RowID) throws -> Void) rethrows {
        for (_, table) in tables.sorted(by: { $0.key < $1.key }) {
            try table.forEachPair { if !gone.contains($1) { try body($0, $1) } }
        }
    }

    // MARK: Piece by piece

    /// How many pairs of rows a mapping has; see `made(_:_:)`.
    func writtenCount(_ mapping: String) -> Int { tables[mapping]?.writtenCount ?? 0 }

    /// The new rows at some places of those that have been written.
    mutating func made(_ mapping: String, _ places: Range<Int>) -> [RowID] {
        (tables[mapping]?.made(places) ?? []).filter { !gone.contains($0) }
    }

    /// The new objects of a mapping that have not been written.
    func unwrittenMade(_ mapping: String) -> [NSManagedObject] {
        (tables[mapping]?.unwrittenMade() ?? []).filter { !$0.isDeleted }
    }

    /// The row that each of some new rows came of.
    mutating func firstSources(_ mapping: String, of rows: [RowID]) -> [RowID] {
        tables[mapping]?.firstSources(of: rows) ?? []
    }

    /// The new rows that came of some old ones by a mapping; by any for nil.
    mutating func destinations(_ mapping: String?, of rows: [RowID]) -> [RowID] {
        let names = mapping.map { [$0] } ?? tables.keys.sorted()
        return names.flatMap { tables[$0]?.destinations(of: rows) ?? [] }
            .filter { !gone.contains($0) }
    }
}
