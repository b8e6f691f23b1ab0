internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// A device's objects by record name, apart from keys that are its own: what must be equal
/// everywhere.
struct DeviceImage: Equatable {
    var objects: [String: ObjectState] = [:]
    /// "relationship: owner → member", once for each pair.
    var pairs: Set<String> = []
    /// Links and pairs that point at a row that is not there.
    var dangling: [String] = []

    init() {}

    static func == (one: DeviceImage, other: DeviceImage) -> Bool {
        one.objects == other.objects && one.pairs == other.pairs
    }

    /// Reads a device's store.
    init(_ device: SimulatedDevice) throws {
        self = try device.store.read { store in
            var reading = ImageReading(store: store, device: device)
            return try reading.run()
        }
    }

    /// Reads the service's records as the objects they stand for.
    init(_ service: SimulatedService, as device: SimulatedDevice) throws {
        let settings = device.mirrored.settings
        try self.init(
            records: service.records(inZone: settings.zoneName), mapping: settings.mapping
        ) { try service.content(of: $0) }
    }

    /// Reads what a zone shows to the user of a device that takes part in it, without links to what
    /// is not shown.
    init(_ service: SimulatedService, shownTo device: SimulatedDevice) throws {
        let settings = device.mirrored.settings
        let records = try service.records(in: settings.zoneID, shownTo: device.user ?? "")
        try self.init(records: records, mapping: settings.mapping) { try service.content(of: $0) }
        dropLinks(outside: Set(objects.keys))
    }

    /// Forgets the links to objects that `names` does not have.
    mutating func dropLinks(outside names: Set<String>) {
        for (name, state) in objects {
            for slot in state.toOnes.indices {
                guard let target = state.toOnes[slot]?.recordName, !names.contains(target) else {
                    continue
                }
                objects[name]?.toOnes[slot] = nil
            }
        }
    }

    /// Forgets objects, with what leads to them.
    mutating func forget(_ names: Set<String>) {
        guard !names.isEmpty else { return }
        for name in names { objects[name] = nil }
        dropLinks(outside: Set(objects.keys))
        dropPairs(outside: Set(objects.keys))
    }

    /// Forgets the pairs of objects that `names` does not have.
    mutating func dropPairs(outside names: Set<String>) {
        pairs = pairs.filter { text in
            let ends = text.components(separatedBy: ": ").last ?? ""
            return ends.components(separatedBy: " → ").allSatisfy(names.contains)
        }
    }

    /// One-to-one links that are not answered by their target.
    func oneSidedLinks(_ layout: ModelLayout) -> [String] {
        objects.flatMap { name, state -> [String] in
            guard let entity = layout.entity(state.entity) else { return [] }
            return entity.toOnes.indices.compactMap { slot in
                let relationship = entity.toOnes[slot]
                guard let target = state.toOnes[slot]?.recordName, let partner = objects[target],
                    let inverse = relationship.inverseRelationship, !inverse.isToMany,
                    let back = layout.entity(partner.entity)?.toOneSlot(inverse.name),
                    partner.toOnes[back]?.recordName != name
                else { return nil }
                return "\(relationship.name) of \(name.suffix(6))"
            }
        }.sorted()
    }

    /// Reads records as the objects they stand for; `content` brings that of an asset.
    init(
        records: [String: Record], mapping: RecordMapping,
        content: (RecordAsset) throws -> Data? = { _ in nil }
    ) throws {
        for record in records.values {
            if let pair = JoinRecord(record, knowing: { records[$0] != nil }) {
                let names = pair.relationshipNames.split(separator: ":")
                let isReflexive = names.count == 2 && names[0] == names[1]
                let ends =
                    isReflexive ? [pair.first, pair.second].sorted() : [pair.first, pair.second]
                pairs.insert("\(pair.relationshipNames): \(ends[0]) → \(ends[1])")
            } else if let entity = mapping.entity(of: record) {
                objects[record.recordName] = try mapping.state(
                    of: record, entity: entity, content: content)
            }
        }
    }

    /// What this image has otherwise than `other`, in a few lines.
    func differences(from other: DeviceImage) -> [String] {
        var lines: [String] = []
        for name in Set(objects.keys).union(other.objects.keys).sorted()
        where objects[name] != other.objects[name] {
            let (mine, theirs) = (objects[name], other.objects[name])
            lines.append("\(name.suffix(6)): \(describe(mine)) against \(describe(theirs))")
        }
        for pair in pairs.symmetricDifference(other.pairs).sorted() { lines.append("pair \(pair)") }
        return Array(lines.prefix(6))
    }

    private func describe(_ state: ObjectState?) -> String {
        guard let state else { return "nothing" }
        let links = state.toOnes.map { link in
            link.map { "\($0.recordName.suffix(6))@\($0.orderKey ?? 0)" } ?? "-"
        }
        return "\(state.attributes) \(links)"
    }
}
