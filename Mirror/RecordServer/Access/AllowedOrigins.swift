internal import Foundation

/// The pages of other addresses that browsers may let ask a service, and read its answers. (CORS)
public struct AllowedOrigins: Sendable, Hashable {
    /// For all containers.
    private var everywhere: Set<String> = []
    private var ofContainer: [String: Set<String>] = [:]

    public init() {}

    public var isEmpty: Bool { everywhere.isEmpty && ofContainer.isEmpty }

    /// Lets pages of `origin`, such as `https://notes.example.org`, ask for records of a container;
    /// of all for nil. Returns false, and lets in nobody, for what is no origin as browsers spell
    /// one: a scheme and a host in small letters, and a port that is not the scheme's own.
    public mutating func allow(_ origin: String, container: String? = nil) -> Bool {
        guard Self.isOrigin(origin) else { return false }
        if let container {
            ofContainer[container, default: []].insert(origin)
        } else {
            everywhere.insert(origin)
        }
        return true
    }

    /// Whether pages of `origin` may ask about `container`; for nil, which is what belongs to none,
    /// those of any container may.
    func allows(_ origin: String, container: String?) -> Bool {
        if everywhere.contains(origin) { return true }
        guard let container else { return ofContainer.values.contains { $0.contains(origin) } }
        return ofContainer[container]?.contains(origin) ?? false
    }

    private static func isOrigin(_ text: String) -> Bool {
        guard text.utf8.count <= 300, let parts = URLComponents(string: text),
            let scheme = parts.scheme, ["http", "https"].contains(scheme),
            let host = parts.host, !host.isEmpty
        else { return false }
        let isStandard = parts.port == (scheme == "http" ? 80 : 443)
        let port = parts.port.map { ":\($0)" } ?? ""
        return !isStandard && text == "\(scheme)://\(host)\(port)" && host == host.lowercased()
            && host.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
