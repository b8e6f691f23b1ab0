internal import Foundation
internal import Platform
internal import RecordServer
internal import RecordService
internal import RecordWire

/// Devices that wait until somebody lets them in on another screen. (RFC 8628, in its manner)
///
/// A device draws two codes: one it keeps and asks with, one that a person types where they are
/// signed in. Both live in memory for ten minutes, and are good once.
final class DeviceSignIns: Sendable {
    /// What a device waits for.
    struct Wish: Sendable {
        var container: String
        /// What the device calls itself.
        var label: String
    }

    enum Outcome: Equatable, Sendable {
        case waiting
        case refused
        /// `by` is what the audit log calls who let it in.
        case approved(user: String, by: String)
    }

    private struct Pending {
        let wish: Wish
        let userCode: String
        let address: ClientAddress
        let expires: Date
        var outcome = Outcome.waiting
    }

    static let lifeSeconds = 600
    static let pauseSeconds = 5

    private let accounts: ServiceAccounts
    private let clock: any Clock
    /// By the hash of the code that the device keeps.
    private let pending = Lock<[String: Pending]>([:])
    private let guesses: FailureMeter<String>
    /// Each device is two tokens, which the service keeps for ever.
    private let approvals: FailureMeter<String>

    private static let pendingMax = 1_000
    private static let pendingPerAddressMax = 20
    private static let letters = 8
    private static let approvalsPerHourMax = 50

    init(accounts: ServiceAccounts, clock: any Clock) {
        self.accounts = accounts
        self.clock = clock
        guesses = FailureMeter(clock: clock, failuresMax: 20, within: 600)
        approvals = FailureMeter(
            clock: clock, failuresMax: Self.approvalsPerHourMax, within: 3_600,
            reason: "Too many devices were let in within an hour; try again in a while.")
    }

    /// Draws the two codes. Throws THROTTLED where too many wait already.
    func begin(
        _ wish: Wish, from address: ClientAddress
    ) throws(RecordError) -> (deviceCode: String, userCode: String) {
        let deviceCode = try accounts.drawnSecret()
        let userCode = try accounts.drawnLetters(Self.letters)
        let key = try ConsoleSecret.key(of: deviceCode)
        let now = clock.now()
        let hasRoom = pending.withLock { pending in
            pending = pending.filter { $0.value.expires > now }
            let ofAddress = pending.values.count { $0.address == address }
            guard pending.count < Self.pendingMax, ofAddress < Self.pendingPerAddressMax,
                !pending.values.contains(where: { $0.userCode == userCode })
            else { return false }
            pending[key] = Pending(
                wish: wish, userCode: userCode, address: address,
                expires: now.addingTimeInterval(Double(Self.lifeSeconds)))
            return true
        }
        guard hasRoom else {
            var error = RecordError(
                .throttled, "Too many devices wait to be let in; try again in some minutes.")
            error.retryAfterSeconds = 60
            throw error
        }
        return (deviceCode, userCode)
    }

    /// What the device with this code wants. Throws NOT_FOUND, and THROTTLED for who guesses.
    func wish(_ typed: String, guesser: String) throws(RecordError) -> Wish {
        try guesses.check(guesser)
        let now = clock.now()
        let code = Self.plain(typed)
        let found = pending.withLock { pending in
            pending.values.first {
                $0.userCode == code && $0.expires > now && $0.outcome == .waiting
            }
        }
        guard let found else {
            guesses.note(guesser)
            throw Self.unknown
        }
        return found.wish
    }

    /// Lets the device in as `user`, or refuses it where that is nil; `actor` is what the audit log
    /// calls who decides. Throws THROTTLED for who lets in many.
    func settle(
        _ typed: String, user: String?, guesser: String, actor: String
    ) throws(RecordError) {
        _ = try wish(typed, guesser: guesser)
        if user != nil { try approvals.check(guesser) }
        let code = Self.plain(typed)
        let isSettled = pending.withLock { pending in
            // Somebody else may have been faster.
            let waiting = pending.filter { $0.value.outcome == .waiting }
            guard let key = waiting.first(where: { $0.value.userCode == code })?.key else {
                return false
            }
            pending[key]?.outcome = user.map { .approved(user: $0, by: actor) } ?? .refused
            return true
        }
        guard isSettled else { throw Self.unknown }
        if user != nil { approvals.note(guesser) }
    }

    /// Makes of what became of a device what it is told; once that is settled, it is told once.
    /// Where `body` throws TRY_AGAIN_LATER it was not told, and the device may ask again. Throws
    /// NOT_FOUND for a code that is not known or whose time is over.
    func collect<Told>(
        _ deviceCode: String, _ body: (Wish, Outcome) throws -> Told
    ) throws -> Told {
        let key = try ConsoleSecret.key(of: deviceCode)
        let found = try take(key)
        do {
            return try body(found.wish, found.outcome)
        } catch let error as RecordError where error.code == .tryAgainLater {
            pending.withLock { $0[key] = found }
            throw error
        }
    }

    /// Others find it no more once it is settled.
    private func take(_ key: String) throws(RecordError) -> Pending {
        let now = clock.now()
        let found = pending.withLock { pending -> Pending? in
            guard let found = pending[key], found.expires > now else {
                pending[key] = nil
                return nil
            }
            if found.outcome != .waiting { pending[key] = nil }
            return found
        }
        guard let found else { throw Self.unknown }
        return found
    }

    /// People type in small letters and with dashes.
    private static func plain(_ typed: String) -> String {
        typed.uppercased().filter(\.isLetter)
    }

    private static let unknown = RecordError(
        .notFound, "No device waits with this code; it is good for ten minutes, and once.")
}
