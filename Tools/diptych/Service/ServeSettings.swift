internal import Foundation
internal import RecordServer
internal import RecordService
internal import ServiceConsole

/// What `serve` is told beside what it serves and where: its log, its figures, its limits.
struct ServeSettings: Sendable {
    private static let metrics = Option(
        "metrics", "[ADDR:]PORT", setting: true,
        "figures for Prometheus and probes, in plain HTTP; of 127.0.0.1 unless told")
    private static let log = Option(
        "log", "FILE", setting: true, variable: "DIPTYCH_LOG_FILE",
        "a line for each request; - is standard error")
    private static let logFormat = Option(
        "log-format", "text|json", setting: true, "how the lines are spelled (text)")
    private static let logLevel = Option(
        "log-level", "LEVEL", setting: true, words: LogLevel.allCases.map(\.rawValue),
        variable: "DIPTYCH_LOG", "off, error, warning, info (all requests) or debug (probes too)")
    private static let trustedProxy = Option(
        "trusted-proxy", "ADDR,NET/BITS", setting: true,
        "proxies in front, whose X-Forwarded-For counts")
    private static let quotaRecords = Option(
        "quota-records", "N", setting: true, "records that one user may keep")
    private static let quotaBytes = Option(
        "quota-bytes", "N", setting: true, "bytes of records' fields that one user may keep")
    private static let quotaAssetBytes = Option(
        "quota-asset-bytes", "N", setting: true, "bytes of assets that one user may keep")
    private static let connections = Option(
        "connections", "N", setting: true, "connections at once (1000)")
    private static let listeners = Option(
        "listeners", "N", setting: true, "requests that may wait for changes at once (500)")
    private static let rate = Option(
        "rate", "N", setting: true, "units a second that one user may spend (1000)")
    private static let signatureSkew = Option(
        "signature-skew", "SECONDS", setting: true,
        "how far a server's signature may be from the present (600)")

    private static let tokenDays = Option(
        "token-days", "N|none", setting: true,
        "how long tokens last that the console gives users, until renewed (365)")
    private static let allowOrigin = Option(
        "allow-origin", "[ID=]ORIGIN", setting: true,
        "pages of other addresses that browsers may let ask, or of one container's only")

    static let options =
        [
            metrics, log, logFormat, logLevel, trustedProxy, quotaRecords, quotaBytes,
            quotaAssetBytes, connections, listeners, rate, signatureSkew, tokenDays,
            allowOrigin,
        ] + AssetChoice.options + ProviderChoice.options

    /// Where figures are to be had; nil: nowhere.
    let metricsPlace: ListenPlace?
    /// nil: no requests are logged.
    let logFile: URL?
    let format: LogFormat
    let level: LogLevel
    let proxies: [AddressNetwork]
    /// By which users sign in at the console; nil: by none.
    let provider: SignInProvider?
    /// Where contents of assets are; nil: in a folder.
    let objects: AssetChoice?
    private(set) var limits = ServiceLimits()
    private(set) var http = HTTPConfiguration()

    private static let mostOfAll = 1 << 53

    init(_ arguments: Arguments, folder: URL) throws {
        objects = try AssetChoice(arguments, folder: folder)
        metricsPlace = try arguments.value(Self.metrics).map(Self.place)
        let file = arguments.value(Self.log)
        logFile = file == "-" ? nil : arguments.file(Self.log)
        logsToError = file == "-"
        format =
            try arguments.choice(Self.logFormat, among: LogFormat.allCases.map(\.rawValue))
            .flatMap(LogFormat.init) ?? .text
        level =
            try arguments.choice(Self.logLevel, among: LogLevel.allCases.map(\.rawValue))
            .flatMap(LogLevel.init) ?? .info
        proxies = try Self.networks(arguments.value(Self.trustedProxy) ?? "")
        provider = try ProviderChoice.provider(arguments)
        let counts = 0...Self.mostOfAll
        limits.retention.quota = UserQuota(
            recordsMax: try arguments.number(Self.quotaRecords, in: counts).map(Int64.init),
            bytesMax: try arguments.number(Self.quotaBytes, in: counts).map(Int64.init))
        if let bytes = try arguments.number(Self.quotaAssetBytes, in: counts) {
            limits.assets.bytesPerUserMax = Int64(bytes)
        }
        if let rate = try arguments.number(Self.rate, in: 1...1_000_000_000) {
            limits.throttle.unitsPerSecond = rate
            // As much as is saved up in half a minute, as of the standard.
            limits.throttle.unitsSavedMax = 30 * rate
        }
        limits.retention.signatureSkewSeconds =
            try arguments.number(Self.signatureSkew, in: 1...86_400)
            ?? limits.retention.signatureSkewSeconds
        limits.retention.userTokenDays = try TokenDays.read(
            Self.tokenDays, arguments, standard: limits.retention.userTokenDays)
        try setConnections(arguments)
        http.trustedProxies = proxies
        http.origins = try Self.origins(arguments.value(Self.allowOrigin) ?? "")
    }

    /// Standard error in the place of a file.
    let logsToError: Bool

    private mutating func setConnections(_ arguments: Arguments) throws {
        http.connections.max =
            try arguments.number(Self.connections, in: 1...1_000_000) ?? http.connections.max
        // Few connections are no reason to have to say how many may wait.
        http.held.max =
            try arguments.number(Self.listeners, in: 0...1_000_000)
            ?? min(http.held.max, http.connections.max / 2)
        guard http.held.max < http.connections.max else {
            throw CommandError(
                "usage",
                "--listeners \(http.held.max) would leave no room among the "
                    + "\(http.connections.max) connections of --connections.",
                hint: "Allow more connections than listeners.", status: .usage)
        }
    }

    private static func place(_ text: String) throws -> ListenPlace {
        if let port = UInt16(text) { return ListenPlace(port: port) }
        let address = try ListenAddress(text, of: metrics)
        return ListenPlace(address: address.address, port: address.port)
    }

    private static func origins(_ text: String) throws -> AllowedOrigins {
        var origins = AllowedOrigins()
        for word in text.split(separator: ",") {
            let word = word.trimmingCharacters(in: .whitespaces)
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            let isTaken =
                parts.count == 2
                ? origins.allow(parts[1], container: parts[0]) : origins.allow(word)
            guard isTaken else {
                throw CommandError(
                    "usage", "--allow-origin cannot be '\(word)'.",
                    hint: "Write origins as browsers do, such as https://notes.example.org or "
                        + "ID=https://notes.example.org:8443, without a path.",
                    status: .usage)
            }
        }
        return origins
    }

    private static func networks(_ text: String) throws -> [AddressNetwork] {
        try text.split(separator: ",").map { word in
            let word = word.trimmingCharacters(in: .whitespaces)
            if let network = AddressNetwork(word) { return network }
            throw CommandError(
                "usage", "--trusted-proxy cannot be '\(word)'.",
                hint: "Write addresses or networks, such as 127.0.0.1,10.0.0.0/8.",
                status: .usage)
        }
    }
}
