internal import Foundation
internal import Platform
internal import RecordWire

/// Writes the records of zones that have one field, a slice at a time, so that all devices hear of
/// them: without the field, or as they are.
struct FieldSweep {
    enum Deed {
        case clear
        /// Clients read them without the field, and are to have them as they are.
        case tellAgain
    }

    private let deed: Deed
    private let field: String
    private let recordType: String
    private let backend: any Backend
    private let platform: Environment
    /// Why a record was not written; the first of such.
    private(set) var refusal: RecordError?
    private static let sliceMax = 50

    /// Records that have the field, as the edits that are made of them.
    private struct Slice {
        var edits: [RecordOperation] = []
        /// The last record that was looked at; nil at the end of the zone.
        var reached: String?
    }

    /// What became of a slice.
    private struct Outcome {
        /// What found no room in its request.
        var rest: [RecordOperation] = []
        /// Whether records were changed meanwhile.
        var isStale = false
    }

    init(
        _ deed: Deed, field: String, recordType: String, backend: any Backend,
        platform: Environment
    ) {
        self.deed = deed
        self.field = field
        self.recordType = recordType
        self.backend = backend
        self.platform = platform
    }

    /// A zone that goes meanwhile is done.
    mutating func run(_ key: DatabaseKey, _ zone: ZoneID) throws(RecordError) {
        var after = ""
        while let slice = try slice(key, zone, after: after) {
            var (edits, isStale) = (slice.edits, false)
            while !edits.isEmpty {
                let outcome = try write(edits, zone, key)
                edits = outcome.rest
                isStale = isStale || outcome.isStale
            }
            // What was changed meanwhile is read again, unless its change tells of it.
            if isStale, deed == .clear { continue }
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

    /// It names the tag: what is deleted in between does not come back by it, and what is changed
    /// is not written twice.
    private func edit(of row: RecordRow) -> RecordOperation {
        var record = Record(
            recordName: row.name, recordType: row.type, recordChangeTag: row.tag.text)
        if deed == .clear { record.fields.updateValue(nil, forKey: field) }
        return RecordOperation(.update, record)
    }

    private mutating func write(
        _ edits: [RecordOperation], _ zone: ZoneID, _ key: DatabaseKey
    ) throws(RecordError) -> Outcome {
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
            return Outcome()
        }
        backend.announce(.database(key))
        var outcome = Outcome()
        for (edit, result) in zip(edits, results) {
            guard case .failure(let error) = result else { continue }
            switch error.code {
            case .notFound: continue
            case .conflict: outcome.isStale = true
            case .tryAgainLater: outcome.rest.append(edit)
            default: refusal = refusal ?? error
            }
        }
        return outcome
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

    /// Whatever a service takes of its clients: records only get smaller, or stay as they are.
    private static let limits: ServiceLimits = {
        var limits = ServiceLimits()
        limits.recordBytesMax = .max
        limits.fieldsPerRecordMax = .max
        limits.nameBytesMax = .max
        return limits
    }()
}
