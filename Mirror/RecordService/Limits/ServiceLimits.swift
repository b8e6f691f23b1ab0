internal import RecordWire

/// How much one service takes. (SERVICE §6; Apple's figures where they differ are in brackets)
public struct ServiceLimits: Hashable, Sendable, Codable {
    /// Operations, names or zones of one request [200].
    public var operationsPerRequestMax = 2_000
    /// Bytes of one record's archived fields.
    public var recordBytesMax = 1_000_000
    /// Bytes of one request: of its body for the server, of its archived fields here.
    public var requestBytesMax = 8 << 20
    public var fieldsPerRecordMax = 256
    public var zonesPerDatabaseMax = 1000
    /// Bytes of UTF-8 of a record, type, field, zone or device name.
    public var nameBytesMax = 255

    /// What one answer may hold.
    public var pages = PageLimits()
    /// What one request may make the service do.
    public var work = WorkLimits()
    /// What the indexes of queries may cost one request.
    public var indexing = IndexingLimits()
    /// What is kept, and for how long.
    public var retention = RetentionLimits()
    /// The files beside the records.
    public var assets = AssetLimits()

    /// What one user may ask for, and one address without a good token.
    public var throttle = ThrottleLimits()

    public init() {}

    /// What a record costs in an answer beside its fields.
    static let recordOverheadBytes = 200
}

/// What one request may make the service do, whatever its own size.
public struct WorkLimits: Hashable, Sendable, Codable {
    /// Archived fields that one request may make the service write: a small edit of a large record
    /// writes the whole record.
    public var writtenBytesMax = 64 << 20
    /// Rows that one request for changes or one query may look at, also those it does not want.
    public var rowsMax = 20_000
    /// How long a request waits while another process writes, before TRY_AGAIN_LATER.
    public var lockWaitMilliseconds = 10_000
    /// Records that are deleted with one target (DELETE_SELF).
    public var sourcesMax = 750
    /// Records that one request deletes beside those it names.
    public var cascadeMax = 5_000
    /// Filters of one query.
    public var filtersMax = 32
    /// Sort keys of one query.
    public var sortsMax = 8
    /// Subscriptions of a user in one database, and bytes of one.
    public var subscriptionsMax = 100
    public var subscriptionBytesMax = 16_384
    /// Courier tokens of a user; the newest stay good.
    public var courierTokensMax = 32
    /// Indexes that a database has; beyond it one is given up for the next that a query needs.
    public var queryIndexesMax = 200
    /// Shares and those who take part in them.
    public var sharing = SharingLimits()

    public init() {}
}

/// What a service keeps, and for how long.
public struct RetentionLimits: Hashable, Sendable, Codable {
    /// What one user may keep, unless something else was set for that user.
    public var quota = UserQuota()
    /// Below this room on the disk the service calls itself not ready. It goes on all the same.
    public var freeDiskBytesMin: Int64 = 64 << 20
    /// Client stores that a zone remembers; beyond it those are forgotten that were away longest.
    public var instancesPerZoneMax = 1000
    /// Days after which deletions may be forgotten. Who was away longer reads the zone anew.
    public var deletionDaysMax = 180
    /// How far the date of a server's signature may be from the present; a signature that changed
    /// something is remembered as long, so that it is good once.
    public var signatureSkewSeconds = 600
    /// Days that a user's token is good which the console gives out, unless it is renewed; nil:
    /// without an end.
    public var userTokenDays: Int? = 365

    public init() {}
}

extension ServiceLimits {
    func bounded(by dialect: ServiceDialect) -> ServiceLimits {
        guard dialect == .plain else { return self }
        var bounded = self
        bounded.operationsPerRequestMax = min(operationsPerRequestMax, dialect.operationsMax)
        bounded.pages.resultsMax = min(pages.resultsMax, dialect.operationsMax)
        bounded.pages.changesMax = min(pages.changesMax, dialect.operationsMax)
        return bounded
    }

    /// Refuses more than the limit of things in one request.
    func checkCount(_ count: Int, of things: String) throws(RecordError) {
        guard count > operationsPerRequestMax else { return }
        throw RecordError.ofCount(
            "The request has \(count) \(things); at most \(operationsPerRequestMax) are taken. "
                + "Split it and send the parts.")
    }

    /// Refuses a name that is empty or too long.
    func checkName(_ name: String, of thing: String) throws(RecordError) {
        guard !name.isEmpty else {
            throw RecordError(.badRequest, "The \(thing) is empty; give one.")
        }
        guard name.utf8.count > nameBytesMax else { return }
        throw RecordError(
            .limitExceeded,
            "The \(thing) has \(name.utf8.count) bytes; at most \(nameBytesMax) are taken.")
    }
}
