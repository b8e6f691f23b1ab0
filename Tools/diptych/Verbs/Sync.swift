internal import Foundation
internal import MirrorEngine
internal import MirrorTransport
internal import Platform
internal import RecordWire

/// `diptych sync`: one round of a store with its service.
struct Sync: Verb {
    private static let remember = Option(
        "remember", nil, "keep these settings in diptych.conf beside the store")
    private static let moved = Option(
        "moved", nil, "the service has a new address, and the same records as before")
    private static let trust = Option(
        "trust", nil, "take the service that diptych.conf beside the store names, from now on")
    private static let insecure = Option(
        "insecure-http", nil,
        "allow http to another machine; tokens and records travel in the clear")
    private static let watch = Option(
        "watch", nil, "stay, and sync after each save here and each change at the service")
    private static let interval = Option(
        "interval", "SECONDS", setting: true,
        "with --watch: the longest time between two rounds (30)")
    private static let rate = Option(
        "max-rate", "BYTES", setting: true, "bytes a second that may travel, each way")
    private static let install = Option(
        "install", nil, "with --watch: write a systemd unit of this user that runs it")
    private static let kept = [
        MirrorOptions.service, MirrorOptions.container, MirrorOptions.tokenFile,
        MirrorOptions.authorityFile, Option.model, Option.zone, MirrorOptions.policy,
        MirrorOptions.deletion, interval, rate,
    ]

    static let manual = Manual(
        name: "sync", summary: "Syncs a store with a record service, once or all the time.",
        operands: ["STORE"],
        options: kept + [watch, install, remember, trust, moved, insecure],
        notes: [
            HelpText.wrapped(
                "A round reads what others saved, merges it, sends what was saved here, and ends "
                    + "when nothing waits on either side. Interrupting it loses nothing. Tokens "
                    + "may also stand in DIPTYCH_API_TOKEN and DIPTYCH_USER_TOKEN. Rules that the "
                    + "model names (MirrorMerge) refine --policy."),
            HelpText.wrapped(
                "A diptych.conf beside a store may have come with the store. Where it names the "
                    + "service, the token file or the CA file, the round starts only if these "
                    + "were used from here before: by --remember, or by --trust, once. "
                    + "They are kept in diptych/known-services of XDG_CONFIG_HOME. A diptych.conf "
                    + "that belongs to another user, or that others may write, does not count."),
            HelpText.wrapped(
                "With --watch it stays: a round runs after each save, also of another process, "
                    + "after each change at the service, and now and then. Of several processes "
                    + "that watch one store, one syncs and the others stand by. SIGUSR1 pauses it "
                    + "and lets it go on; SIGTERM or Ctrl-C ends it between two steps, with 0. "
                    + "What fails is told and tried again. --install writes a unit "
                    + "for systemd, and tells how to start it."),
            HelpText.wrapped(
                "Exit status 0: store and service are equal, as 'diptych status' says too. "
                    + "3: conflicts wait for a decision ('diptych conflicts'). 1: the service "
                    + "refused records, or something was saved here meanwhile. 75: the service is "
                    + "away or asks to wait, or another process holds the store. Ctrl-C ends a "
                    + "round between two steps, with 130; the next one goes on from there."),
        ],
        examples: [
            (
                "diptych sync Library.sqlite --model Library.xcdatamodel --service "
                    + "https://127.0.0.1:8443 \\\n      --container iCloud.local.diptych "
                    + "--token-file records/iCloud.local.diptych.tokens \\\n"
                    + "      --ca-file records/tls/authority.pem --remember",
                "the first time"
            ), ("diptych sync Library.sqlite", "from then on"),
            ("diptych sync Library.sqlite --watch", "all the time"),
        ])

