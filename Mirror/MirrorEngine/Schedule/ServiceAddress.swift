internal import Foundation

/// The address of a service in the one spelling by which it is told from others. All that
/// remembers or compares addresses goes by it.
package enum ServiceAddress {
    private static let standardPorts = ["https": 443, "http": 80]

    /// `text` with its scheme and host in small letters, and without the port of its scheme and the
    /// slashes at its end, which mean nothing; what is no address stays as it is.
    package static func spelled(_ text: String) -> String {
        guard var parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            let port = standardPorts[scheme], let host = parts.encodedHost
        else { return text }
        parts.scheme = scheme
        parts.encodedHost = host.lowercased()
        if parts.port == port { parts.port = nil }
        while parts.percentEncodedPath.hasSuffix("/") { parts.percentEncodedPath.removeLast() }
        return parts.string ?? text
    }
}
