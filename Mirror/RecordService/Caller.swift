/// Who sends a request: the owner of the private database it goes to.
public struct Caller: Hashable, Sendable {
    public var userRecordName: String

    /// Names a caller whose identity somebody else has checked. `RecordService.authenticate` checks
    /// tokens.
    public init(userRecordName: String) { self.userRecordName = userRecordName }
}
