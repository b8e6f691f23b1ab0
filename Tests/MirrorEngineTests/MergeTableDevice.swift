import MirrorEngine
import MirrorTestKit
import ObjectModel
import SQLiteStore
import Stores
import Testing

/// A column of the first table, and how it stands in a store.
enum TableColumn: String, CaseIterable {
    case attribute, toOne, place, members, pair, object

    var heading: String {
        switch self {
        case .attribute, .toOne: "property"
        case .place, .members, .pair, .object: rawValue
        }
    }

    /// Thing n—1 Home; Thing n—1 List and n—m List, both in order there; Thing n—m Tag; Keyed
    /// has a unique key.
    static func model() -> NSManagedObjectModel {
        let thing = SampleModel.entity("Thing", [number(), text("value")])
        let home = SampleModel.entity("Home", [text("name")])
        let list = SampleModel.entity("List", [number()])
        let tag = SampleModel.entity("Tag", [text("name")])
        let keyed = SampleModel.entity("Keyed", [number(), text("value")])
        keyed.uniquenessConstraints = [["number"]]
        SampleModel.connect(home, "things", many: true, thing, "home", many: false)
        SampleModel.connect(
            list, "members", many: true, ordered: true, thing, "list", many: false)
        SampleModel.connect(
            list, "pairs", many: true, ordered: true, thing, "lists", many: true)
        SampleModel.connect(thing, "tags", many: true, tag, "things", many: true)
        let model = NSManagedObjectModel()
        model.entities = [thing, home, list, tag, keyed]
        return model
    }

    private static func number() -> NSAttributeDescription {
        SampleModel.attribute("number", .integer64AttributeType)
    }

    private static func text(_ name: String) -> NSAttributeDescription {
        SampleModel.attribute(name, .stringAttributeType)
    }
}

/// One device that has, for each case of the table, objects of its own.
struct TableDevice {
    let device: Device
    let column: TableColumn

    /// The places around the member that every list has.
    private static let places: [MergeSide: Int64] = [.a: 1_000, .b: 9_000]
    private static let middle: Int64 = 5_000

    /// Makes what stands beside the cases, once on one device.
    func furnish(_ cases: Int) throws {
        for side in [MergeSide.a, .b] {
            for entity in ["Home", "Tag"] {
                try device.insert(entity, ["name": .text(side.rawValue)])
            }
        }
        for number in 0..<Int64(cases) where column != .object {
            try device.insert("Thing", ["number": .integer(number)])
            let list = try device.insert("List", ["number": .integer(number)])
            let fixed = try device.insert("Thing", ["number": .integer(-1 - number)])
            try device.link(fixed, "list", list, order: Self.middle)
            try device.pair(list, "pairs", with: fixed)
        }
    }

    /// Brings one case from `side` to `next`.
    func bring(_ number: Int, from side: MergeSide, to next: MergeSide) throws {
        guard side != next else { return }
        let value: AttributeValue = next == .absent ? .null : .text(next.rawValue)
        switch column {
        case .attribute: try device.set(thing(number), "value", value)
        case .toOne: try device.link(thing(number), "home", named(next, "Home"))
        case .place:
            let list = next == .absent ? nil : try find("List", number)
            try device.link(thing(number), "list", list, order: Self.places[next])
        case .members:
            for (other, isThere) in [(side, false), (next, true)] {
                guard let tag = try named(other, "Tag") else { continue }
                try device.pair(thing(number), "tags", with: tag, adding: isThere)
            }
        case .pair: try bringPair(number, from: side, to: next)
        case .object:
            if next == .absent {
                try device.delete(#require(try find("Keyed", number)))
            } else if side == .absent {
                try device.insert("Keyed", ["number": .integer(Int64(number)), "value": value])
            } else {
                try device.set(#require(try find("Keyed", number)), "value", value)
            }
        }
    }

    private func bringPair(_ number: Int, from side: MergeSide, to next: MergeSide) throws {
        let list = try #require(try find("List", number))
        let (own, fixed) = (try thing(number), try thing(-1 - number))
        guard next != .absent else {
            return try device.pair(list, "pairs", with: own, adding: false)
        }
        if side == .absent { try device.pair(list, "pairs", with: own) }
        try device.reorder(list, "pairs", next == .a ? [own, fixed] : [fixed, own])
    }

    /// What a case has now, in the words of the table.
    func text(_ number: Int) throws -> String {
        switch column {
        case .attribute: try word(device.value(thing(number), "value"))
        case .toOne: try word(device.target(thing(number), "home").flatMap(name))
        case .place: try place(of: thing(number), in: "members", number)
        case .pair: try place(of: thing(number), in: "pairs", number)
        case .members:
            try device.members(thing(number), "tags").map { try word(name($0)) }.sorted()
                .joined(separator: " ").nonEmpty
        case .object:
            try find("Keyed", number).map { try word(device.value($0, "value")) }
                ?? MergeSide.absent.rawValue
        }
    }

    private func place(of thing: RowID, in property: String, _ number: Int) throws -> String {
        let list = try #require(try find("List", number))
        let members = try device.members(list, property)
        guard let place = members.firstIndex(of: thing) else { return MergeSide.absent.rawValue }
        return place == 0 ? "a" : "b"
    }

    private func word(_ value: AttributeValue?) -> String {
        if case .text(let text)? = value { text } else { MergeSide.absent.rawValue }
    }

    private func thing(_ number: Int) throws -> RowID { try #require(try find("Thing", number)) }

    private func find(_ entity: String, _ number: Int) throws -> RowID? {
        try device.rows(entity).first {
            try device.value($0.id, "number") == .integer(Int64(number))
        }?.id
    }

    private func named(_ side: MergeSide, _ entity: String) throws -> RowID? {
        try device.rows(entity).first { try name($0.id) == .text(side.rawValue) }?.id
    }

    private func name(_ row: RowID) throws -> AttributeValue? { try device.value(row, "name") }
}

extension String {
    fileprivate var nonEmpty: String { isEmpty ? MergeSide.absent.rawValue : self }
}
