internal import Foundation

/// Which new objects came of which old ones, by the name of the mapping.
struct Associations {
    private struct Table {
        var destinations: [NSManagedObjectID: [NSManagedObject]] = [:]
        var sources: [ObjectIdentifier: [NSManagedObject]] = [:]
        /// All new objects, in the order in which they were made.
        var made: [NSManagedObject] = []
    }

    private var tables: [String: Table] = [:]

    mutating func associate(
        _ source: NSManagedObject, _ destination: NSManagedObject, _ mapping: String
    ) {
        tables[mapping, default: Table()].destinations[source.objectID, default: []]
            .append(destination)
        if tables[mapping]?.sources[ObjectIdentifier(destination)] == nil {
            tables[mapping]?.made.append(destination)
        }
        tables[mapping]?.sources[ObjectIdentifier(destination), default: []].append(source)
    }

    /// What came of `sources` by a mapping; of all for nil.
    func destinations(_ mapping: String, of sources: [NSManagedObject]?) -> [NSManagedObject] {
        guard let table = tables[mapping] else { return [] }
        guard let sources else { return table.made }
        return sources.flatMap { table.destinations[$0.objectID] ?? [] }
    }

    /// What `destinations` came from by a mapping; all for nil.
    func sources(_ mapping: String, of destinations: [NSManagedObject]?) -> [NSManagedObject] {
        guard let table = tables[mapping] else { return [] }
        return (destinations ?? table.made).flatMap { table.sources[ObjectIdentifier($0)] ?? [] }
    }
}
