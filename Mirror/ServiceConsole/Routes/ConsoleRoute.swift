internal import Foundation
internal import RecordServer
internal import RecordWire

/// A path of the console, taken apart.
enum ConsoleRoute {
    case file(SiteFile)
    case elsewhere(String)
    case signIn
    /// How one may sign in.
    case ways
    /// The browser goes to the provider, and comes back.
    case leave, comeBack
    /// A device asks to be let in.
    case device
    /// A device asks what became of it.
    case deviceOutcome
    case inquiry(Inquiry)

    /// What somebody who is signed in wants.
    enum Inquiry {
        case session, signOut, changePassword
        case status
        case containers, addContainer
        case users, addUser
        case tokens, issueToken
        case revokeToken(String)
        case lookAtDevice, settleDevice
        case schema(RecordTarget)
        case administration(Administration)
        case storage(StorageAdministration)
        /// An operation of the protocol.
        case operation(String, RecordTarget)
    }

    /// Throws NOT_FOUND and BAD_REQUEST.
    init(_ request: HTTPRequest) throws(RecordError) {
        let words = request.path.split(separator: "/", omittingEmptySubsequences: true).dropFirst()
            .map { String($0).removingPercentEncoding ?? "" }
        guard words.first == "api" else {
            self = try Self.page(words, request)
            return
        }
        self = try Self.asked(Array(words.dropFirst()), request.method)
    }

    private static func page(
        _ words: [String], _ request: HTTPRequest
    ) throws(RecordError) -> ConsoleRoute {
        if words.isEmpty, request.path.hasSuffix("/") { return .elsewhere("/console") }
        if request.method == "GET", words == ["sign-in"] { return .leave }
        if request.method == "GET", words == ["signed-in"] { return .comeBack }
        guard ["GET", "HEAD"].contains(request.method), words.count < 2,
            let file = SiteFile(words.first ?? "")
        else { throw notHere }
        return .file(file)
    }

    private static func asked(
        _ words: [String], _ method: String
    ) throws(RecordError) -> ConsoleRoute {
        switch (method, words.first, words.count) {
        case ("POST", "session", 1): return .signIn
        case ("GET", "ways", 1): return .ways
        case ("GET", "session", 1): return .inquiry(.session)
        case ("DELETE", "session", 1): return .inquiry(.signOut)
        case ("POST", "password", 1): return .inquiry(.changePassword)
        case ("POST", "device", 1): return .device
        case ("POST", "device", 2) where words[1] == "token": return .deviceOutcome
        case ("POST", "device", 2) where words[1] == "look": return .inquiry(.lookAtDevice)
        case ("POST", "device", 2) where words[1] == "approval":
            return .inquiry(.settleDevice)
        case ("GET", "status", 1): return .inquiry(.status)
        case ("GET", "containers", 1): return .inquiry(.containers)
        case ("POST", "containers", 1): return .inquiry(.addContainer)
        case ("GET", "users", 1): return .inquiry(.users)
        case ("POST", "users", 1): return .inquiry(.addUser)
        case ("GET", "tokens", 1): return .inquiry(.tokens)
        case ("POST", "tokens", 1): return .inquiry(.issueToken)
        case ("DELETE", "tokens", 2): return .inquiry(.revokeToken(words[1]))
        case ("GET", "schema", 4): return .inquiry(.schema(target(words)))
        case ("POST", "database", 5...):
            return .inquiry(.operation(words[4...].joined(separator: "/"), target(words)))
        default:
            if let asked = StorageAdministration(method, words) {
                return .inquiry(.storage(asked))
            }
            guard let asked = Administration(method, words) else { throw notHere }
            return .inquiry(.administration(asked))
        }
    }

    private static func target(_ words: [String]) -> RecordTarget {
        RecordTarget(
            container: words[1], environment: words[2], database: words[3], deviceID: "console")
    }

    private static let notHere = RecordError(
        .notFound, "The console has nothing at this path, or not for this method.")
}
