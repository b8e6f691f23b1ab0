import MirrorEngine
import MirrorTestKit
import RecordWire

/// A client of another kind, which writes what it likes.
struct Stranger {
    let service: SimulatedService
    let zone: ZoneID

    init(_ service: SimulatedService, beside device: Device) {
        self.service = service
        zone = device.mirrored.settings.zoneID
    }

    func write(_ records: Record...) throws {
        try send(records.map { RecordOperation(.forceReplace, $0) })
    }

    func delete(_ name: String, type: String) throws {
        let bare = Record(recordName: name, recordType: type)
        try send([RecordOperation(.forceDelete, bare)])
    }

    private func send(_ operations: [RecordOperation]) throws {
        let request = RecordRequest.modifyRecords(
            ModifyRecords(operations: operations, zoneID: zone))
        guard case .records(let reply) = try service.handle(request, from: "stranger") else {
            return
        }
        for case .failure(let error) in reply.results { throw error }
    }

    /// What the service has.
    func record(_ name: String) throws -> Record? {
        try service.records(inZone: zone.zoneName)[name]
    }

    /// The pairs that the service has.
    func pairs() throws -> [Record] {
        try service.records(inZone: zone.zoneName).values
            .filter { $0.recordType == "CDMR" }
    }
}

extension Record {
    /// The record of an object whose entity has no parent, or `root` as the root of its tree.
    init(
        _ name: String, _ entity: String, root: String? = nil, _ fields: [String: FieldValue] = [:]
    ) {
        self.init(recordName: name, recordType: "CD_\(root ?? entity)")
        self.fields = RecordFields(fields.mapValues { $0 })
        self.fields["CD_entityName"] = .string(entity)
    }

    /// The record of a pair.
    init(pair name: String, _ entities: String, _ relationships: String, _ names: String) {
        self.init(recordName: name, recordType: "CDMR")
        fields["CD_entityNames"] = .string(entities)
        fields["CD_relationships"] = .string(relationships)
        fields["CD_recordNames"] = .string(names)
    }
}

/// Two devices of one service, and a stranger who writes into their zone.
struct WatchedPair {
    let service: SimulatedService
    let a: Device
    let b: Device
    let stranger: Stranger

    init() throws {
        service = try Device.service()
        a = try Device(1, service)
        b = try Device(2, service)
        stranger = Stranger(service, beside: a)
    }
}
