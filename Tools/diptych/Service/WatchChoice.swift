internal import MirrorEngine

/// How a store is to be kept in sync all the time.
struct WatchChoice {
    var plan = SchedulePlan()
    /// Whether the network is said to be paid by the byte.
    var isMetered = false
    /// Whether a unit is to be written that does it, instead of doing it.
    let isInstalled: Bool

    /// nil where a single round is wanted. Throws for options that mean nothing without a watch.
    init?(_ arguments: Arguments, watch: Option, install: Option, interval: Option) throws {
        (plan.network, isMetered) = try NetworkOptions.policy(arguments)
        guard arguments.has(watch) else {
            guard !arguments.has(install) else {
                throw CommandError(
                    "usage", "--install writes a unit that watches.",
                    hint: "Add --watch.", status: .usage)
            }
            return nil
        }
        isInstalled = arguments.has(install)
        if let seconds = try arguments.number(interval, in: 1...86_400) {
            plan.intervalSeconds = Double(seconds)
        }
    }
}
