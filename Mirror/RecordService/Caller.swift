/// Who sends a request: a user, or somebody of whom only the app is known.
public struct Caller: Hashable, Sendable {
    /// Empty for who is not signed in.
    public var userRecordName: String
    /// The token or key that was shown: addresses of assets that are given out end with it.
    public var tokenID: String?

    /// Names a caller whose identity somebody else has checked. `RecordService.authenticate` checks
    /// tokens.
    public init(userRecordName: String, tokenID: String? = nil) {
        self.userRecordName = userRecordName
        self.tokenID = tokenID
    }

    /// Who shows an app's token alone; may read public databases where the service lets the world
    /// read them.
    public static let world = Caller(userRecordName: "")

    var isWorld: Bool { userRecordName.isEmpty }
}
