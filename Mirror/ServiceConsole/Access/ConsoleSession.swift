internal import Foundation
internal import RecordServer
internal import RecordService

/// Somebody who signed in.
struct ConsoleSession: Sendable {
    let bearer: TokenBearer
    /// Sent back in a header by the page that signed in.
    let requestToken: String
    let began: Date
    var used: Date
    /// When the token ends that a program shows with each request, and its next text; nil for a
    /// page's session.
    var outlook: TokenOutlook?

    var isAdministrator: Bool { bearer.isAdministrator }
    /// Names the session's user for limits.
    var user: String { bearer.userRecordName ?? "_administrator" }
    /// What the audit log calls who is signed in: by the token that was shown, else by the user.
    /// Several tokens may have one label.
    var actor: String {
        bearer.tokenID.map { "token \(bearer.label) (\($0))" } ?? "user \(user)"
    }
}

extension ConsoleSession {
    /// An answer that was given, with what is to be known of the token that was shown, as the
    /// service's other answers have it.
    func tell(in response: HTTPResponse) -> HTTPResponse {
        guard response.status == 200, let outlook else { return response }
        var response = response
        outlook.tell(in: &response.headers)
        return response
    }
}
