internal import RecordWire

/// Records that were to be changed and that a service without extensions did not find. It does not
/// say whether they were deleted, or whether it lost them: its changes do. (docs/MERGE.md §14)
struct MissingRecords: Sendable {
    private var names: Set<String> = []
    private var hasNews = false

    /// Marks the operations of a batch whose record was not found for the first time; after the
    /// zone was read, and the record is still to be changed, it was lost.
    mutating func note(_ reply: RecordsReply, to batch: inout ExportBatch) {
        for (item, result) in zip(batch.items, reply.results) {
            guard item.operation.kind == .update, case .failure(let error) = result,
                error.code.canonical == .notFound
            else { continue }
            let name = item.operation.record.recordName
            guard names.remove(name) == nil else { continue }
            names.insert(name)
            batch.missing.insert(name)
            hasNews = true
        }
    }

    /// Whether records were missed since the last call, so that the zone is to be read.
    mutating func takeNews() -> Bool {
        defer { hasNews = false }
        return hasNews
    }
}
