internal import Foundation
package import ObjectModel
package import RecordWire
package import Stores

/// A relationship whose members are pairs: many-to-many, or to-many without an inverse.
///
/// Of its two ends the one that comes first by entity key, then by relationship key (without
/// case), leads in every record (SERVICE §7, `RecordKeys`).
package struct PairKind: Sendable {
    /// The leading end, and the other one; nil where the relationship has no inverse.
    package let first: NSRelationshipDescription
    package let second: NSRelationshipDescription?
    /// `CD_entityNames` and `CD_relationships` of its records.
    package let entityNames: String
    package let relationshipNames: String

    /// Whether both ends are one relationship, such as `friends` of a person.
    package var isReflexive: Bool { first === second }
    package var isOrdered: Bool { first.isOrdered || second?.isOrdered == true }
}

/// All pair relationships of a model.
package struct PairCatalog: Sendable {
    /// Where a relationship of one entity stands in its pairs.
    package struct End: Sendable {
        package let kind: PairKind
        package let slot: Int
        package let isFirst: Bool
    }

    package let kinds: [PairKind]
    private let ends: [Int32: [End]]
    private let byNames: [String: PairKind]
    private let recordKeys: RecordKeys
    let lines: EntityLines

    package init(layout: ModelLayout) {
        recordKeys = RecordKeys(layout: layout)
        lines = EntityLines(layout: layout, keys: recordKeys)
        var kinds: [String: PairKind] = [:]
        var ends: [Int32: [End]] = [:]
        for entity in layout.entities {
            for (slot, relationship) in entity.toManys.enumerated() {
                guard relationship.inverseRelationship?.isToMany ?? true else { continue }
                let kind = Self.kind(of: relationship, in: entity, recordKeys)
                let key = Self.key(kind.entityNames, kind.relationshipNames)
                kinds[key] = kinds[key] ?? kind
                ends[entity.number, default: []].append(
                    End(kind: kinds[key] ?? kind, slot: slot, isFirst: kind.first === relationship))
            }
        }
        byNames = kinds
        self.kinds = kinds.sorted { $0.key < $1.key }.map(\.value)
        self.ends = ends
    }

    /// The pair relationships of an entity, inherited ones included.
    package func ends(of entity: Int32) -> [End] { ends[entity] ?? [] }

    /// The kind of a pair record; nil when this model does not know it.
    package func kind(entityNames: String, relationshipNames: String) -> PairKind? {
        byNames[Self.key(entityNames, relationshipNames)]
    }

    /// A pair under the names of its kind, also where it was recorded by the plain names of this
    /// version of the model, as before names were keys, or by a version in which the relationship
    /// has its place elsewhere in the trees; nil when this model does not know it.
    package func known(_ pair: JoinRecord) -> JoinRecord? { named(pair) ?? moved(pair) }

    /// The same without what has another place.
    func named(_ pair: JoinRecord) -> JoinRecord? {
        known(pair) { entity, property in
            End.Name(
                entity: recordKeys.entity(entity),
                property: recordKeys.property(property, of: entity))
        }
    }

    /// `named` by the plain names of another version.
    func known(_ pair: JoinRecord, in version: ModelCatalog) -> JoinRecord? {
        known(pair) { name, property in
            guard let entity = version.entities.first(where: { $0.name == name }) else {
                return nil
            }
            let key = entity.toManys.first { $0.value == property }?.key
            return End.Name(entity: entity.key, property: key ?? property)
        }
    }

    /// `naming` tells the keys of a property by its plain names.
    private func known(
        _ pair: JoinRecord, naming: (String, String) -> End.Name?
    ) -> JoinRecord? {
        if kind(entityNames: pair.entityNames, relationshipNames: pair.relationshipNames) != nil {
            return pair
        }
        let entities = pair.entityNames.split(separator: ":", omittingEmptySubsequences: false)
        let properties = pair.relationshipNames
            .split(separator: ":", omittingEmptySubsequences: false)
        guard entities.count == 2, properties.count == 2 else { return nil }
        let ends = zip(entities, properties).compactMap { naming(String($0), String($1)) }
        guard ends.count == 2 else { return nil }
        func match(_ first: End.Name, _ second: End.Name) -> PairKind? {
            kind(
                entityNames: "\(first.entity):\(second.entity)",
                relationshipNames: "\(first.property):\(second.property)")
        }
        if let same = match(ends[0], ends[1]) { return pair.named(same, isTurned: false) }
        return match(ends[1], ends[0]).map { pair.named($0, isTurned: true) }
    }

    private static func key(_ entities: String, _ relationships: String) -> String {
        "\(entities)|\(relationships)"
    }

    private static func kind(
        of relationship: NSRelationshipDescription, in entity: EntityLayout, _ keys: RecordKeys
    ) -> PairKind {
        let inverse = relationship.inverseRelationship
        let owner = inverse?.destinationEntity?.name ?? relationship.entity.name ?? entity.name
        let here = End.Name(entity: keys.entity(owner), property: keys.property(relationship))
        let there = End.Name(
            entity: keys.entity(relationship.destinationEntity?.name ?? ""),
            property: inverse.map(keys.property) ?? "")
        let isFirst = inverse == nil || here.precedes(there)
        let (first, second) = isFirst ? (here, there) : (there, here)
        return PairKind(
            first: isFirst ? relationship : inverse ?? relationship,
            second: isFirst ? inverse : relationship,
            entityNames: "\(first.entity):\(second.entity)",
            relationshipNames: "\(first.property):\(second.property)")
    }
}

