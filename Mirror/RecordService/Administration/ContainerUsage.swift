/// What one environment of a container holds.
public struct ContainerUsage: Hashable, Sendable {
    public var container: String
    public var environment: String
    /// Users who have a database here.
    public var users: Int
    public var zones: Int
    public var records: Int
    /// Deletions that are remembered for devices that were away.
    public var deletions: Int
    /// Of the records' fields as they are stored.
    public var bytes: Int64
}
