/// The tokens by which a service knows the caller. They never appear in a description or an error.
public struct Credentials: Hashable, Sendable {
    /// Names the app's access to the container (`ckAPIToken`).
    public var apiToken: String
    /// Names the user (`ckWebAuthToken`); nil for what needs none.
    public var userToken: String?

    public init(apiToken: String, userToken: String? = nil) {
        self.apiToken = apiToken
        self.userToken = userToken
    }

    /// Throws unless the tokens can stand in a header: visible ASCII without spaces.
    func check() throws {
        let isFit = [apiToken, userToken ?? ""].allSatisfy { token in
            token.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        }
        guard isFit else {
            throw TransportError(
                .badConfiguration,
                "A token holds a space or a character outside ASCII; copy it anew."
            )
        }
    }

    /// As headers, so that no token stands in an address.
    var headers: [(String, String)] {
        [("X-Diptych-API-Token", apiToken)]
            + (userToken.map { [("X-Diptych-User-Token", $0)] } ?? [])
    }

    /// As CloudKit Web Services takes them, percent-encoded. (SERVICE §2)
    var query: String {
        let pairs = [("ckAPIToken", apiToken)] + (userToken.map { [("ckWebAuthToken", $0)] } ?? [])
        return pairs.map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&")
    }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "Credentials(…)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Percent-encoding that leaves only what needs none anywhere in an address.
enum PercentEncoding {
    static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += byte < 16 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return encoded
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
