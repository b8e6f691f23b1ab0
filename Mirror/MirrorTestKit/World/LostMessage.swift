internal import RecordWire

/// No answer came: the request or its answer was lost, or the service was killed.
struct LostMessage: ChannelFailure {
    let message = "The simulated network lost it."
    let fields: [String: String] = [:]
    let isTransient = true
    let retryAfterSeconds: Double? = nil
}

extension WorldFaults {
    /// Whether devices' processes are killed, or are two, so that the last half begins with new
    /// ones.
    var endsProcesses: Bool { devices.hasSecondProcess || killPercent + crashPointPercent > 0 }

    /// Whether the service must live in a file.
    var needsServiceFile: Bool {
        service.killPercent + lostTime.serviceRestorePercent + lostTime.serviceLossPercent > 0
    }
}

extension RecordRequest {
    var operationCount: Int {
        if case .modifyRecords(let modify) = self { modify.operations.count } else { 0 }
    }

    /// Puts a token in the place of the device's that the service cannot know. Returns whether
    /// there was one.
    mutating func forgeToken() -> Bool {
        guard case .zoneChanges(var changes) = self, changes.zones.first?.syncToken != nil else {
            return false
        }
        changes.zones[0].syncToken = "bm8gdG9rZW4"
        self = .zoneChanges(changes)
        return true
    }
}

extension RecordResponse {
    var recordCount: Int {
        switch self {
        case .records(let reply): reply.results.count
        case .zoneChanges(let pages): pages.reduce(0) { $0 + $1.records.count }
        case .recordChanges(let page): page.records.count
        case .databaseChanges, .zones, .subscriptions, .courierToken, .nothing, .caller,
            .users, .shares, .assetUploads, .assets:
            0
        }
    }

    /// The answer with a refusal at each of `places`.
    func inserting(_ places: [Int]) -> RecordResponse {
        guard !places.isEmpty, case .records(var reply) = self else { return self }
        for place in places {
            var error = RecordError(.tryAgainLater, "The simulated service puts the record off.")
            error.retryAfterSeconds = 0.5
            reply.results.insert(.failure(error), at: place)
        }
        return .records(reply)
    }
}

extension WorldStatistics {
    /// Counts what an answer of the service shows.
    mutating func count(
        answerTo request: RecordRequest, _ response: RecordResponse, sizes: WorldSizes
    ) {
        switch response {
        case .records(let reply):
            if request.operationCount == sizes.batchRecordsMax { count(.fullBatch) }
            for case .failure(let error) in reply.results {
                if error.code == .conflict { count(.conflictAnswer) }
                if error.code == .exists { count(.existsAnswer) }
            }
        case .zoneChanges(let pages):
            if pages.contains(where: \.moreComing) { count(.continuedPage) }
        case .recordChanges, .databaseChanges, .zones, .subscriptions, .courierToken, .nothing,
            .caller, .users, .shares, .assetUploads, .assets:
            break
        }
    }
}
