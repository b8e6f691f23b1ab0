internal import RecordServer

/// The cookie that holds a session's secret. No script reads it, and no other site's page sends it.
struct ConsoleCookie: Sendable {
    /// Whether the server itself speaks TLS; where it does not, a proxy before it may.
    let isEncrypted: Bool
    var name = "diptych-console"
    /// From which other pages a browser sends it: by `Lax` it comes along where another site sends
    /// the browser here.
    var sameSite = "Strict"

    /// A browser takes a cookie of this prefix over TLS only, and for one host only.
    private var secureName: String { "__Host-\(name)" }

    func secret(in request: HTTPRequest) -> String? {
        let name = isSecure(request) ? secureName : self.name
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
            ? "\(secureName)=\(value); Secure" : "\(name)=\(value)"
        return "\(start); Path=/; HttpOnly; SameSite=\(sameSite)\(lasting)"
    }

    private func isSecure(_ request: HTTPRequest) -> Bool {
        isEncrypted || request.headers["X-Forwarded-Proto"]?.lowercased() == "https"
    }
}
