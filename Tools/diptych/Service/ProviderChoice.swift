internal import Foundation
internal import MirrorTransport
internal import RecordService
internal import ServiceConsole

/// The provider of identities by which users sign in at the console, as `serve` is told of it.
enum ProviderChoice {
    private static let issuer = Option(
        "oidc-issuer", "URL", setting: true, "users sign in at the console by this provider")
    private static let client = Option(
        "oidc-client", "ID", setting: true, "what the provider calls this service")
    private static let secretFile = Option(
        "oidc-secret-file", "FILE", setting: true, "the client's secret, in its first line")
    private static let users = Option(
        "oidc-users", "email|create", setting: true,
        "by the address a user has here (email), or anybody as a new user")
    private static let address = Option(
        "oidc-address", "URL", setting: true,
        "this service's address for browsers (as they call it)")
    private static let authority = Option(
        "oidc-ca-file", "FILE", setting: true,
        "the provider's authority, as PEM; without, those of the system")

    static let options = [issuer, client, secretFile, users, address, authority]

    /// A provider's answers are small, and somebody waits for them.
    private static let answerBytesMax = 1 << 20
    private static let answerSeconds = 10.0
    private static let secretBytesMax = 4_096

    /// nil where nobody named one.
    static func provider(_ arguments: Arguments) throws -> SignInProvider? {
        guard let issuer = arguments.value(Self.issuer) else {
            guard let lonely = options.first(where: { arguments.has($0) }) else { return nil }
            throw misuse("--\(lonely.name) goes with --oidc-issuer.", "Name the provider too.")
        }
        guard SignInProvider.isSafe(issuer) else {
            throw misuse(
                "--oidc-issuer cannot be '\(issuer)'.",
                "Write its address as it spells it, such as https://id.example.org.")
        }
        let home = arguments.value(address).map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        let policy = try arguments.choice(users, among: IdentityPolicy.allCases.map(\.rawValue))
        var limits = CurlLimits()
        limits.authorityFile = arguments.file(authority)
        limits.connectSeconds = answerSeconds
        limits.totalSeconds = answerSeconds
        limits.responseBytesMax = answerBytesMax
        return SignInProvider(
            issuer: issuer, clientID: try arguments.required(client),
            clientSecret: try arguments.file(secretFile).map(secret),
            policy: policy.flatMap(IdentityPolicy.init) ?? .email, address: home
        ) { [limits] url, form, headers in
            let answer = try CurlHandle(limits: limits).perform(
                CurlCall(
                    method: form == nil ? "GET" : "POST", url: url, headers: headers,
                    body: form ?? Data()))
            return (answer.status, answer.body)
        }
    }

    private static func secret(_ file: URL) throws -> String {
        let hint = "Its first line is what the provider gave for the client."
        guard let data = try? GivenFile.data(file, bytesMax: secretBytesMax) else {
            throw GivenFile.unreadable(
                file.path, as: "client's secret", code: "noSecret", hint: hint)
        }
        guard data.count <= secretBytesMax, let line = TextLines.first(of: data) else {
            throw CommandError("noSecret", "\(file.path) holds no secret.", hint: hint)
        }
        return line
    }

    private static func misuse(_ message: String, _ hint: String) -> CommandError {
        CommandError("usage", message, hint: hint, status: .usage)
    }
}
