internal import RecordServer

/// An address and a port: `127.0.0.1:8443`, `[::1]:8443`, `:8443` for all interfaces.
struct ListenAddress: Sendable {
    let address: String
    let port: UInt16

    init(_ text: String, of option: Option = Serve.listen) throws {
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { throw ListenAddress.refusal(of: text, option) }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        address = host.isEmpty || host == "*" ? "0.0.0.0" : host
        self.port = port
    }

    init(_ place: ListenPlace) {
        address = place.address
        port = place.port
    }

    var isLoopback: Bool { address == "localhost" || address == "::1" || address.hasPrefix("127.") }

    private static func refusal(of text: String, _ option: Option) -> CommandError {
        CommandError(
            "usage", "--\(option.name) cannot be '\(text)'.",
            hint: "Write ADDRESS:PORT, such as 127.0.0.1:8443; port 0 takes a free one.",
            status: .usage)
    }
}
