internal import Foundation
internal import Platform
package import RecordWire

/// Waits for changes at the service, beside the rounds: one request after another whose answer is
/// held back until something has changed. (SERVICE §8, waitSeconds)
///
/// A service that answers at once all the same is asked less and less often.
struct ServiceWatch: Sendable {
    let store: MirroredStore
    let channel: any RecordChannel
    let sleeper: any Sleeper
    /// Sent when there is something to fetch.
    let news: WakeSignal
    /// Heard when a round has ended.
    let settled: WakeSignal
    /// Whether nothing may be asked now.
    let isHeld: @Sendable () -> Bool

    /// Shorter than what proxies and channels let pass in silence.
    static let waitSeconds = 25
    /// An answer without news that comes sooner was not held back.
    private static let heldSecondsMin = 5.0
    private static let backoffSecondsMax = 60.0

    /// Returns when the task is cancelled.
    func run() async {
        var failures = 0
        var told: String?
        while !Task.isCancelled {
            guard !isHeld(), let request = await request() else {
                // Nothing was read yet: the first round does that. Or nothing may be asked now.
                await settled.wait(atMostSeconds: Self.backoffSecondsMax, sleeper)
                continue
            }
            let began = clock.now()
            do {
                guard try await channel.send(request).isNews else {
                    let held = clock.now().timeIntervalSince(began)
                    failures = held < Self.heldSecondsMin ? failures + 1 : 0
                    try await rest(after: failures)
                    continue
                }
                // What a round has read meanwhile is no news, nor is what it sent itself.
                let token = try store.zoneToken()
                guard token == Self.token(of: request) else { continue }
                failures = token == told ? failures + 1 : 0
                told = token
                settled.clear()
                news.send()
                await settled.wait(atMostSeconds: Self.backoffSecondsMax, sleeper)
                try await rest(after: failures)
            } catch is CancellationError {
                return
            } catch {
                failures += 1
                try? await rest(after: failures)
            }
        }
    }

    /// Nothing where nobody is to be asked yet; a service in the plain dialect answers at once.
    private func request() async -> RecordRequest? {
        guard let dialect = try? await channel.dialect() else { return nil }
        return try? store.waitingRequest(seconds: dialect == .plain ? nil : Self.waitSeconds)
    }

    private func rest(after failures: Int) async throws {
        guard failures > 0 else { return }
        let doublings = min(failures - 1, 10)
        try await sleeper.sleep(
            seconds: min(Self.backoffSecondsMax, Double(1 << doublings)))
    }

    private static func token(of request: RecordRequest) -> String? {
        guard case .zoneChanges(let changes) = request else { return nil }
        return changes.zones.first?.syncToken
    }

    private var clock: any Clock { store.settings.platform.clock }
}

extension MirroredStore {
    /// A request whose answer comes when the zone has changed since it was last read, or at once
    /// without `seconds`; nil where it was never read to its end.
    package func waitingRequest(seconds: Int?) throws -> RecordRequest? {
        guard let token = try zoneToken() else { return nil }
        var zone = ZoneChanges.Zone(
            zoneID: settings.zoneID, syncToken: token, resultsLimit: 1)
        zone.desiredKeys = []
        var changes = ZoneChanges(zones: [zone])
        changes.waitSeconds = seconds
        return .zoneChanges(changes)
    }

    /// Whether the store knows of the service's epochs, which a plain one has not.
    func knowsEpochs() throws -> Bool {
        try read { mirror in
            try Ledger.exists(in: mirror.ledger.connection)
                && mirror.ledger.setting(.line) != nil
        }
    }

    /// Where the last import ended.
    package func zoneToken() throws -> String? {
        try read { mirror in
            guard try Ledger.exists(in: mirror.ledger.connection),
                try mirror.ledger.knownZone() == settings.zoneID
            else { return nil }
            return try mirror.ledger.zone(settings.zoneID).token
        }
    }
}
