internal import RecordWire

/// The writes that the service took, in order, as its answers told them.
struct ServiceJournal {
    struct Write {
        let recordName: String
        let tag: String
        let isDeletion: Bool
    }

    private var writes: [Write] = []
    private var forgotten = 0
    var count: Int { forgotten + writes.count }

    /// The service is not where its answers left it: what was noted says nothing any more.
    mutating func forget() {
        forgotten += writes.count
        writes = []
    }

    mutating func note(_ request: RecordRequest, _ response: RecordResponse) {
        guard case .modifyRecords(let modify) = request, case .records(let reply) = response else {
            return
        }
        for (operation, result) in zip(modify.operations, reply.results) {
            guard case .record(let record) = result,
                let tag = record.recordChangeTag ?? (record.deleted ? "" : nil)
            else { continue }
            writes.append(
                Write(
                    recordName: operation.record.recordName, tag: tag, isDeletion: record.deleted))
        }
    }

    /// For each record, the last write before `end` and the tags of all writes since.
    func state(before end: Int) -> [String: (last: Write, tags: Set<String>)] {
        var state: [String: (last: Write, tags: Set<String>)] = [:]
        for (index, write) in writes.enumerated() {
            if forgotten + index < end {
                state[write.recordName] = (write, [write.tag])
            } else {
                state[write.recordName]?.tags.insert(write.tag)
            }
        }
        return state
    }
}
