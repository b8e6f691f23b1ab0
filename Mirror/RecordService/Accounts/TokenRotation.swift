/// How a service in the plain dialect replaces users' tokens: each answer carries another spelling
/// of the token it was asked with, and all spellings are good. (SERVICE §10)
package enum TokenRotation {
    package static let header = "X-Apple-CloudKit-Web-Auth-Token"
    /// No token that is issued has it.
    private static let mark: Character = "~"

    package static func next(after token: String, _ number: UInt64) -> String {
        "\(issued(token))\(mark)\(String(number, radix: 36))"
    }

    /// The token as it was issued.
    static func issued(_ token: String) -> String { String(token.prefix { $0 != mark }) }
}
