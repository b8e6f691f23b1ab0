internal import MirrorEngine
internal import ObjectModel
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Reads a device's rows, links and pairs by record name, in one transaction.
struct ImageReading {
    private let store: StoreTransaction
    private let mapping: RecordMapping
    private let layout: ModelLayout
    private let catalog: PairCatalog
    private let ledger: Ledger
    private var names: [RowID: String] = [:]
    private var image = DeviceImage()

    init(store: StoreTransaction, device: SimulatedDevice) {
        self.store = store
        mapping = device.mirrored.settings.mapping
        layout = device.store.layout
        catalog = device.mirrored.settings.pairs
        ledger = device.ledger(in: store)
    }

    mutating func run() throws -> DeviceImage {
        var rows: [Row] = []
        for entity in layout.entities where !entity.entity.isAbstract {
            var query = RowQuery(entity: entity.number)
            query.includesSubentities = false
            rows += try store.rows(matching: query)
        }
        for row in rows {
            names[row.id] = try ledger.knownName(of: row.id) ?? DeviceImage.unnamed(row.id)
        }
        for row in rows { try read(row) }
        return image
    }

    private mutating func read(_ row: Row) throws {
        guard let entity = layout.entity(row.id.entity), let name = names[row.id] else { return }
        var state = ObjectState(
            entity: row.id.entity, attributes: mapping.attributes(of: row),
            toOnes: Array(repeating: nil, count: row.toOnes.count))
        for (slot, link) in row.toOnes.enumerated() {
            guard let link else { continue }
            guard let target = names[link.target] else {
                image.dangling.append("\(entity.toOnes[slot].name) of \(name)")
                continue
            }
            state.toOnes[slot] = NamedLink(
                target, orderKey: entity.toOneIsOrdered[slot] ? link.orderKey : nil)
        }
        image.objects[name] = state
        for end in catalog.ends(of: entity.number) where end.isFirst {
            for link in try store.members(of: row.id, toMany: end.slot) {
                guard let member = names[link.target] else {
                    image.dangling.append("\(end.kind.relationshipNames) of \(name)")
                    continue
                }
                image.pairs.insert(end.pairText(name, member))
            }
        }
    }
}

extension DeviceImage {
    private static let withoutName = "no name yet: "

    /// What stands for the name of a row that the mirror has not looked at.
    static func unnamed(_ row: RowID) -> String { "\(withoutName)\(row)" }

    static func isUnnamed(_ name: String) -> Bool { name.hasPrefix(withoutName) }
}
