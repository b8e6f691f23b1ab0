internal import Foundation
internal import MirrorEngine
internal import MirrorTransport
internal import Platform

/// `diptych sync`: a store with its service, one round or all the time.
struct Sync: Verb {
    private static let remember = Option(
        "remember", nil, "keep these settings in diptych.conf beside the store")
    private static let moved = Option(
        "moved", nil, "the service has a new address, and the same records as before")
    private static let trial = Option(
        "dry-run", nil, "say what would travel, change and conflict; change nothing")
    private static let watch = Option(
        "watch", nil, "stay, and sync after each save here and each change at the service")
    private static let interval = Option(
        "interval", "SECONDS", setting: true,
        "with --watch: the longest time between two rounds (30)")
    private static let install = Option(
        "install", nil, "with --watch: write a systemd unit of this user that runs it")
    private static let kept =
        [
            MirrorOptions.service, MirrorOptions.container, MirrorOptions.tokenFile,
            MirrorOptions.authorityFile, Option.model,
        ] + ZoneChoice.options + [
            MirrorOptions.policy, MirrorOptions.deletion, interval, ServiceChannel.rate,
        ] + NetworkOptions.all

    static let manual = Manual(
        name: "sync", summary: "Syncs a store with a record service, once or all the time.",
        operands: ["STORE"],
        options: kept + [SelectionOption.only] + WatchChoice.logOptions + KeySource.options + [
            watch, install, trial, remember, ServiceChannel.trust, moved, ServiceChannel.insecure,
        ],
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
                    + "What fails is told and tried again; where the store is migrated, or another "
                    + "file stands in its place, it ends with 1, and is started anew, as its unit "
                    + "does. --install writes a unit for systemd, and tells how to start it. "
                    + "With --log all of it is kept in a file, with the names that rounds have in "
                    + "the service's log; a full file is called FILE.1, and one that logrotate "
                    + "moves away is followed, with and without SIGHUP."),
            HelpText.wrapped(
                "--hours, --metered, --max-round and --max-day are for what runs by itself: "
                    + "while they hold rounds up, the watch and 'diptych status' say what is "
                    + "waited for. A round by hand runs at any time."),
            HelpText.wrapped(
                "Attributes that the model marks with 'Allows Cloud Encryption' travel sealed "
                    + "under the keys of --key-file ('diptych key'). Without them such values "
                    + "stay as they are at the service, and edits of them wait. A diptych.conf "
                    + "beside the store does not name keys."),
            HelpText.wrapped(
                "--only ENTITY sends and fetches that entity's objects and those of its "
                    + "subentities, and --only 'ENTITY:PREDICATE' sends those that meet the "
                    + "predicate; several are added up. The store keeps it until another --only, "
                    + "or --only all; 'diptych status' shows it. What is outside stays as it is, "
                    + "here and at the service, and is deleted nowhere."),
            HelpText.wrapped(
                "With --database-scope public the first time, a store holds what is in the "
                    + "container's public database, which all its users read and make objects in, "
                    + "and which a token file without a user may read. What another made is "
                    + "theirs to change: an edit or a deletion of it is refused, and stays here "
                    + "with its reason in 'diptych status'; 'diptych conflicts' takes such "
                    + "deletions back. A store keeps to its database, without the option too, "
                    + "until 'diptych reset'. One that took part in a share is of the shared one "
                    + "('diptych share')."),
            HelpText.wrapped(
                "With --environment production the first time, a store is of the container's "
                    + "production environment, which has records of its own and takes what "
                    + "'diptych service schema --deploy' gave it. It keeps to that likewise."),
            HelpText.wrapped(
                "With --dry-run the round runs on a copy of the store, and what it would send "
                    + "stays here: the store is only read, the service only asked. What it "
                    + "refused before, or is known to refuse, is listed apart: what others share "
                    + "for reading only, and what others made in the public database. Values in "
                    + "files of their own are not looked at."),
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
            ("diptych sync Library.sqlite --dry-run", "what the next round would do"),
            (
                "diptych sync Library.sqlite --only Author --only 'Book:pages > 300'",
                "these objects only, from now on"
            ),
            ("diptych sync Library.sqlite --only all", "everything again"),
            (
                "diptych sync Atlas.sqlite --database-scope public --remember",
                "a new store, with what all users made"
            ),
        ])

    private let access: StoreAccess
    private let zone: ZoneChoice
    private let policy: MergePolicy
    private let keys: SealingKeys?
    private let service: ServiceChannel
    private let settings: [(name: String, value: String)]
    private let selection: SelectionOption
    private let hasMoved: Bool
    private let isTrial: Bool
    private let invocation: Invocation
    /// nil for one round.
    private let watching: WatchChoice?

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        zone = try ZoneChoice(arguments)
        policy = try MirrorOptions.mergePolicy(arguments)
        // It asks for a passphrase, so what cannot be meant is refused before.
        watching = try WatchChoice(
            arguments, watch: Self.watch, install: Self.install, interval: Self.interval)
        keys = try KeySource.keys(arguments)
        service = try ServiceChannel(arguments)
        selection = try SelectionOption(arguments)
        hasMoved = arguments.has(Self.moved)
        let remembers = arguments.has(Self.remember) || watching?.isInstalled == true
        settings = remembers ? arguments.given(Self.kept) : []
        isTrial = arguments.has(Self.trial)
        invocation = arguments.invocation
        guard !isTrial || (settings.isEmpty && watching == nil) else {
            let other = watching == nil ? "--remember" : "--watch"
            throw CommandError(
                "usage", "--dry-run and \(other) do not go together.",
                hint: "A dry run changes nothing; leave one out.", status: .usage)
        }
    }

    var mindsSignals: Bool { watching != nil }
    var stopsWhenCancelled: Bool { true }

    func run(_ console: Console) async throws -> ExitStatus {
        service.warn(console)
        let family = try StoreFamily(of: access, zone)
        guard !isTrial else {
            return try await family.each(console) { try await preview(of: $0, console) }
        }
        guard let watching else {
            return try await family.each(console) { try await round(of: $0, console) }
        }
        for member in family.further {
            console.warn("\(member.name) has another owner's objects; watch it by another call.")
        }
        try await run(watching, opened(access), console)
        return .done
    }

    /// A store on its way to the service that the call names.
    private func opened(_ store: StoreAccess) throws -> MirroredStore {
        let mirrored = try store.openMirrored(
            policy: policy, zone: zone, keys: keys, only: selection)
        _ = try service.carrier(of: mirrored)
        let place = service.place(of: mirrored)
        if hasMoved { try mirrored.moveService(to: place) }
        _ = try mirrored.prepare(container: place)
        return mirrored
    }

    private func round(of store: StoreAccess, _ console: Console) async throws -> ExitStatus {
        let started = Date()
        let mirrored = try opened(store)
        let carrier = try service.carrier(of: mirrored)
        let report = SyncReport(console: console)
        let session = MirrorSession(
            mirrored: mirrored, container: service.place(of: mirrored), channel: carrier,
            observe: report.show)
        let summary = try await session.sync()
        if store.url == access.url { try keepSettings(console) }
        let standing = Standing(try mirrored.status(), now: Date())
        report.end(
            summary, standing, with: (store.name, service.url),
            bytes: carrier.byteCount, seconds: Date().timeIntervalSince(started))
        return try Self.end(standing)
    }

    private func keepSettings(_ console: Console) throws {
        guard !settings.isEmpty else { return }
        try ConfigurationFile.remember(settings, besideStore: access.url)
        service.keepDestination(console)
    }

    /// Stays, or writes a unit that does. What names no secret, the unit finds in the settings that
    /// are kept; the rest stands in it.
    private func run(
        _ choice: WatchChoice, _ mirrored: MirroredStore, _ console: Console
    ) async throws {
        if choice.isInstalled { try service.requireTokenFile() }
        try keepSettings(console)
        guard !choice.isInstalled else {
            return try SystemdUnit(store: access.url, words: choice.unitWords).install(console)
        }
        let log = try choice.logFile.map { try DeviceLog($0, choice.logBounds) }
        let report = WatchReport(console: console, store: access.name, log: log)
        let session = MirrorSession(
            mirrored: mirrored, container: service.place(of: mirrored),
            channel: try service.carrier(of: mirrored), log: Self.roundLog(log))
        let scheduler = MirrorScheduler(
            session, watching: try service.carrier(of: mirrored), plan: choice.plan,
            name: "diptych sync --watch", isMetered: { choice.isMetered }, observe: report.show)
        report.begin(service: service.url)
        await WatchSignals.run(scheduler, log)
        try report.end()
    }

    /// The rounds by the names that they have in the service's log too.
    private static func roundLog(_ log: DeviceLog?) -> RoundLog {
        guard let log else { return RoundLog() }
        return RoundLog(level: max(1, DebugSwitch.cloudKit.level)) { line in
            log.write("\(Timestamp.text(Date())) \(DebugSwitch.escaped(line))")
        }
    }

    /// What a round would do, found out on a copy.
    private func preview(
        of store: StoreAccess, _ console: Console
    ) async throws -> ExitStatus {
        let copy = try StoreCopy(of: store.url)
        defer { withExtendedLifetime(copy) {} }
        let mirrored = try store.openMirrored(
            copy, policy: policy, zone: zone, keys: keys, only: selection)
        let place = service.place(of: mirrored)
        if hasMoved { try mirrored.moveService(to: place) }
        let carrier = try service.carrier(of: mirrored)
        let preview = try await SyncPreview(mirrored, place: place, channel: carrier)
        preview.print(store: store.name, service: service.url, invocation, console)
        return preview.summary.conflictsWaiting > 0 ? .conflictsWait : .done
    }

    private static func refusal(_ standing: Standing) -> CommandError {
        let count = standing.status?.refusals.count ?? 0
        let staying =
            "\(Figure.count(count, "edited record")) \(count == 1 ? "stays" : "stay") here."
        return switch standing.denying {
        case .shared:
            CommandError(
                "readOnly", "The share lets you read only; \(staying)",
                hint: "Ask the owner for permission to write, and sync again; nothing is lost. "
                    + "`diptych status` names what waits.", status: standing.exitStatus)
        case .public:
            CommandError(
                "notYours",
                "What others made in the public database is theirs to change; "
                    + "\(Figure.count(count, "edit or deletion", "edits or deletions")) "
                    + "\(count == 1 ? "stays" : "stay") here.",
                hint: "The rest was synced, and nothing is lost. `diptych status` names what "
                    + "waits, with the reasons.", status: standing.exitStatus)
        case .private, nil:
            CommandError(
                "refused", "The service will not take \(Figure.count(count, "record")).",
                hint: "`diptych status` gives its reasons.", status: standing.exitStatus)
        }
    }

    /// The exit status is that of `status`, which is asked the same.
    private static func end(_ standing: Standing) throws -> ExitStatus {
        switch standing.state {
        case .inSync, .conflicts: return standing.exitStatus
        case .refused:
            throw refusal(standing)
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
}
