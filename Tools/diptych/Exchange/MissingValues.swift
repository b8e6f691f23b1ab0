internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// Tells of values whose external files are gone, and of links whose objects are: each at first,
/// then how many.
struct MissingValues {
    private let console: Console
    private(set) var count = 0
    private var linkCount = 0
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

    mutating func note(links: [String], of id: RowID, _ entity: EntityLayout) {
        for name in links {
            linkCount += 1
            guard linkCount <= Self.toldMax else { continue }
            console.warn(
                "\(entity.name)/p\(id.key) lacks \(name): an object that it leads to is not "
                    + "there.")
        }
    }

    /// Looks for all of a store.
    mutating func find(in store: any RowStore) throws {
        guard let database = store as? SQLiteRowStore else { return }
        try database.read { transaction in
            for entity in transaction.layout.entities {
                let links = try DanglingLinks(of: entity, in: transaction)
                for key in links.owners {
                    let id = RowID(entity: entity.number, key: key)
                    note(links: links.names(of: key), of: id, entity)
                }
            }
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
        if linkCount > 0 {
            let verb = linkCount == 1 ? "is" : "are"
            console.warn(
                "\(Figure.count(linkCount, "link")) \(verb) not \(what): the objects they lead to "
                    + "are not in the store.")
        }
        guard count > 0 else { return linkCount > 0 ? .incomplete : .done }
        let verb = count == 1 ? "is" : "are"
        console.warn(
            "\(Figure.count(count, "value")) \(verb) not \(what): the external "
                + "files are gone. Put them back from a copy of the store and run it again.")
        return .incomplete
    }
}
