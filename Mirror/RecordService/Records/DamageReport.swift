internal import Platform
internal import RecordWire

/// A row that the backend found and cannot read.
struct DamagedRow: Error {
    let cause: String
}

/// Tells whoever runs the service of a record that cannot be read, once, and the client by a
/// refusal of that record alone.
final class DamageReport: Sendable {
    private let path: @Sendable () -> String
    private let log: ServiceLog
    private let said: Lock<Set<ExactName>>
    private static let saidMax = 1_000

    /// `path` tells where the records are; it is asked when one is damaged.
    convenience init(path: @autoclosure @escaping @Sendable () -> String, log: @escaping ServiceLog)
    {
        self.init(path, log, Lock([]))
    }

    private init(
        _ path: @escaping @Sendable () -> String, _ log: @escaping ServiceLog,
        _ said: Lock<Set<ExactName>>
    ) {
        self.path = path
        self.log = log
        self.said = said
    }

    /// The same, of records that are elsewhere.
    func at(_ path: @escaping @Sendable () -> String?) -> DamageReport {
        DamageReport({ [former = self.path] in path() ?? former() }, log, said)
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
        let path = path()
        let place = ExactName("\(path)/\(zone.zoneName)/\(name)")
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
