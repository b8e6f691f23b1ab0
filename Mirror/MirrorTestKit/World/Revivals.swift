internal import RecordWire

/// What came back at a plain service after it was deleted: there, who makes a record need not have
/// known of the deletion. (docs/MERGE.md §14)
struct Revivals {
    private var deleted: Set<String> = []
    private var everDeleted: Set<String> = []
    private var names: Set<String> = []
    /// The ends of pairs.
    private var pairs: Set<Set<String>> = []

    /// Notes what the service took.
    mutating func note(_ request: RecordRequest, _ response: RecordResponse) {
        guard case .modifyRecords(let modify) = request, case .records(let reply) = response else {
            return
        }
        for (operation, result) in zip(modify.operations, reply.results) {
            guard case .record(let record) = result else { continue }
            let name = operation.record.recordName
            if record.deleted {
                deleted.insert(name)
                everDeleted.insert(name)
            } else if operation.kind == .create, operation.record.recordChangeTag == nil,
                deleted.remove(name) != nil
            {
                names.insert(name)
                if case .string(let ends)?? = operation.record.fields["CD_recordNames"] {
                    pairs.insert(Set(ends.split(separator: ":").map(String.init)))
                }
            }
        }
    }

    /// Whether the service ever took a deletion of the record, whatever came after.
    func wasDeleted(_ name: String) -> Bool { everDeleted.contains(name) }
    func contains(_ name: String) -> Bool { names.contains(name) }
    func contains(pairOf ends: [String]) -> Bool { pairs.contains(Set(ends)) }
}
