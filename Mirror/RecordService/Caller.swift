/// Who sends a request: a user, or somebody of whom only the app is known.
public struct Caller: Hashable, Sendable {
    /// Empty for who is not signed in.
    public var userRecordName: String

    /// Names a caller whose identity somebody else has checked. `RecordService.authenticate` checks
    /// tokens.
    public init(userRecordName: String) { self.userRecordName = userRecordName }

    /// Who shows an app's token alone; may read public databases where the service lets the world
    /// read them.
    public static let world = Caller(userRecordName: "")

    var isWorld: Bool { userRecordName.isEmpty }
}
