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

    private static let repetitionsMax = 8

    /// Performs those again whose natural key another record of this request had, and may have
    /// given up since: it does not matter in which order a key is freed and taken. Chains of up to
    /// eight come to their end, and any that is told from its end.
    func repeatWhereKeysAreFree(
        _ results: inout [RecordResult], _ keys: NaturalKeySession,
        _ perform: (RecordOperation) throws -> RecordResult
    ) throws {
        var named: Set<ExactName>?
        for _ in 0..<Self.repetitionsMax {
            var hasMoved = false
            for index in indices.reversed() {
                guard case .failure(let error) = results[index], error.code == .uniqueFieldError,
                    let holder = keys.refused[ExactName(self[index].record.recordName)]
                else { continue }
                let known = named ?? Set(map { ExactName($0.record.recordName) })
                named = known
                guard known.contains(holder) else { continue }
                results[index] = try perform(self[index])
                if !results[index].isFailure { hasMoved = true }
            }
            guard hasMoved else { return }
        }
    }
}
