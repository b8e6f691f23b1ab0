internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// Tells of values whose external files are gone: each at first, then how many.
struct MissingValues {
    private let console: Console
    private(set) var count = 0
    private static let toldMax = 20

    init(_ console: Console) { self.console = console }

    mutating func note(_ row: Row, _ entity: EntityLayout) {
        for slot in row.missing {
            count += 1
            guard count <= Self.toldMax else { continue }
            console.warn(
                "\(entity.name)/p\(row.id.key) lacks \(entity.attributes[slot].name): the external "
                    + "file that holds it is gone.")
        }
    }

    /// Looks for all of a store.
    mutating func find(in store: any RowStore) throws {
        guard let database = store as? SQLiteRowStore else { return }
        try database.read { transaction in
            for entity in transaction.layout.entities
            where entity.attributes.contains(where: {
                $0.attribute.allowsExternalBinaryDataStorage
            }) {
                try transaction.forEachBatch(of: entity.number, count: 50) { rows in
                    for row in rows where !row.missing.isEmpty { note(row, entity) }
                }
            }
        }
    }

    /// The exit status of work that was done, and says so where values are missing.
    func status(_ what: String) -> ExitStatus {
        guard count > 0 else { return .done }
        let verb = count == 1 ? "is" : "are"
        console.warn(
            "\(Figure.count(count, "value")) \(verb) not \(what): the external "
                + "files are gone. Put them back from a copy of the store and run it again.")
        return .incomplete
    }
}
