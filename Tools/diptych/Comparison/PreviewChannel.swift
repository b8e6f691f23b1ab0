internal import Foundation
internal import Platform
internal import RecordWire

/// Carries what only asks to the service, and keeps back what would change something there: that
/// is answered as if the service had taken it, or refused, where it is known to.
final class PreviewChannel: RecordChannel {
    private struct State {
        var operations: [RecordOperation] = []
        var madeZones: Set<ZoneID> = []
    }

    private let carrier: any RecordChannel
    private let foreseen: ForeseenRefusals
    private let state = Lock(State())

    init(over carrier: any RecordChannel, _ foreseen: ForeseenRefusals) {
        self.carrier = carrier
        self.foreseen = foreseen
    }

    /// What would have been sent, in order.
    var operations: [RecordOperation] { state.withLock { $0.operations } }

    func dialect() async throws -> ServiceDialect { try await carrier.dialect() }

    func operationsMax() async throws -> Int? { try await carrier.operationsMax() }

    func caller() async throws -> CallerReply? { try await carrier.caller() }

    func send(_ request: RecordRequest) async throws -> RecordResponse {
        switch request {
        case .modifyRecords(let modify): return .records(try await take(modify.operations))
        case .modifyZones(let operations):
            state.withLock { $0.madeZones.formUnion(operations.map(\.zoneID)) }
            return .zones(
                operations.map { .zone(ZoneDescription(zoneID: $0.zoneID, syncToken: nil)) })
        case .zoneChanges(let changes) where changes.zones.allSatisfy({ isMade($0.zoneID) }):
            return .zoneChanges(
                changes.zones.map { zone in
                    var page = ZoneChangesReply(zoneID: zone.zoneID)
                    page.syncToken = zone.syncToken ?? Self.mark
                    return page
                })
        default: return try await carrier.send(request)
        }
    }

    /// Nothing is sent, so all values are shown in their records.
    func download(_ asset: RecordAsset, to file: URL) async throws {
        try await carrier.download(asset, to: file)
    }

    /// Whether the zone is only made for this look, and there is nothing in it.
    private func isMade(_ zone: ZoneID) -> Bool { state.withLock { $0.madeZones.contains(zone) } }

    private func take(_ operations: [RecordOperation]) async throws -> RecordsReply {
        let refusals = try await foreseen.refusals(of: operations)
        let results = zip(operations, refusals).map { operation, refusal in
            refusal.map(RecordResult.failure) ?? Self.taken(operation)
        }
        let taken = zip(operations, refusals).filter { $0.1 == nil }.map(\.0)
        state.withLock { $0.operations += taken }
        return RecordsReply(results: results)
    }

    private static func taken(_ operation: RecordOperation) -> RecordResult {
        var record = operation.record
        record.recordChangeTag = mark
        record.deleted = [.delete, .forceDelete].contains(operation.kind)
        return .record(record)
    }

    /// Stands for the tags and tokens that the service would give.
    private static let mark = "preview"
}
