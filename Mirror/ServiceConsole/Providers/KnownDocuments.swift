internal import Foundation
internal import Platform
internal import RecordService

/// A provider's documents as they were read last.
final class KnownDocuments: Sendable {
    private struct State {
        var places: ProviderDocuments.Places?
        var placesAt = Date.distantPast
        var keys: WebKeys?
        var keysAt = Date.distantPast
    }

    private let state = Lock(State())
    private static let goodSeconds = 3_600.0
    /// Keys change: a token of an unknown one has them read again, and not more often than this.
    private static let pauseSeconds = 60.0

    func places(at now: Date) -> ProviderDocuments.Places? {
        state.withLock { now.timeIntervalSince($0.placesAt) < Self.goodSeconds ? $0.places : nil }
    }

    func keep(_ places: ProviderDocuments.Places, at now: Date) {
        state.withLock { ($0.places, $0.placesAt) = (places, now) }
    }

    func keys(at now: Date) -> WebKeys? {
        state.withLock { now.timeIntervalSince($0.keysAt) < Self.goodSeconds ? $0.keys : nil }
    }

    func keep(_ keys: WebKeys, at now: Date) {
        state.withLock { ($0.keys, $0.keysAt) = (keys, now) }
    }

    func mayAskAgain(at now: Date) -> Bool {
        state.withLock { now.timeIntervalSince($0.keysAt) >= Self.pauseSeconds }
    }
}
