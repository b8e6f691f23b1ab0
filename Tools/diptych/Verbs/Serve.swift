internal import Foundation
internal import Platform
internal import RecordServer
internal import RecordService
internal import RecordWire

/// `diptych serve`: the record service on this machine.
struct Serve: Verb {
    private static let data = Option(
        "data", "DIR", setting: true, "where records, keys and tokens are kept")
    static let listen = Option(
        "listen", "ADDR:PORT", setting: true, "where to listen (127.0.0.1:8443); port 0: a free one"
    )
    private static let tls = Option(
        "tls", "auto|off|CERT,KEY", setting: true, "a local authority (auto), none, or PEM files")
    private static let hosts = Option(
        "hosts", "NAME,NAME", setting: true, "further names of this machine for its certificate")
    private static let container = Option(
        "container", "ID", setting: true, "the container to make and serve")
    private static let dialect = Option(
        "dialect", "extended|plain", setting: true,
        "with every extension, or as CloudKit Web Services runs")
    private static let console = Option(
        "console", "on|off", setting: true,
        "the web page at /console for administrators and users (off)")
    private static let readyFile = Option(
        "ready-file", "FILE", "write how to connect into FILE once it listens")
    private static let showTokens = Option(
        "show-tokens", nil, "print the tokens when they are made")
    private static let install = Option(
        "install", "DIR", "write a unit of systemd that runs it, as into /etc/systemd/system")

    static let manual = Manual(
        name: "serve", summary: "Runs the record service.",
        options: [
            data, RecordPlace.database, RecordPlace.assets, listen, tls, hosts, container, dialect,
            console,
        ] + ServeSettings.options + [readyFile, showTokens, install],
        readsSettingsBesideStore: false,
        notes: [
            HelpText.wrapped(
                "The first run makes an authority for certificates, a container, a user and "
                    + "their tokens. "
                    + "The tokens are written once, into a file of the data folder that only its "
                    + "owner can read. SIGTERM or Ctrl-C lets the requests under way end. SIGHUP "
                    + "opens the log anew and reads the certificate again; its files are also "
                    + "looked at each second. Open connections go on."),
            HelpText.wrapped(
                "The variables of --log and --log-level are DIPTYCH_LOG_FILE and DIPTYCH_LOG. A "
                    + "limit for one user goes before --quota-records and --quota-bytes: "
                    + "`diptych service quotas`."),
            HelpText.wrapped(
                "Several services may share one PostgreSQL database, each with a data folder of "
                    + "its own. A password belongs into the file that PGPASSFILE names, or into a "
                    + "service file of libpq's: in --database everybody on the machine sees it."),
        ],
        examples: [
            ("diptych serve", "on 127.0.0.1:8443, with records in XDG_DATA_HOME"),
            (
                "diptych serve --data records --listen 0.0.0.0:8443 --hosts shelf.example.org",
                "for other machines, under a name of its own"
            ),
            (
                "diptych serve --data records --log requests.log --log-format json --metrics 9464",
                "with a log for programs, and figures at http://127.0.0.1:9464/metrics"
            ),
            (
                "diptych serve --data here --database postgresql://me@db.example.org/records",
                "with its records in PostgreSQL"
            ),
            (
                "diptych serve --install /etc/systemd/system",
                "as a service of this machine, with settings in /etc/diptych/diptych.conf"
            ),
            (
                "diptych serve --data records --assets s3://shelf/assets "
                    + "--assets-endpoint https://s3.example.org --assets-keys bucket.keys",
                "with assets in a bucket of an S3-compatible store"
            ),
        ])

    private let folder: URL
    private let place: RecordPlace
    /// What to say of how it was told.
    private let warnings: [String]
    private let address: ListenAddress
    private let tlsChoice: ServerConfiguration.TLS
    private let containerName: String?
    private let dialect: ServiceDialect
    private let hasConsole: Bool
    private let announcement: Announcement
    private let settings: ServeSettings
    private let systemd: SystemdNotice
    private let unitFolder: URL?

    /// How it tells where it is to be had.
    private struct Announcement {
        let file: URL?
        let showsTokens: Bool
    }

    init(_ arguments: Arguments) throws {
        folder = arguments.file(Self.data) ?? DataFolder.standard(arguments.environment)
        place = try RecordPlace(arguments, folder: folder)
        warnings = [RecordPlace.warning(arguments)].compactMap(\.self) + arguments.overruled
        address = try ListenAddress(arguments.value(Self.listen) ?? "127.0.0.1:8443")
        let names = arguments.value(Self.hosts)?.split(separator: ",").map(String.init) ?? []
        tlsChoice = try Self.tls(
            arguments.value(Self.tls) ?? "auto", folder: folder, hosts: names)
        containerName = arguments.value(Self.container)
        dialect = try Self.dialect(arguments.value(Self.dialect) ?? "extended")
        hasConsole =
            try arguments.choice(Self.console, among: ["on", "off"]) == "on"
        announcement = Announcement(
            file: arguments.file(Self.readyFile), showsTokens: arguments.has(Self.showTokens))
        settings = try ServeSettings(arguments, folder: folder)
        systemd = SystemdNotice(arguments.environment)
        unitFolder = arguments.file(Self.install)
    }

    private static func dialect(_ word: String) throws -> ServiceDialect {
        guard let dialect = ServiceDialect(rawValue: word) else {
            throw CommandError(
                "usage", "--dialect cannot be '\(word)'.",
                hint: "Write extended or plain.", status: .usage)
        }
        return dialect
    }

