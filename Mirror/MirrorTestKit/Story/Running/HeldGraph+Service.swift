internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import RecordWire
internal import Stores

// What the service holds, read through its change feed as a new device would.
extension HeldGraph {
    /// Reads the live records of a zone as the objects that they stand for in a model. `send`
    /// carries a request, `content` brings that of an asset. Throws what they throw, and
    /// `MirrorError` for records that the model cannot hold.
    init(
        zone: ZoneID, settings: MirrorSettings, _ known: StoryObjects,
        send: (RecordRequest) throws -> RecordResponse,
        content: (RecordAsset) throws -> Data?
    ) throws {
        self.init()
        let records = try Self.records(in: zone, send)
        let reading = try RecordGraph(records, settings, content)
        objects = reading.objects()
        for handle in known.handles {
            keys[handle] = known.names(of: handle).last { objects[$0] != nil }
        }
    }

    private static func records(
        in id: ZoneID, _ send: (RecordRequest) throws -> RecordResponse
    ) throws -> [String: Record] {
        var records: [String: Record] = [:]
        var token: String?
        while true {
            let zone = ZoneChanges.Zone(zoneID: id, syncToken: token)
            let answer = try send(.zoneChanges(ZoneChanges(zones: [zone])))
            guard case .zoneChanges(let pages) = answer, let page = pages.first,
                page.failure == nil
            else { return [:] }
            for record in page.records { records[record.recordName] = record }
            token = page.syncToken
            if !page.moreComing { return records.filter { !$0.value.deleted } }
        }
    }
}

/// Records as a graph: links by their names, members by who links to them.
private struct RecordGraph {
    private let settings: MirrorSettings
    private var states: [String: ObjectState] = [:]
    private var pairs: [JoinRecord] = []

    init(
        _ records: [String: Record], _ settings: MirrorSettings,
        _ content: (RecordAsset) throws -> Data?
    ) throws {
        self.settings = settings
        for record in records.values {
            if let pair = JoinRecord(record, knowing: { records[$0] != nil }) {
                pairs.append(pair)
            } else if let entity = settings.mapping.entity(of: record) {
                states[record.recordName] = try settings.mapping.state(
                    of: record, entity: entity, content: content)
            }
        }
    }

    func objects() -> [String: HeldGraph.Object] {
        var objects: [String: HeldGraph.Object] = [:]
        for (name, state) in states {
            guard let entity = settings.mapping.layout.entity(state.entity) else { continue }
            var object = HeldGraph.Object(entity: entity.name)
            for (slot, value) in zip(entity.attributes, state.attributes) {
                object.properties[slot.name] = .value(value, slot.attribute.attributeType)
            }
            for (relationship, link) in zip(entity.toOnes, state.toOnes) {
                object.properties[relationship.name] = .link(link?.recordName)
            }
            for (slot, relationship) in entity.toManys.enumerated() {
                object.properties[relationship.name] = .members(
                    members(of: name, entity, slot, relationship),
                    // Of a pair with two records it is the devices who know whose place counts.
                    isOrdered: relationship.isOrdered
                        && relationship.inverseRelationship?.isToMany == false)
            }
            objects[name] = object
        }
        return objects
    }

    private func members(
        of name: String, _ entity: EntityLayout, _ slot: Int,
        _ relationship: NSRelationshipDescription
    ) -> [String] {
        let placed: [(String, Int64?)]
        if let inverse = relationship.inverseRelationship, !inverse.isToMany {
            placed = states.compactMap { member, state in
                // Entities of other trees may have a link of the same name.
                guard let layout = settings.mapping.layout.entity(state.entity),
                    let wanted = relationship.destinationEntity,
                    layout.entity.isKindOf(entity: wanted),
                    let slot = layout.toOneSlot(inverse.name), let link = state.toOnes[slot],
                    link.recordName == name
                else { return nil }
                return (member, link.orderKey)
            }
        } else if let end = settings.pairs.ends(of: entity.number).first(where: { $0.slot == slot })
        {
            placed = pairedMembers(of: name, end)
        } else {
            return []
        }
        return placed.sorted { ($0.1 ?? 0, $0.0) < ($1.1 ?? 0, $1.0) }.map(\.0)
    }

    private func pairedMembers(
        of name: String, _ end: PairCatalog.End
    ) -> [(String, Int64?)] {
        var members: [String: Int64?] = [:]
        for pair in pairs
        where pair.entityNames == end.kind.entityNames
            && pair.relationshipNames == end.kind.relationshipNames
        {
            if pair.first == name, end.isFirst || end.kind.isReflexive {
                members[pair.second] = pair.firstOrder
            }
            if pair.second == name, !end.isFirst || end.kind.isReflexive {
                members[pair.first] = pair.secondOrder
            }
        }
        return members.map { ($0.key, $0.value) }
    }
}
