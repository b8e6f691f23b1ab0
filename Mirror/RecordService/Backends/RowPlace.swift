internal import RecordWire

/// Where the rows of a transaction are: a backend may keep each container's apart, so that none
/// waits for another.
enum RowPlace: Hashable, Sendable {
    /// What is no container's: containers, users, tokens, contents of assets.
    case service
    /// What is one container's, with a look at the service's.
    case container(String)
}

extension DatabaseKey {
    var place: RowPlace { .container(container) }
}

extension Backend {
    /// As `read` at the service's place.
    func read<Result>(
        _ body: (any BackendTransaction) throws -> Result
    ) throws(RecordError) -> Result {
        try read(.service, body)
    }

    /// As `write` at the service's place.
    func write<Result>(
        _ body: (any BackendTransaction) throws -> Result
    ) throws(RecordError) -> Result {
        try write(.service, body)
    }

    func write<Result>(
        to key: DatabaseKey, _ body: (any BackendTransaction) throws -> Result
    ) throws(RecordError) -> Result {
        try write(key.place, body)
    }

    func places() throws(RecordError) -> [RowPlace] { [.service] }
    func settle() throws(RecordError) {}
    func sayWhatIsOwed() {}
    func file(of place: RowPlace) -> String? { nil }

    /// Does something at each place where records are. What fails at one hinders no other; it is
    /// thrown at the end.
    func atEachPlace(
        _ body: (RowPlace) throws(RecordError) -> Void
    ) throws(RecordError) {
        var failure: RecordError?
        for place in try places() {
            do throws(RecordError) {
                try body(place)
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }
}