    private static func tls(
        _ word: String, folder: URL, hosts: [String]
    ) throws -> ServerConfiguration.TLS {
        if word == "off" { return .off }
        if word == "auto" {
            return .automatic(folder: folder.appendingPathComponent("tls"), hosts: hosts)
        }
        let files = word.split(separator: ",")
        guard files.count == 2 else {
            throw CommandError(
                "usage", "--tls cannot be '\(word)'.",
                hint: "Write auto, off, or CERTIFICATE.pem,KEY.pem.", status: .usage)
        }
        return .files(
            certificate: URL(fileURLWithPath: String(files[0])),
            key: URL(fileURLWithPath: String(files[1])))
    }

    var mindsSignals: Bool { true }

    func run(_ console: Console) async throws -> ExitStatus {
        if let unitFolder {
            try ServiceUnit(folder: unitFolder).install(console)
            return .done
        }
        if let file = announcement.file { try ParentFolder.require(of: file) }
        // Records are nobody else's business on this machine.
        umask(0o077)
        let folder = try DataFolder(folder)
        let logbook = try ServiceLogbook(settings, console)
        for warning in warnings + [settings.objects?.warning].compactMap(\.self) {
            logbook.warn(warning)
        }
        makeRoomForConnections(console)
        let service = try place.service(
            dialect: dialect, limits: settings.limits, objects: settings.objects?.place,
            audit: DataFolder.audit(in: folder.url), log: logbook.note)
        if case .file(let database) = place { try check(service, database.path, logbook) }
        let access = ServiceAccess(service: service, folder: folder, place: place.description)
        let container = try access.container(named: containerName)
        let made = try access.prepare(container, warn: logbook.warn)
        var configuration = configuration(logbook)
        let page =
            hasConsole
            ? ConsolePage(
                of: service, in: &configuration, settings.provider, backups: folder.backups)
            : nil
        let server = RecordServer(service: service, configuration: configuration)
        page?.show(server)
        let url = try server.start()
        var notice = ReadyNotice(
            url: url, container: container, tokenFile: folder.tokens(of: container),
            authorityFile: server.authorityFile, dataFolder: folder.url, isFirstRun: made != nil)
        notice.metrics = server.metricsPlace
        if announcement.showsTokens { notice.tokens = made }
        notice.hasConsole = hasConsole
        warnOfOpenDoors(console)
        // Who is told that it listens may tell it to stop.
        let stop = StopSignal()
        let hangUp = SignalSources.watch([SIGHUP]) { _ in reload(server, logbook) }
        systemd.tell(.ready)
        notice.print(console)
        if let file = announcement.file {
            try PrivateFile.write(notice.json.text + "\n", to: file)
        }
        let forgetting = DailyForgetting(service, isOfMany: place.isOfMany, logbook)
        await stop.wait()
        systemd.tell(.stopping)
        for source in hangUp { source.cancel() }
        forgetting.stop()
        console.progress("ending …")
        server.stop()
        notice.printEnd(console, requests: server.statistics.requests)
        return .done
    }

    private func reload(_ server: RecordServer, _ logbook: ServiceLogbook) {
        systemd.tell(.reloading)
        defer { systemd.tell(.ready) }
        logbook.reopen()
        do {
            try server.reloadCertificate()
        } catch {
            logbook.warn(Self.keptCertificate(CommandFailure.describe(error).message))
        }
    }

    private static func keptCertificate(_ reason: String) -> String {
        "the certificate of before is shown on: \(reason)"
    }

    private func makeRoomForConnections(_ console: Console) {
        let connections = settings.http.connections.max
        guard let fewer = OpenFiles.allow(connections: connections) else { return }
        console.warn(
            "the system lets this process have \(fewer) connections open, not \(connections); "
                + "raise its limit of open files")
    }

    private func warnOfOpenDoors(_ console: Console) {
        if case .off = tlsChoice, !address.isLoopback {
            console.warn(
                "without TLS the tokens travel in the clear; put a proxy with TLS before it")
        }
        if let place = settings.metricsPlace, !ListenAddress(place).isLoopback {
            console.warn(
                "whoever reaches \(place.address) reads the figures, names of containers among "
                    + "them; let a firewall keep others away")
        }
    }

    /// Files of a gigabyte take some seconds; larger ones are looked at by SQLite's own tools.
    private static let checkedBytesMax = 1 << 30

    private func check(
        _ service: RecordService, _ path: String, _ logbook: ServiceLogbook
    ) throws {
        guard let bytes = service.storage.usedBytes, bytes <= Self.checkedBytesMax else { return }
        let damage = try service.damageInFile()
        guard let first = damage.first else { return }
        let more = damage.count > 1 ? ", and more" : ""
        logbook.warn(
            "\(path) is damaged (\(first)\(more)). What can be read is served. "
                + "Stop the service, keep a copy of the file, and restore a backup.")
    }

    private func configuration(_ logbook: ServiceLogbook) -> ServerConfiguration {
        var configuration = ServerConfiguration(tls: tlsChoice)
        configuration.address = address.address
        configuration.port = address.port
        configuration.http = settings.http
        if case .off = tlsChoice, address.isLoopback, settings.proxies.isEmpty {
            // A proxy stands in front: all of its clients come from one address.
            configuration.http.connections.perAddressMax = nil
            configuration.http.buffers.bytesPerAddressMax = nil
        }
        configuration.metrics = settings.metricsPlace
        configuration.version = Command.version
        configuration.accessLog = logbook.accessLog
        configuration.failureLog = logbook.noteFailure
        configuration.certificateLog = { failure in
            if let failure { logbook.warn(Self.keptCertificate(failure.message)) }
        }
        return configuration
    }
}
