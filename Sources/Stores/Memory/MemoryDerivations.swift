internal import Foundation
internal import ObjectModel
internal import Predicates

/// The derived attributes of a memory store's entities, computed as a SQLite store's triggers do.
struct MemoryDerivations {
    /// One attribute of one entity.
    private struct Target {
        var entity: EntityLayout
        var slot: Int
        var derivation: Derivation
        /// The entities whose rows the value is computed from, besides the row's own.
        var sources: Set<Int32>
    }

    private let targets: [Target]
    private let layout: ModelLayout

    /// An attribute whose expression no store derives keeps nothing.
    init(layout: ModelLayout) {
        self.layout = layout
        targets = layout.entities.flatMap { entity in
            entity.attributes.enumerated().compactMap { slot, place in
                guard let derived = place.attribute as? NSDerivedAttributeDescription,
                    let derivation = try? Derivation(of: derived, in: entity)
                else { return nil }
                let sources = Self.sources(of: derivation, in: entity, layout)
                return Target(entity: entity, slot: slot, derivation: derivation, sources: sources)
            }
        }
    }

    private static func sources(
        of derivation: Derivation, in entity: EntityLayout, _ layout: ModelLayout
    ) -> Set<Int32> {
        let relationship: String
        switch derivation {
        case .now, .text: return []
        case .path(let name, _), .aggregate(_, let name, _): relationship = name
        }
        let destination = entity.entity.relationshipsByName[relationship]?.destinationEntity
        let found = destination.flatMap { layout.entity(named: $0.name ?? "") }
        return Set(found.map { layout.family(of: $0) } ?? [])
    }

    /// The values that a save changed, by row and slot. Cost: nothing for models without derived
    /// attributes; else a walk over the entities whose sources the save touched.
    func values(
        after changes: ChangeSet, in tables: MemoryTables, now: Date
    ) -> [RowID: [Int: AttributeValue]] {
        guard !targets.isEmpty else { return [:] }
        let written = changes.inserts.map(\.id) + changes.updates.map(\.id)
        let touched = Set(
            (written + changes.deletes.map(\.id) + changes.toManys.map(\.owner)).map(\.entity))
        var values: [RowID: [Int: AttributeValue]] = [:]
        for target in targets {
            let isMoved = !target.sources.isDisjoint(with: touched)
            let rows =
                isMoved || !changes.toManys.isEmpty
                ? tables.rows(of: [target.entity.number])
                : written.filter { $0.entity == target.entity.number }.compactMap(tables.row)
            for row in rows where !isMomentOfOther(target, row, written, changes) {
                let value = value(of: target, row, tables, now)
                if row.attributes[target.slot] != value {
                    values[row.id, default: [:]][target.slot] = value
                }
            }
        }
        return values
    }

    /// Only rows that the save itself wrote take its moment, and no copies of others.
    private func isMomentOfOther(
        _ target: Target, _ row: Row, _ written: [RowID], _ changes: ChangeSet
    ) -> Bool {
        guard target.derivation == .now else { return false }
        if changes.areCopies, row.attributes[target.slot] != .null { return true }
        return !written.contains(row.id)
    }

    private func value(
        of target: Target, _ row: Row, _ tables: MemoryTables, _ now: Date
    ) -> AttributeValue {
        switch target.derivation {
        case .now: return .date(now.timeIntervalSinceReferenceDate)
        case .text(let function, let attribute):
            guard let slot = target.entity.attributeSlot(attribute),
                case .text(let text) = row.attributes[slot]
            else { return .null }
            return .text(function.applied(to: text))
        case .path(let relationship, let attribute):
            guard let slot = target.entity.toOneSlot(relationship),
                let end = row.toOnes[slot]?.target
            else { return .null }
            return value(attribute, of: end, tables)
        case .aggregate(let function, let relationship, let attribute):
            guard let slot = target.entity.toManySlot(relationship) else { return .null }
            let members = tables.links.members(of: row.id, slot: slot).map(\.target)
            let values = attribute.map { name in members.map { value(name, of: $0, tables) } }
            let type = target.entity.attributes[target.slot].attribute.attributeType
            return Self.aggregate(function, values, count: members.count).fitted(to: type)
        }
    }

    private func value(
        _ attribute: String, of id: RowID, _ tables: MemoryTables
    ) -> AttributeValue {
        guard let row = tables.row(id),
            let slot = layout.entity(id.entity)?.attributeSlot(attribute)
        else { return .null }
        return row.attributes[slot]
    }

    private static func aggregate(
        _ function: Derivation.Aggregate, _ values: [AttributeValue]?, count: Int
    ) -> AttributeValue {
        guard let values = values?.filter({ !$0.isNull }) else { return .integer(Int64(count)) }
        switch function {
        case .count: return .integer(Int64(values.count))
        case .sum: return .decimal(values.reduce(Decimal(0)) { $0 + $1.number })
        case .average:
            guard !values.isEmpty else { return .null }
            let sum = values.reduce(Decimal(0)) { $0 + $1.number }
            return .decimal(sum / Decimal(values.count))
        case .minimum: return values.min { $0.precedes($1) } ?? .null
        case .maximum: return values.max { $0.precedes($1) } ?? .null
        }
    }
}

extension AttributeValue {
    fileprivate var number: Decimal {
        switch self {
        case .integer(let value): Decimal(value)
        case .double(let value), .date(let value): Decimal(string: "\(value)") ?? 0
        case .decimal(let value): value
        case .null, .text, .uuid, .uri, .data: 0
        }
    }

    fileprivate func precedes(_ other: AttributeValue) -> Bool {
        switch (self, other) {
        case (.text(let one), .text(let two)), (.uri(let one), .uri(let two)):
            one.utf8.lexicographicallyPrecedes(two.utf8)
        case (.double(let one), .double(let two)), (.date(let one), .date(let two)): one < two
        case (.data(let one), .data(let two)): one.lexicographicallyPrecedes(two)
        case (.uuid(let one), .uuid(let two)): one.uuidString < two.uuidString
        default: number < other.number
        }
    }

    /// A computed number in the form of the attribute that keeps it.
    fileprivate func fitted(to type: NSAttributeType) -> AttributeValue {
        switch self {
        case .integer, .double, .decimal, .date: break
        case .null, .text, .uuid, .uri, .data: return self
        }
        let real = number.nearestReal
        return switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
            .booleanAttributeType:
            .integer(Int64(exactly: real.rounded(.towardZero)) ?? 0)
        case .doubleAttributeType, .floatAttributeType: .double(real)
        case .dateAttributeType: .date(real)
        default: .decimal(number)
        }
    }
}
