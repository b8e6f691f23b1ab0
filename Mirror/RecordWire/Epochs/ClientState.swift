/// What a client says of itself with a request, so that the service can tell when either of them
/// was restored or copied. (SERVICE §8, epochs)
public struct ClientState: Hashable, Sendable {
    /// Names the client's store file; random, and drawn anew when it turns out to be a copy.
    public var instance: String
    /// Rises with each round of requests.
    public var round: Int64
    /// Drawn for each round, so that two copies at the same round are told apart.
    public var nonce: String
    /// The newest change tag that the client has seen in the zone; nil before the first.
    public var witness: String?
    /// Asks for the IDs of the last writes with each record.
    public var wantsWriteIDs = false

    public init(instance: String, round: Int64, nonce: String, witness: String? = nil) {
        self.instance = instance
        self.round = round
        self.nonce = nonce
        self.witness = witness
    }
}

/// Says that a version of a record repeats one whose tag the service has lost. (SERVICE §8, epochs)
public struct Replay: Hashable, Sendable {
    /// The lost tag.
    public var tag: String
    /// The tag of the version that has the lost one's values and nothing else; nil in a request.
    public var version: String?

    public init(tag: String, version: String? = nil) {
        self.tag = tag
        self.version = version
    }
}
