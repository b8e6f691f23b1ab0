internal import Foundation
internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// Numbers that a SQLite store does not keep as they are: no NaN of a real or a date, and of a
/// decimal about 15 digits.
struct LostNumbers {
    /// Values that have none in the store.
    private(set) var count = 0
    /// The attributes they are of, each named once.
    private(set) var names: [String] = []
    /// Decimals that the store rounds.
    private(set) var roundedCount = 0

    /// Whether the store would have no value for this one.
    static func isLost(_ value: AttributeValue) -> Bool {
        switch value {
        case .double(let number), .date(let number): number.isNaN
        default: false
        }
    }

    /// Counts a row's. Cost: looks at each value.
    mutating func note(_ row: Row, _ entity: EntityLayout) {
        for (slot, value) in row.attributes.enumerated() {
            if case .decimal(let decimal) = value {
                if ValueCoding.isRounded(decimal) { roundedCount += 1 }
            } else if Self.isLost(value) {
                count += 1
                let name = "\(entity.name).\(entity.attributes[slot].name)"
                if !names.contains(name) { names.append(name) }
            }
        }
    }

    /// Looks for all of a store, on the way into a SQLite store. Throws a `CommandError` for one
    /// that must have a value.
    mutating func find(in store: any RowStore) throws {
        for entity in store.layout.entities {
            var query = RowQuery(entity: entity.number)
            query.includesSubentities = false
            try store.stream(query) { row in
                note(row, entity)
                for slot in row.attributes.indices where Self.isLost(row.attributes[slot]) {
                    try requireOptional(entity.attributes[slot], entity)
                }
            }
        }
    }

    private func requireOptional(
        _ slot: EntityLayout.AttributeSlot, _ entity: EntityLayout
    ) throws {
        guard !slot.attribute.isOptional, !slot.name.contains(".") else { return }
        throw CommandError(
            "notANumber",
            "\(entity.name).\(slot.name) is required and NaN, for which a SQLite store has no "
                + "value; nothing was made.", hint: "Give it a number first.")
    }

    /// Says how many decimals were rounded.
    func tellRounded(_ console: Console) {
        guard roundedCount > 0 else { return }
        let (verb, them) = roundedCount == 1 ? ("was", "it") : ("were", "them")
        console.warn(
            "\(Figure.count(roundedCount, "decimal")) \(verb) rounded: a SQLite store keeps about "
                + "15 digits of \(them).")
    }

    /// Says which values have none in the new store. Returns whether there are such.
    func tellLost(_ console: Console) -> Bool {
        guard count > 0 else { return false }
        console.warn(
            "\(Figure.count(count, "value")) of \(names.joined(separator: ", ")) "
                + "\(count == 1 ? "is" : "are") NaN, for which a SQLite store has no value.")
        return true
    }
}
