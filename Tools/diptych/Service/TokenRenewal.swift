internal import Foundation
internal import MirrorTransport
internal import RecordWire

/// Brings a token file its token's next text, where the service has one for it. (SERVICE §2)
struct TokenRenewal {
    let service: URL
    let container: String
    let file: URL
    let limits: CurlLimits

    private static let rotation = "x-apple-cloudkit-web-auth-token"
    private static let end = "x-diptych-token-expires"
    private static let textBytesMax = 200

    /// The former text stays good until the service has seen the new one, so that nothing is lost
    /// where this ends between the answer and the file, or runs twice.
    func run(_ console: Console) throws {
        let tokens = try TokenFile.read(file).credentials
        guard let user = tokens.userToken else {
            throw CommandError(
                "noTokens", "\(file.path) holds no user's token.",
                hint: "An app's token alone has no end; there is nothing to renew.")
        }
        let answer = try ask(api: tokens.apiToken, user: user)
        let next = answer.headers[Self.rotation].flatMap(Self.token)
        var end = answer.headers[Self.end].flatMap { ISO8601DateFormatter().date(from: $0) }
        if let next, next != user {
            try TokenFile.replaceUserToken(by: next, in: file)
            // The service learns that it arrived, and says when it ends.
            let arrived = try ask(api: tokens.apiToken, user: next)
            end = arrived.headers[Self.end].flatMap { ISO8601DateFormatter().date(from: $0) }
        }
        tell(isNew: next != nil, end, console)
    }

    private func tell(isNew: Bool, _ end: Date?, _ console: Console) {
        let end = end.map { ISO8601DateFormatter().string(from: $0) }
        if console.isJSON {
            console.emit(["renewed": .bool(isNew), "expiresAt": JSON(end)])
        } else {
            let until = end.map { "is good until \($0)" } ?? "has no end"
            console.note("The token \(isNew ? "is renewed and " : "")\(until).")
        }
    }

    private func ask(api: String, user: String) throws -> CurlAnswer {
        let path = "/database/1/\(container)/development/private/users/caller"
        let answer = try CurlHandle(limits: limits).answer(
            to: CurlCall(
                method: "GET", url: service.absoluteString + path,
                headers: [("X-Diptych-API-Token", api), ("X-Diptych-User-Token", user)],
                body: Data()))
        guard answer.status != 200 else { return answer }
        let error = try? WireCodec.decodeError(answer.body)
        throw CommandError(
            error?.code.rawValue ?? "badAnswer",
            error?.reason ?? "The service does not answer as a record service.",
            hint: "`diptych sign-in` with another --token-file gets new tokens; then put that file "
                + "in the place of this one.",
            status: error?.code.isTransient == true ? .tryAgain : .failed)
    }

    /// nil for what is no token: nothing else gets into the file.
    private static func token(_ text: String) -> String? {
        let isToken =
            (1...textBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "~"):
                    true
                default: false
                }
            }
        return isToken ? text : nil
    }
}
