import Foundation
import Stores

/// What a store should hold, in plain dictionaries.
struct OracleState {
    struct Thing {
        var entity: String
        var version: Int64 = 1
        var values: [String: AttributeValue] = [:]
        var ones: [String: RowID] = [:]
    }

    /// A to-many relationship of one object.
    struct Place: Hashable {
        var owner: RowID
        var name: String
    }

    var things: [RowID: Thing] = [:]
    /// The members of each collection, in order; the order counts where `isOrdered` says so.
    var members: [Place: [RowID]] = [:]

    static func isOrdered(_ name: String) -> Bool { ["assets", "tags", "pins"].contains(name) }

    /// The to-manys of an entity.
    static func collections(of entity: String) -> [String] {
        switch entity {
        case "Person": ["assets", "friends", "pins", "tickets"]
        case "Movie", "Clip", "Trailer": ["tags"]
        case "Tag": ["movies"]
        default: []
        }
    }

    static let parents = ["Movie": "Asset", "Clip": "Movie", "Trailer": "Clip"]

    static func isKind(_ entity: String, of ancestor: String) -> Bool {
        var current: String? = entity
        while let name = current {
            if name == ancestor { return true }
            current = parents[name]
        }
        return false
    }

    func ids(of entity: String, subentities: Bool = true) -> [RowID] {
        things.filter {
            subentities ? Self.isKind($1.entity, of: entity) : $1.entity == entity
        }.keys.sorted { ($0.key, $0.entity) < ($1.key, $1.entity) }
    }

    func list(_ owner: RowID, _ name: String) -> [RowID] {
        members[Place(owner: owner, name: name)] ?? []
    }

    // MARK: Changes

    /// Points a to-one somewhere else; the collections at both ends follow.
    mutating func point(_ id: RowID, _ name: String, at target: RowID?) {
        let back = ["owner": "assets", "holder": "tickets"][name]
        if let back, let former = things[id]?.ones[name] {
            members[Place(owner: former, name: back)]?.removeAll { $0 == id }
        }
        things[id]?.ones[name] = target
        if let back, let target {
            members[Place(owner: target, name: back), default: []].append(id)
        }
    }

    mutating func add(_ member: RowID, to owner: RowID, _ name: String) {
        let place = Place(owner: owner, name: name)
        guard members[place]?.contains(member) != true else { return }
        members[place, default: []].append(member)
        let back = ["tags": "movies", "movies": "tags", "friends": "friends"][name]
        if let back, Place(owner: member, name: back) != place {
            members[Place(owner: member, name: back), default: []].append(owner)
        }
    }

    mutating func remove(_ member: RowID, from owner: RowID, _ name: String) {
        members[Place(owner: owner, name: name)]?.removeAll { $0 == member }
        if let back = ["tags": "movies", "movies": "tags", "friends": "friends"][name] {
            members[Place(owner: member, name: back)]?.removeAll { $0 == owner }
        }
    }

    mutating func delete(_ id: RowID) {
        things[id] = nil
        for place in members.keys {
            if place.owner == id {
                members[place] = nil
            } else {
                members[place]?.removeAll { $0 == id }
            }
        }
    }

    // MARK: Unique keys

    private static let constraints: [(entity: String, names: [String])] = [
        ("Asset", ["code"]), ("Person", ["nick", "age"]), ("Ticket", ["holder", "seat"]),
    ]

    /// The entities whose constraints two objects break. Texts count by their bytes; a key with a
    /// missing value is never taken.
    var brokenConstraints: [String] {
        Self.constraints.compactMap { constraint in
            var seen: Set<[String]> = []
            for id in ids(of: constraint.entity) {
                guard let thing = things[id] else { continue }
                let key = constraint.names.map { name -> String? in
                    if let one = thing.ones[name] { return "\(one.key)" }
                    switch thing.values[name] {
                    case .text(let text): return "\(Array(text.utf8))"
                    case .integer(let number): return "\(number)"
                    default: return nil
                    }
                }
                let present = key.compactMap { $0 }
                guard present.count == key.count else { continue }
                if !seen.insert(present).inserted { return constraint.entity }
            }
            return nil
        }
    }
}
