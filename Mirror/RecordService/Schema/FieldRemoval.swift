internal import Foundation
internal import Platform
internal import RecordWire

/// Clears one field in the records of zones, a slice at a time.
struct FieldRemoval {
    private let field: String
    private let recordType: String
    private let backend: any Backend
    private let platform: Environment
    /// Why a record keeps the field; the first of such.
    private(set) var refusal: RecordError?
    private static let sliceMax = 50

    /// Records that have the field, as edits that take it away.
    private struct Slice {
        var edits: [RecordOperation] = []
        /// The last record that was looked at; nil at the end of the zone.
        var reached: String?
    }

    init(field: String, recordType: String, backend: any Backend, platform: Environment) {
        self.field = field
        self.recordType = recordType
        self.backend = backend
        self.platform = platform
    }

    /// A zone that goes meanwhile is done.
    mutating func run(_ key: DatabaseKey, _ zone: ZoneID) throws(RecordError) {
        var after = ""
        while let slice = try slice(key, zone, after: after) {
            // What was changed meanwhile is read again.
            if !slice.edits.isEmpty, try !write(slice.edits, zone, key) { continue }
            guard let reached = slice.reached else { return }
            after = reached
        }
    }

    /// nil where the zone is gone.
    private func slice(
        _ key: DatabaseKey, _ zone: ZoneID, after name: String
    ) throws(RecordError) -> Slice? {
        try backend.read(key.place) { transaction in
            guard let database = try transaction.database(key),
                let place = try transaction.zone(named: zone.zoneName, in: database.id),
                !place.isDeleted
            else { return nil }
            let line = try transaction.line(of: place)
            var slice = Slice()
            try transaction.liveRecords(in: place.id, after: name) { row in
                guard slice.edits.count < Self.sliceMax else {
                    slice.reached = slice.edits.last?.record.recordName
                    return false
                }
                guard row.type.isExactly(recordType),
                    let fields = try? RecordArchive.decodeFields(row.fields),
                    fields[field] != nil
                else { return true }
                var row = row
                row.epoch = line.epoch(of: row.change)
                slice.edits.append(edit(of: row))
                return true
            }
            return slice
        }
    }

    /// It names the tag: what is deleted in between does not come back by it.
    private func edit(of row: RecordRow) -> RecordOperation {
        var record = Record(
            recordName: row.name, recordType: row.type, recordChangeTag: row.tag.text)
        record.fields.updateValue(nil, forKey: field)
        return RecordOperation(.update, record)
    }

    /// Returns whether no record has to be read again.
    private mutating func write(
        _ edits: [RecordOperation], _ zone: ZoneID, _ key: DatabaseKey
    ) throws(RecordError) -> Bool {
        let modification = try modification(edits, zone, key)
        let damage = DamageReport(path: "", log: { _ in })
        var broken: Set<ExactName> = []
        var written = RecordModification.Written()
        let results: [RecordResult]
        do {
            results = try backend.write(key.place) {
                try modification.perform($0, damage: damage, broken: &broken, written: &written)
            }.results
        } catch  where error.code == .zoneNotFound {
            return true
        }
        backend.announce(.database(key))
        var isDone = true
        for case .failure(let error) in results {
            switch error.code {
            case .notFound: continue
            case .conflict, .tryAgainLater: isDone = false
            default: refusal = refusal ?? error
            }
        }
        return isDone
    }

    private func modification(
        _ edits: [RecordOperation], _ zone: ZoneID, _ key: DatabaseKey
    ) throws(RecordError) -> RecordModification {
        var rules = AccessRules(
            publicAccess: PublicAccess(), caller: Caller(userRecordName: key.owner),
            schemas: SchemaMemory())
        rules.isService = true
        var modify = ModifyRecords(operations: edits, zoneID: zone, atomic: false)
        modify.desiredKeys = []
        return try RecordModification(
            modify, at: ZoneAddress(key: key, shown: zone, participant: nil),
            stamp: RecordStamp(timestamp: platform.milliseconds), limits: Self.limits,
            dialect: .extended, rules: rules,
            draw: .init(
                number: { platform.randomness.next() },
                name: { platform.randomness.uuid().uuidString },
                secret: { platform.randomness.uuid().uuidString }),
            actsForService: true)
    }

    /// Whatever a service takes of its clients: records only get smaller.
    private static let limits: ServiceLimits = {
        var limits = ServiceLimits()
        limits.recordBytesMax = .max
        limits.fieldsPerRecordMax = .max
        limits.nameBytesMax = .max
        return limits
    }()
}
