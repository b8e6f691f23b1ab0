/// Who sends a request: the owner of the private database it goes to.
public struct Caller: Hashable, Sendable {
    public var userRecordName: String
    /// The token that was shown: addresses of assets that are given out end with it.
    public var tokenID: String?

    /// Names a caller whose identity somebody else has checked. `RecordService.authenticate` checks
    /// tokens.
    public init(userRecordName: String, tokenID: String? = nil) {
        self.userRecordName = userRecordName
        self.tokenID = tokenID
    }
}
