internal import Foundation
internal import Platform
internal import SQLiteDriver

/// Who keeps the store in sync by itself, and since when something waits.
extension Ledger {
    func activity() throws -> MirrorActivity? {
        guard let text = try setting(.activity)?.string else { return nil }
        return try? JSONDecoder().decode(MirrorActivity.self, from: Data(text.utf8))
    }

    func set(_ activity: MirrorActivity) throws {
        let text = String(decoding: try JSONEncoder().encode(activity), as: UTF8.self)
        try set(.activity, to: .text(text))
    }

    /// Wakes who keeps the store in sync: what was decided is written as what came is, and so is no
    /// save.
    func noteDecision() throws {
        try set(.decisions, to: .integer(decisions() + 1))
    }

    func decisions() throws -> Int64 { try setting(.decisions)?.int64 ?? 0 }

    /// Remembers since when something waits for export, or that nothing does.
    func noteWaiting() throws {
        let waits = try pendingCounts().total > 0
        let (since, now) = (try date(.waitingSince), platform.clock.now())
        // A time to come was noted by a clock that was wrong.
        let isToCome = since.map { $0 > now } ?? false
        guard waits != (since != nil) || isToCome else { return }
        try set(.waitingSince, to: waits ? SQLiteValue(now) : .null)
    }
}
