internal import Platform
internal import RecordWire

/// A row that the backend found and cannot read.
struct DamagedRow: Error {
    let cause: String
}

/// Tells whoever runs the service of a record that cannot be read, once, and the client by a
/// refusal of that record alone.
final class DamageReport: Sendable {
    private let path: String
    private let log: ServiceLog
    private let said = Lock<Set<ExactName>>([])
    private static let saidMax = 1_000

    init(path: String, log: @escaping ServiceLog) {
        self.path = path
        self.log = log
    }

    /// Runs `body`; throws RECORD_DAMAGED where the record that it reads is damaged.
    func guarding<Result>(
        _ name: String, in zone: ZoneID, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as RecordArchiveError {
            throw refusal(of: name, in: zone, cause: error.message)
        } catch let error as DamagedRow {
            throw refusal(of: name, in: zone, cause: error.cause)
        }
    }

    private func refusal(of name: String, in zone: ZoneID, cause: String) -> RecordError {
        note(name, in: zone, cause: cause)
        return RecordError(
            .recordDamaged,
            "The service's copy of the record is damaged; delete it or replace all its fields.",
            recordName: name)
    }

    /// Says it in the log, with the file; each record is said once in the life of a service.
    func note(_ name: String, in zone: ZoneID, cause: String) {
        let place = ExactName("\(zone.zoneName)/\(name)")
        let isNew = said.withLock { $0.count < Self.saidMax && $0.insert(place).inserted }
        guard isNew else { return }
        log(
            ServiceNotice(
                "A stored record cannot be read; the others are served. Replace or delete it from "
                    + "a device, or restore the file from a backup.",
                fields: [
                    "file": path, "zone": zone.zoneName, "recordName": name, "cause": cause,
                ]))
    }
}
