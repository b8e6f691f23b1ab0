internal import Foundation
internal import Platform
internal import RecordServer
internal import RecordWire

/// How many passwords are looked at, and whose: guessing costs the guesser, and takes neither the
/// service's time nor the right user's way in.
///
/// Wrong guesses count for the address and name together, for the address, and for the name. The
/// last two stop only addresses from which the user never signed in; and all end by themselves.
/// Names that are too long for anybody's count as one, so that no guess is kept whole.
final class PasswordGate: Sendable {
    private struct Pair: Hashable {
        let name: String
        let address: ClientAddress
    }

    private struct Work {
        var running: Set<ClientAddress> = []
        /// From where users signed in, the latest last.
        var known: [Pair] = []
    }

    private let ofPairs: FailureMeter<Pair>
    private let ofAddresses: FailureMeter<ClientAddress>
    private let ofNames: FailureMeter<String>
    private let work = Lock(Work())

    /// Each takes 16 MB and a twentieth of a second.
    private static let runningMax = 2
    private static let knownMax = 10_000
    private static let nameBytesMax = 255

    init(clock: any Clock) {
        ofPairs = FailureMeter(clock: clock, failuresMax: 10, within: 600)
        ofAddresses = FailureMeter(clock: clock, failuresMax: 30, within: 600)
        ofNames = FailureMeter(clock: clock, failuresMax: 50, within: 600)
    }

    /// Runs `body`, which looks at a password of `name`. Throws THROTTLED where there were too many
    /// wrong ones, TRY_AGAIN_LATER while two are looked at, or one from the same address.
    func pass<Result>(
        _ name: String, from address: ClientAddress, _ body: () throws(RecordError) -> Result
    ) throws(RecordError) -> Result {
        let name = name.utf8.count > Self.nameBytesMax ? "" : name
        let pair = Pair(name: name, address: address)
        try ofPairs.check(pair)
        if !work.withLock({ $0.known.contains(pair) }) {
            try ofAddresses.check(address)
            try ofNames.check(name)
        }
        let isFree = work.withLock { work in
            work.running.count < Self.runningMax && work.running.insert(address).inserted
        }
        guard isFree else { throw Self.busy }
        defer { work.withLock { _ = $0.running.remove(address) } }
        do throws(RecordError) {
            let result = try body()
            remember(pair)
            return result
        } catch {
            if error.code == .authenticationFailed || error.code == .accessDenied {
                ofPairs.note(pair)
                ofAddresses.note(address)
                ofNames.note(name)
            }
            throw error
        }
    }

    private func remember(_ pair: Pair) {
        work.withLock { work in
            work.known.removeAll { $0 == pair }
            work.known.append(pair)
            if work.known.count > Self.knownMax { work.known.removeFirst() }
        }
    }

    private static var busy: RecordError {
        var error = RecordError(
            .tryAgainLater, "Other passwords are looked at just now; try again in a second.")
        error.retryAfterSeconds = 1
        return error
    }
}