    private let access: StoreAccess
    private let container: String
    private let zone: String?
    private let policy: MergePolicy
    private let channel: ChannelConfiguration
    private let warnings: [String]
    private let settings: [(name: String, value: String)]
    private let destination: Destination
    private let services: KnownServices
    /// Whether the caller agrees to the destination by this call.
    private let agrees: Bool
    private let hasMoved: Bool
    /// nil for one round.
    private let watching: WatchChoice?

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        container = try arguments.required(MirrorOptions.container)
        zone = arguments.value(.zone)
        policy = try MirrorOptions.mergePolicy(arguments)
        (channel, warnings) = try Self.channel(arguments, container: container)
        hasMoved = arguments.has(Self.moved)
        watching = try WatchChoice(
            arguments, watch: Self.watch, install: Self.install, interval: Self.interval)
        let remembers = arguments.has(Self.remember) || watching?.isInstalled == true
        settings = remembers ? Self.settings(arguments) : []
        destination = Destination(
            service: channel.serviceURL.absoluteString,
            authorityFile: arguments.file(MirrorOptions.authorityFile)?.path ?? "",
            tokenFile: arguments.file(MirrorOptions.tokenFile)?.path ?? "")
        services = KnownServices(arguments.environment)
        agrees = arguments.has(Self.trust)
        if !agrees { try Self.checkOrigin(arguments, destination, services) }
    }

    /// Throws where a file beside the store sends tokens to where they never went from here.
    private static func checkOrigin(
        _ arguments: Arguments, _ destination: Destination, _ services: KnownServices
    ) throws {
        let decisive = [
            MirrorOptions.service, MirrorOptions.tokenFile, MirrorOptions.authorityFile,
        ]
        guard let file = decisive.compactMap(arguments.fileBesideStore).first,
            !services.contains(destination)
        else { return }
        throw CommandError(
            "unknownService",
            "\(file.url.path) sends this store's records, and your tokens, to "
                + "\(destination.service), where none went from here before.",
            hint: "If the file is yours, say so once: `diptych sync --trust`; if it came with the "
                + "store, look at it first.", status: .usage)
    }

    private static func channel(
        _ arguments: Arguments, container: String
    ) throws -> (ChannelConfiguration, [String]) {
        let text = try arguments.required(MirrorOptions.service)
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(),
            ["http", "https"].contains(scheme), url.host != nil
        else {
            throw CommandError(
                "usage", "--service cannot be '\(text)'.",
                hint: "Write an address such as https://127.0.0.1:8443.", status: .usage)
        }
        guard scheme == "https" || isLoopback(url) || arguments.has(Self.insecure) else {
            throw CommandError(
                "insecureService",
                "\(text) is another machine without TLS; who listens between learns the tokens.",
                hint: "Use https; where the way is safe all the same, `diptych sync "
                    + "--insecure-http`.", status: .usage)
        }
        var warnings: [String] = []
        let credentials: Credentials
        if let file = arguments.file(MirrorOptions.tokenFile) {
            let (read, isOpen) = try TokenFile.read(file)
            credentials = read
            if isOpen {
                warnings.append("others may read \(file.path); chmod 600 keeps it private")
            }
        } else if let given = TokenFile.credentials(in: arguments.environment) {
            credentials = given
        } else {
            _ = try arguments.required(MirrorOptions.tokenFile)
            credentials = Credentials(apiToken: "")
        }
        var configuration = ChannelConfiguration(
            serviceURL: url, target: RecordTarget(container: container), credentials: credentials)
        if let file = arguments.file(MirrorOptions.authorityFile) {
            guard FileManager.default.isReadableFile(atPath: file.path) else {
                throw CommandError(
                    "noAuthority", "The CA file \(file.path) cannot be read.",
                    hint: "Name the service's tls/authority.pem.")
            }
            configuration.authorityFile = file
        }
        configuration.bytesPerSecondMax = try arguments.number(rate, in: 1...(1 << 40))
        return (configuration, warnings)
    }

    private static func isLoopback(_ url: URL) -> Bool {
        let host = url.host?.lowercased() ?? ""
        let isNumber = host.allSatisfy { $0.isNumber || $0 == "." }
        return host == "localhost" || host == "::1" || host == "[::1]"
            || (isNumber && host.hasPrefix("127."))
    }

    private static func settings(_ arguments: Arguments) -> [(name: String, value: String)] {
        let files = [
            MirrorOptions.tokenFile.name, MirrorOptions.authorityFile.name, Option.model.name,
        ]
        return kept.compactMap { option in
            let value =
                files.contains(option.name)
                ? arguments.file(option)?.path : arguments.value(option)
            return value.map { (option.name, $0) }
        }
    }

    var mindsSignals: Bool { watching != nil }

    func run(_ console: Console) async throws -> ExitStatus {
        for warning in warnings { console.warn(warning) }
        if agrees { keepDestination(console) }
        let started = Date()
        let mirrored = try access.openMirrored(policy: policy, zone: zone)
        let place = "\(channel.serviceURL.absoluteString) \(container)"
        if hasMoved { try mirrored.moveService(to: place) }
        _ = try mirrored.prepare(container: place)
        var configuration = channel
        configuration.target.deviceID = try mirrored.deviceID()
        if let watching {
            guard !watching.isInstalled else {
                try install(console)
                return .done
            }
            try await watch(mirrored, place, configuration, watching, console)
            return .done
        }
        let carrier = try CurlChannel(configuration: configuration)
        let report = SyncReport(console: console)
        let session = MirrorSession(
            mirrored: mirrored, container: place, channel: carrier, observe: report.show)
        let summary = try await session.sync()
        try keepSettings(console)
        let standing = Standing(try mirrored.status(), now: Date())
        report.end(
            summary, standing, with: (access.name, channel.serviceURL.absoluteString),
            bytes: carrier.byteCount, seconds: Date().timeIntervalSince(started))
        return try Self.end(standing)
    }

    /// The exit status is that of `status`, which is asked the same.
    private static func end(_ standing: Standing) throws -> ExitStatus {
        switch standing.state {
        case .inSync, .conflicts: return standing.exitStatus
        case .refused:
            let count = standing.status?.refusals.count ?? 0
            throw CommandError(
                "refused", "The service will not take \(Figure.count(count, "record")).",
                hint: "`diptych status` gives its reasons.", status: standing.exitStatus)
        case .pending:
            throw CommandError(
                "pending", "Something was saved in the store while it synced, and waits.",
                hint: "Sync again: `diptych sync`", status: standing.exitStatus)
        case .notMirrored, .throttled, .failed:
            throw CommandError(
                "failed", "The round ended, but the store says: \(standing.headline)",
                hint: "`diptych status` tells more.", status: standing.exitStatus)
        }
    }

    private func keepSettings(_ console: Console) throws {
        guard !settings.isEmpty else { return }
        try ConfigurationFile.remember(settings, besideStore: access.url)
        keepDestination(console)
    }

    private func watch(
        _ mirrored: MirroredStore, _ place: String, _ configuration: ChannelConfiguration,
        _ choice: WatchChoice, _ console: Console
    ) async throws {
        try keepSettings(console)
        let report = WatchReport(console: console, store: access.name)
        let session = MirrorSession(
            mirrored: mirrored, container: place,
            channel: try CurlChannel(configuration: configuration))
        let scheduler = MirrorScheduler(
            session, watching: try CurlChannel(configuration: configuration), plan: choice.plan,
            name: "diptych sync --watch", observe: report.show)
        report.begin(service: configuration.serviceURL)
        await WatchSignals.run(scheduler)
        report.end()
    }

    /// The unit runs without flags, so the settings are kept beside the store.
    private func install(_ console: Console) throws {
        guard !destination.tokenFile.isEmpty else {
            throw CommandError(
                "usage", "A unit finds no tokens in variables.",
                hint: "Name a file that holds them: --token-file FILE.", status: .usage)
        }
        try keepSettings(console)
        try SystemdUnit(store: access.url).install(console)
    }

    private func keepDestination(_ console: Console) {
        guard !services.add(destination) else { return }
        console.warn("that this service is known cannot be kept in XDG_CONFIG_HOME")
    }
}
