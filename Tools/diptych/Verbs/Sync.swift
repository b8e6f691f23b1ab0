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
    private static let kept = [
        MirrorOptions.service, MirrorOptions.container, MirrorOptions.tokenFile,
        MirrorOptions.authorityFile, Option.model, Option.zone, MirrorOptions.policy,
        MirrorOptions.deletion,
    ]

    static let manual = Manual(
        name: "sync", summary: "Syncs a store with a record service, one round.",
        operands: ["STORE"], options: kept + [remember, moved],
        notes: [
            HelpText.wrapped(
                "A round reads what others saved, merges it, sends what was saved here, and ends "
                    + "when nothing waits on either side. Interrupting it loses nothing. Tokens "
                    + "may also stand in DIPTYCH_API_TOKEN and DIPTYCH_USER_TOKEN. Rules that the "
                    + "model names (MirrorMerge) refine --policy."),
            HelpText.wrapped(
                "Exit status 3: conflicts wait for a decision ('diptych conflicts'). "
                    + "75: the service is away or asks to wait."),
        ],
        examples: [
            (
                "diptych sync Library.sqlite --model Library.xcdatamodel --service "
                    + "https://127.0.0.1:8443 \\\n      --container iCloud.local.diptych "
                    + "--token-file records/iCloud.local.diptych.tokens \\\n"
                    + "      --ca-file records/tls/authority.pem --remember",
                "the first time"
            ), ("diptych sync Library.sqlite", "from then on"),
        ])

    private let access: StoreAccess
    private let container: String
    private let zone: String?
    private let policy: MergePolicy
    private let channel: ChannelConfiguration
    private let warnings: [String]
    private let settings: [(name: String, value: String)]
    private let hasMoved: Bool

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        container = try arguments.required(MirrorOptions.container)
        zone = arguments.value(.zone)
        policy = try MirrorOptions.mergePolicy(arguments)
        (channel, warnings) = try Self.channel(arguments, container: container)
        hasMoved = arguments.has(Self.moved)
        settings = arguments.has(Self.remember) ? Self.settings(arguments) : []
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
        return (configuration, warnings)
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

    func run(_ console: Console) async throws -> ExitStatus {
        for warning in warnings { console.warn(warning) }
        let started = Date()
        let mirrored = try access.openMirrored(policy: policy, zone: zone)
        let place = "\(channel.serviceURL.absoluteString) \(container)"
        if hasMoved { try mirrored.moveService(to: place) }
        _ = try mirrored.prepare(container: place)
        var configuration = channel
        configuration.target.deviceID = try mirrored.deviceID()
        let carrier = try CurlChannel(configuration: configuration)
        let report = SyncReport(console: console)
        let session = MirrorSession(
            mirrored: mirrored, container: place, channel: carrier, observe: report.show)
        let summary = try await session.sync()
        if !settings.isEmpty {
            try ConfigurationFile.remember(settings, besideStore: access.url)
        }
        report.end(
            summary, store: access.name, bytes: carrier.byteCount,
            seconds: Date().timeIntervalSince(started))
        guard summary.refused == 0 else {
            throw CommandError(
                "refused", "The service will not take \(Figure.count(summary.refused, "record")).",
                hint: "'diptych status \(access.name)' gives its reasons.")
        }
        return summary.conflictsWaiting > 0 ? .conflictsWait : .done
    }
}
