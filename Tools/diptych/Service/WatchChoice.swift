internal import Foundation
internal import MirrorEngine

/// How a store is to be kept in sync all the time.
struct WatchChoice {
    private static let log = Option(
        "log", "FILE", setting: true, "with --watch: a line for each round and each change of state"
    )
    private static let logBytes = Option(
        "log-bytes", "N", setting: true, "with --log: where a new file begins (10485760)")
    private static let logFiles = Option(
        "log-files", "N", setting: true, "with --log: former files that are kept (5)")

    static let logOptions = [log, logBytes, logFiles]

    var plan = SchedulePlan()
    /// Whether the network is said to be paid by the byte.
    var isMetered = false
    /// Whether a unit is to be written that does it, instead of doing it.
    let isInstalled: Bool
    /// What such a unit says beside the settings that are kept.
    private(set) var unitWords: [String] = []
    /// nil where nothing is logged.
    private(set) var logFile: URL?
    private(set) var logBounds = DeviceLog.Bounds()

    /// nil where a single round is wanted. Throws for options that mean nothing without a watch.
    init?(_ arguments: Arguments, watch: Option, install: Option, interval: Option) throws {
        (plan.network, isMetered) = try NetworkOptions.policy(arguments)
        guard arguments.has(watch) else {
            guard !arguments.has(install) else {
                throw CommandError(
                    "usage", "--install writes a unit that watches.",
                    hint: "Add --watch.", status: .usage)
            }
            if let stray = Self.logOptions.first(where: { arguments.has($0) }) {
                throw CommandError(
                    "usage", "--\(stray.name) does nothing without --watch.",
                    hint: "Add --watch, or leave it out.", status: .usage)
            }
            return nil
        }
        isInstalled = arguments.has(install)
        if isInstalled { unitWords = try Self.unitWords(arguments) }
        logFile = arguments.file(Self.log)
        if let bytes = try arguments.number(Self.logBytes, in: 1024...(1 << 40)) {
            logBounds.bytesMax = Int64(bytes)
        }
        if let files = try arguments.number(Self.logFiles, in: 0...1_000) {
            logBounds.formerMax = files
        }
        if let seconds = try arguments.number(interval, in: 1...86_400) {
            plan.intervalSeconds = Double(seconds)
        }
    }

    /// Keys, the log and the way without TLS stand in no `diptych.conf` beside a store, which may
    /// come with it. Secrets are in files, of which the unit has the paths.
    private static func unitWords(_ arguments: Arguments) throws -> [String] {
        if arguments.file(KeySource.keyFile) != nil,
            arguments.file(KeySource.passphraseFile) == nil
        {
            throw CommandError(
                "usage", "A unit has no terminal to ask for the passphrase of --key-file.",
                hint: "Name a file that holds it: \(KeySource.passphraseFile.spelling).",
                status: .usage)
        }
        let files = arguments.given(logOptions + KeySource.options).flatMap {
            ["--\($0.name)", $0.value]
        }
        let insecure = ServiceChannel.insecure
        return files + (arguments.has(insecure) ? ["--\(insecure.name)"] : [])
    }
}