extension PairCatalog.End {
    /// What records call an end.
    fileprivate struct Name {
        var entity: String
        var property: String

        func precedes(_ other: Name) -> Bool {
            let left = [entity.lowercased(), property.lowercased(), property]
            let right = [other.entity.lowercased(), other.property.lowercased(), other.property]
            return left == right || left.lexicographicallyPrecedes(right)
        }
    }
}

/// One pair as its record says it.
package struct JoinRecord: Hashable, Sendable {
    package var entityNames: String
    package var relationshipNames: String
    package var first: String
    package var second: String
    /// The place of `second` among the members of `first`, and the other way round, where ordered.
    package var firstOrder: Int64?
    package var secondOrder: Int64?

    package init(
        entityNames: String, relationshipNames: String, first: String, second: String
    ) {
        self.entityNames = entityNames
        self.relationshipNames = relationshipNames
        self.first = first
        self.second = second
    }

    package init(kind: PairKind, first: String, second: String) {
        self.init(
            entityNames: kind.entityNames, relationshipNames: kind.relationshipNames,
            first: first, second: second)
    }

    /// Names are equal by their bytes, as the service keeps them apart.
    package static func == (one: JoinRecord, other: JoinRecord) -> Bool {
        one.texts == other.texts && one.firstOrder == other.firstOrder
            && one.secondOrder == other.secondOrder
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(texts)
        hasher.combine(firstOrder)
        hasher.combine(secondOrder)
    }

    private var texts: [ExactName] {
        [entityNames, relationshipNames, first, second].map { ExactName($0) }
    }

    /// The pairs that a record of type CDMR may be of; none when its three texts are not pairs. A
    /// name may have colons, as what stands between the two has: there is one reading for each.
    package static func readings(of record: Record) -> [JoinRecord] {
        guard let entities = text(RecordNames.pairEntities, record),
            let relationships = text(RecordNames.pairRelationships, record),
            let names = text(RecordNames.pairRecords, record)
        else { return [] }
        let bytes = names.utf8
        return bytes.indices.filter { bytes[$0] == UInt8(ascii: ":") }.map { colon in
            var pair = JoinRecord(
                entityNames: entities, relationshipNames: relationships,
                first: String(names[..<colon]), second: String(names[bytes.index(after: colon)...]))
            pair.firstOrder = integer(RecordNames.pairFirstOrder, record)
            pair.secondOrder = integer(RecordNames.pairSecondOrder, record)
            return pair
        }
    }

    /// Reads a record of type CDMR; nil when its three texts are not pairs. Of several readings it
    /// takes the first whose ends are known, or the last of all.
    package init?(
        _ record: Record, knowing isKnown: (String) throws -> Bool
    ) rethrows {
        let readings = Self.readings(of: record)
        guard let last = readings.last else { return nil }
        self = last
        guard readings.count > 1 else { return }
        if let known = try readings.first(where: { try isKnown($0.first) && isKnown($0.second) }) {
            self = known
        }
    }

    /// Reads the record of a pair whose ends are known to be those of `pair`, whichever leads.
    package init?(_ record: Record, of pair: JoinRecord) {
        let readings = Self.readings(of: record)
        let read =
            readings.first { $0.hasEnds(of: pair) }
            ?? readings.first {
                $0.first.isExactly(pair.second) && $0.second.isExactly(pair.first)
            }
        guard let found = read ?? readings.last else { return nil }
        self = found
    }

    /// Whether both have the same ends in the same order.
    func hasEnds(of other: JoinRecord) -> Bool {
        first.isExactly(other.first) && second.isExactly(other.second)
    }

    /// The same pair under the names of a kind, whose ends may stand the other way round.
    func named(_ kind: PairKind, isTurned: Bool) -> JoinRecord {
        var pair = JoinRecord(
            kind: kind, first: isTurned ? second : first, second: isTurned ? first : second)
        pair.firstOrder = isTurned ? secondOrder : firstOrder
        pair.secondOrder = isTurned ? firstOrder : secondOrder
        return pair
    }

    package func record(named name: String) -> Record {
        var record = Record(recordName: name, recordType: RecordNames.pairType)
        record.fields[RecordNames.pairEntities] = .string(entityNames)
        record.fields[RecordNames.pairRelationships] = .string(relationshipNames)
        record.fields[RecordNames.pairRecords] = .string("\(first):\(second)")
        if let firstOrder { record.fields[RecordNames.pairFirstOrder] = .int64(firstOrder) }
        if let secondOrder { record.fields[RecordNames.pairSecondOrder] = .int64(secondOrder) }
        return record
    }

    private static func text(_ field: String, _ record: Record) -> String? {
        if case .string(let text)?? = record.fields[field] { text } else { nil }
    }

    private static func integer(_ field: String, _ record: Record) -> Int64? {
        if case .int64(let value)?? = record.fields[field] { value } else { nil }
    }
}
