/// What one user may keep in private databases, over all containers and environments; nil: as much
/// as there is room for. Assets have a limit of their own.
public struct UserQuota: Hashable, Sendable, Codable {
    public var recordsMax: Int64?
    /// Of records' fields, as they are stored.
    public var bytesMax: Int64?

    public init(recordsMax: Int64? = nil, bytesMax: Int64? = nil) {
        self.recordsMax = recordsMax
        self.bytesMax = bytesMax
    }
}
