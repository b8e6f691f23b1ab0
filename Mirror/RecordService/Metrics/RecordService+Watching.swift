package import Platform
package import RecordWire

/// What whoever runs a service watches.
extension RecordService {
    /// What was done since the start.
    public var statistics: ServiceStatistics { counters.statistics }

    /// Why the service cannot do its work now, in words that strangers may read; nil where it can.
    /// Cost: a read of the database, and a small write after the disk failed.
    public func unreadiness() -> String? {
        do {
            try backend.probe()
        } catch let error as RecordError where error == SQLiteFailure.stopped {
            return "The disk failed to keep what was written; no more writes are taken."
        } catch {
            return "The database does not answer, or the disk does not take what is written."
        }
        guard let free = backend.facts().freeBytes, free < limits.retention.freeDiskBytesMin else {
            return nil
        }
        return "The disk has no room."
    }

    /// How many requests shared each commit; nil where the backend does not group them.
    package var commitSizes: HistogramSummary? { backend.facts().commitSizes }

    /// Who of those who write waits for whom.
    package var writerOrder: WriterOrder { backend.facts().writerOrder }

    /// Bytes of the database's files, and what is left on their disk; nil where that is elsewhere.
    package var storage: (usedBytes: Int64?, freeBytes: Int64?) {
        let facts = backend.facts()
        return (facts.storageBytes, facts.freeBytes)
    }

    /// The containers that hold most, at most `limit`. Cost: looks at each zone.
    package func largestContainers(
        limit: Int
    ) throws(RecordError) -> [(name: String, records: Int64, bytes: Int64)] {
        try backend.read { try $0.largestContainers(limit: limit) }.map {
            ($0.container, $0.use.records, $0.use.bytes)
        }
    }
}
