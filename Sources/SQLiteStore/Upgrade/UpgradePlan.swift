internal import Foundation
internal import ObjectModel
internal import SQLiteDriver
internal import Stores

/// The rows of an entity of the old schema become rows of one of the new.
struct EntityMove {
    let match: EntityMatch
    let old: EntityLayout
    let oldColumns: EntityColumns
    let new: EntityLayout
    let newColumns: EntityColumns
}

/// Which rows go where, and by how much their keys grow.
///
/// A key is unique in its tree. Where trees become one, the keys of all but the first move up by a
/// constant, so that a link needs nothing but the sum.
struct UpgradePlan {
    let old: StoreSchema
    let new: StoreSchema
    let mapping: InferredMapping
    let defaults: (NSAttributeDescription) -> AttributeValue
    let moves: [EntityMove]
    /// Whether what nobody reads any more may stay for a while.
    let defers: Bool
    /// The old tables that are set aside, to be read from while their successors are filled.
    var setAside: Set<String> = []
    private var offsets: [TreePair: Int64] = [:]
    /// The highest key of each new tree, by its root.
    private(set) var highestKeys: [Int32: Int64] = [:]

    private struct TreePair: Hashable {
        var old: Int32
        var new: Int32
    }

    init(
        old: StoreSchema, new: StoreSchema, mapping: InferredMapping, connection: Connection,
        defers: Bool = false, defaults: @escaping (NSAttributeDescription) -> AttributeValue
    ) throws {
        self.old = old
        self.new = new
        self.mapping = mapping
        self.defers = defers
        self.defaults = defaults
        moves = mapping.matches.compactMap { match in
            guard let former = match.source?.name.flatMap(old.layout.entity(named:)),
                let present = match.destination.name.flatMap(new.layout.entity(named:)),
                let oldColumns = old.columns(of: former.number),
                let newColumns = new.columns(of: present.number)
            else { return nil }
            return EntityMove(
                match: match, old: former, oldColumns: oldColumns, new: present,
                newColumns: newColumns)
        }
        try placeTrees(connection)
    }

    /// The tree whose root became the new root comes first and keeps its keys.
    private mutating func placeTrees(_ connection: Connection) throws {
        let order = moves.sorted { one, other in
            let (first, second) = (Self.isRoot(one), Self.isRoot(other))
            return first == second ? one.old.number < other.old.number : first
        }
        var highest: [Int32: Int64] = [:]
        for move in order {
            let pair = TreePair(old: move.oldColumns.root, new: move.newColumns.root)
            guard offsets[pair] == nil else { continue }
            if highest[pair.old] == nil {
                highest[pair.old] = try Self.highestKey(of: move.oldColumns, connection)
            }
            let start = highestKeys[pair.new] ?? 0
            offsets[pair] = start
            highestKeys[pair.new] = start + (highest[pair.old] ?? 0)
        }
    }

    private static func isRoot(_ move: EntityMove) -> Bool {
        move.oldColumns.root == move.old.number && move.newColumns.root == move.new.number
    }

    private static func highestKey(
        of columns: EntityColumns, _ connection: Connection
    ) throws -> Int64 {
        let given = try connection.value(
            "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(Int64(columns.root))])
        let present = try connection.value("SELECT max(Z_PK) FROM \(columns.table)")
        return max(given?.int64 ?? 0, present?.int64 ?? 0)
    }

    // MARK: Answers

    /// The name under which an old table can be read.
    func former(_ table: String) -> String {
        setAside.contains(table) ? "\(DeferredWork.formerPrefix)\(table)" : table
    }

    /// How much the keys of an old entity's rows grow in the tree of a new one.
    func offset(from old: Int32, to new: Int32) -> Int64 {
        guard let former = self.old.columns(of: old), let present = self.new.columns(of: new) else {
            return 0
        }
        return offsets[TreePair(old: former.root, new: present.root)] ?? 0
    }

    /// A key of an old entity's row, as it is in the tree of a new one.
    func key(_ expression: String, from old: Int32, to new: Int32) -> String {
        let offset = offset(from: old, to: new)
        return offset == 0 ? expression : "\(expression) + \(offset)"
    }

    /// The move that fills a new entity.
    func move(to entity: Int32) -> EntityMove? { moves.first { $0.new.number == entity } }

    /// The move that empties an old entity.
    func move(from entity: Int32) -> EntityMove? { moves.first { $0.old.number == entity } }

    /// The old numbers of an entity's family that get another number, with it.
    func renumbering(of family: [Int32]) -> [(old: Int32, new: Int32)] {
        family.compactMap { old in
            guard let new = move(from: old)?.new.number, new != old else { return nil }
            return (old, new)
        }
    }

    /// Whether each row that an old link may lead to is one that the new link may lead to.
    func leadsWhole(_ former: NSRelationshipDescription, _ present: NSRelationshipDescription)
        -> Bool
    {
        guard let end = former.destinationEntity, let wanted = present.destinationEntity,
            old.layout.number(of: end) != nil
        else { return false }
        return remains(end, within: wanted)
    }

    /// Whether each row of an old entity, or of what inherits from it, is one of a new entity now.
    func remains(_ former: NSEntityDescription, within wanted: NSEntityDescription) -> Bool {
        let former = former.name.flatMap(old.layout.entity(named:))?.entity ?? former
        return old.layout.members.allSatisfy { entity, number in
            guard entity.isKindOf(entity: former), !entity.isAbstract || move(from: number) != nil
            else { return true }
            return move(from: number)?.new.entity.isKindOf(entity: wanted) ?? false
        }
    }

    /// The slot of the old layout that an attribute slot of the new one is filled from. An element
    /// of a composite is found by its former name and the composite's.
    func formerSlot(of name: String, in move: EntityMove) -> Int? {
        let path = name.split(separator: ".").map(String.init)
        guard let top = path.first,
            let match = move.match.attributes.first(where: { $0.destination.name == top }),
            let former = match.source, let below = match.formerPath(of: path.dropFirst())
        else { return nil }
        return move.old.attributeSlot(([former.name] + below).joined(separator: "."))
    }
}
