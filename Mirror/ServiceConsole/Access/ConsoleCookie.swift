internal import RecordServer

/// The cookie that holds a session's secret. No script reads it, and no other site's page sends it.
struct ConsoleCookie: Sendable {
    /// Whether the server itself speaks TLS; where it does not, a proxy before it may.
    let isEncrypted: Bool

    private static let plainName = "diptych-console"
    /// A browser takes a cookie of this prefix over TLS only, and for one host only.
    private static let secureName = "__Host-diptych-console"

    func secret(in request: HTTPRequest) -> String? {
        let name = isSecure(request) ? Self.secureName : Self.plainName
        for pair in (request.headers["Cookie"] ?? "").split(separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].filter({ $0 != " " }) == name else { continue }
            return String(parts[1])
        }
        return nil
    }

    func header(_ secret: String, for request: HTTPRequest) -> String {
        text(secret, request, lasting: "")
    }

    func removal(for request: HTTPRequest) -> String {
        text("", request, lasting: "; Max-Age=0")
    }

    private func text(_ value: String, _ request: HTTPRequest, lasting: String) -> String {
        let start =
            isSecure(request)
            ? "\(Self.secureName)=\(value); Secure" : "\(Self.plainName)=\(value)"
        return "\(start); Path=/; HttpOnly; SameSite=Strict\(lasting)"
    }

    private func isSecure(_ request: HTTPRequest) -> Bool {
        isEncrypted || request.headers["X-Forwarded-Proto"]?.lowercased() == "https"
    }
}
