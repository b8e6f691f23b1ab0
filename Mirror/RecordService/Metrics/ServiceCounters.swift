internal import Platform
internal import RecordWire

/// What a service did since its start, counted by request.
final class ServiceCounters: Sendable {
    private let written = Counter()
    private let read = Counter()
    private let conflicts = Counter()
    private let refused = Counter()
    /// Which indexes queries used last.
    let indexUses = QueryIndexUses()

    var statistics: ServiceStatistics {
        ServiceStatistics(
            recordsWritten: written.value, recordsRead: read.value, conflicts: conflicts.value,
            recordsRefused: refused.value)
    }

    func note(_ response: RecordResponse, to request: RecordRequest) {
        switch response {
        case .records(let reply):
            guard case .modifyRecords = request else {
                return read.add(reply.results.count { !$0.isFailure })
            }
            noteWrites(reply.results)
        case .zoneChanges(let zones): read.add(zones.reduce(0) { $0 + $1.records.count })
        case .recordChanges(let page): read.add(page.records.count)
        default: return
        }
    }

    private func noteWrites(_ results: [RecordResult]) {
        var failures = 0
        var conflicting = 0
        for case .failure(let error) in results {
            failures += 1
            if error.code == .conflict || error.code == .exists { conflicting += 1 }
        }
        written.add(results.count - failures)
        guard failures > 0 else { return }
        conflicts.add(conflicting)
        refused.add(failures - conflicting)
    }
}

/// What a service did since its start.
public struct ServiceStatistics: Sendable, Hashable {
    /// Records written, deletions among them.
    public var recordsWritten = 0
    /// Records in answers to lookups, queries and questions for changes.
    public var recordsRead = 0
    /// Writes that met another version of their record.
    public var conflicts = 0
    /// Writes of single records that were refused for other reasons.
    public var recordsRefused = 0

    public init(
        recordsWritten: Int = 0, recordsRead: Int = 0, conflicts: Int = 0, recordsRefused: Int = 0
    ) {
        self.recordsWritten = recordsWritten
        self.recordsRead = recordsRead
        self.conflicts = conflicts
        self.recordsRefused = recordsRefused
    }
}
