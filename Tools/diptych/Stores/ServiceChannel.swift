internal import Foundation
internal import MirrorEngine
internal import MirrorTransport
internal import RecordWire

/// The way to the service that the arguments name, with what is shown there to get in.
struct ServiceChannel: Sendable {
    static let trust = Option(
        "trust", nil, "take the service that diptych.conf beside the store names, from now on")
    static let insecure = Option(
        "insecure-http", nil,
        "allow http to another machine; tokens and records travel in the clear")
    static let rate = Option(
        "max-rate", "BYTES", setting: true, "bytes a second that may travel, each way")
    /// What names a service, for the manuals of verbs that ask one.
    static let options = [
        MirrorOptions.service, MirrorOptions.container, MirrorOptions.tokenFile,
        MirrorOptions.authorityFile, MirrorOptions.clientVersion,
    ]

    private let configuration: ChannelConfiguration
    private let container: String
    private let warnings: [String]
    private let destination: Destination
    private let services: KnownServices
    /// Whether the caller agrees to the destination by this call.
    private let agrees: Bool

    /// Throws a `CommandError` of status `.usage` for what is missing or cannot be meant, and where
    /// a file beside the store sends tokens to where they never went from here.
    init(_ arguments: Arguments) throws {
        container = try arguments.required(MirrorOptions.container)
        (configuration, warnings) = try Self.channel(arguments, container: container)
        destination = Destination(
            service: configuration.serviceURL.absoluteString,
            authorityFile: arguments.file(MirrorOptions.authorityFile)?.path ?? "",
            tokenFile: arguments.file(MirrorOptions.tokenFile)?.path ?? "")
        services = KnownServices(arguments.environment)
        agrees = arguments.has(Self.trust)
        if !agrees { try Self.checkOrigin(arguments, destination, services) }
    }

    var serviceURL: URL { configuration.serviceURL }
    var url: String { configuration.serviceURL.absoluteString }

    /// Service and container.
    var place: String { place(isPublic: false) }

    /// Service, container and database, as the store remembers them.
    func place(of mirrored: MirroredStore) -> String {
        place(isPublic: mirrored.settings.database == .public)
    }

    private func place(isPublic: Bool) -> String {
        MirrorDestination(service: url, container: container, isPublic: isPublic).name
    }

    /// A connection of the device `deviceID`. Throws `TransportError` for settings that cannot be
    /// used.
    func carrier(
        deviceID: String, to database: MirrorDatabase = .private,
        in environment: String = MirroredStore.standardEnvironment
    ) throws -> CurlChannel {
        var own = configuration
        own.target.deviceID = deviceID
        own.target.environment = environment
        own.target.database = database.rawValue
        return try CurlChannel(configuration: own)
    }

    /// A connection of a store's device, to the database and the environment that its zone is in.
    /// Throws also for a store that waits for a share.
    func carrier(of mirrored: MirroredStore) throws -> CurlChannel {
        let database = mirrored.settings.database
        guard try database == .shared || !mirrored.isOfSharedDatabase() else {
            throw CommandError(
                "awaitsShare",
                "The store was for a zone that somebody shared, and waits for another share.",
                hint: "Take part in one with `diptych share`: the word accept and the invitation "
                    + "follow the store.")
        }
        return try carrier(
            deviceID: mirrored.deviceID(), to: database, in: mirrored.settings.scope.environment)
    }

    /// Says what is to be known of the tokens, and keeps that the caller agreed.
    func warn(_ console: Console) {
        for warning in warnings { console.warn(warning) }
        if agrees { keepDestination(console) }
    }

    func keepDestination(_ console: Console) {
        guard !services.add(destination) else { return }
        console.warn("that this service is known cannot be kept in XDG_CONFIG_HOME")
    }

    /// Throws where the tokens come from variables, which a process that starts by itself has not.
    func requireTokenFile() throws {
        guard destination.tokenFile.isEmpty else { return }
        throw CommandError(
            "usage", "A unit finds no tokens in variables.",
            hint: "Name a file that holds them: --token-file FILE.", status: .usage)
    }

    // MARK: Arguments

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
        let url = try address(arguments)
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
        let rate = try arguments.number(rate, in: 1...(1 << 40))
        var configuration = ChannelConfiguration(
            serviceURL: url, target: RecordTarget(container: container), credentials: credentials)
        configuration.authorityFile = try authority(arguments)
        if let text = arguments.value(MirrorOptions.clientVersion) {
            guard let version = ClientVersion(text) else {
                throw CommandError(
                    "usage", "'\(text)' is no version.",
                    hint: "Give numbers with dots between: --client-version 2.10.", status: .usage)
            }
            configuration.target.clientVersion = version
        }
        configuration.bytesPerSecondMax = rate
        configuration.sendsJSON = arguments.environment["DIPTYCH_BODIES"] == "json"
        if let file = arguments.file(MirrorOptions.tokenFile) {
            configuration.rotatingToken = rotating(credentials.userToken, in: file)
        }
        return (configuration, warnings)
    }

    static func authority(_ arguments: Arguments) throws -> URL? {
        guard let file = arguments.file(MirrorOptions.authorityFile) else { return nil }
        guard FileManager.default.isReadableFile(atPath: file.path) else {
            throw CommandError(
                "noAuthority", "The CA file \(file.path) cannot be read.",
                hint: "Name the service's tls/authority.pem.")
        }
        return file
    }

    /// A token that is kept in the file it was read from.
    private static func rotating(_ token: String?, in file: URL) -> RotatingToken {
        RotatingToken(
            token, keep: { try TokenFile.replaceUserToken(by: $0, in: file) },
            reread: { (try? TokenFile.read(file))?.credentials.userToken })
    }

    static func address(_ arguments: Arguments) throws -> URL {
        let text = try arguments.required(MirrorOptions.service)
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(),
            ["http", "https"].contains(scheme), url.host != nil
        else {
            throw CommandError(
                "usage", "--service cannot be '\(text)'.",
                hint: "Write an address such as https://127.0.0.1:8443.", status: .usage)
        }
        guard scheme == "https" || isLoopback(url) || arguments.has(insecure) else {
            throw CommandError(
                "insecureService",
                "\(text) is another machine without TLS; who listens between learns the tokens.",
                hint: "Use https; where the way is safe all the same, "
                    + "`diptych \(arguments.manual.name) --insecure-http`.", status: .usage)
        }
        return URL(string: ServiceAddress.spelled(text)) ?? url
    }

    private static func isLoopback(_ url: URL) -> Bool {
        let host = url.host?.lowercased() ?? ""
        let isNumber = host.allSatisfy { $0.isNumber || $0 == "." }
        return host == "localhost" || host == "::1" || host == "[::1]"
            || (isNumber && host.hasPrefix("127."))
    }
}
