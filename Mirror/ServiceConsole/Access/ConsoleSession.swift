internal import Foundation
internal import RecordService

/// Somebody who signed in.
struct ConsoleSession: Sendable {
    let bearer: TokenBearer
    /// Sent back in a header by the page that signed in.
    let requestToken: String
    let began: Date
    var used: Date

    var isAdministrator: Bool { bearer.isAdministrator }
    /// Names the session's user for limits.
    var user: String { bearer.userRecordName ?? "_administrator" }
}
