internal import RecordWire

extension [RecordOperation] {
    /// Performs each and gives the results in the order of the operations. Shares come after the
    /// records that they are for, wherever a request names them.
    func inOrderOfWriting(
        _ perform: (RecordOperation) throws -> RecordResult
    ) throws -> [RecordResult] {
        guard contains(where: \.record.isShare) else { return try map(perform) }
        var results: [Int: RecordResult] = [:]
        let order =
            indices.filter { !self[$0].record.isShare }
            + indices.filter { self[$0].record.isShare }
        for index in order { results[index] = try perform(self[index]) }
        return indices.compactMap { results[$0] }
    }
}
