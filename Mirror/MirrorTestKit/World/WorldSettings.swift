public import MirrorEngine
public import ObjectModel
public import RecordWire

/// What a simulated world is made of. Faults are chosen by dice per world, so that some worlds have
/// only lost replies, others only kills, others none.
public struct WorldSettings: Sendable {
    public var model: NSManagedObjectModel
    public var devices = 2
    /// Steps before everything calms down.
    public var steps = 60
    public var policy = MergePolicy()
    public var faults = WorldFaults()
    public var sizes = WorldSizes()
    public var edits = EditWeights()
    /// The next version of the model, where devices are updated on the way; in the end all are.
    public var laterModel: NSManagedObjectModel?
    /// How often a device is updated, per step.
    public var updatePercent = 0
    /// Requests and answers travel as the bytes of the wire, with tokens, as from afar, and records
    /// in them in this format where the service takes it; nil: as values.
    public var wireFormat: WireFormat?
    /// How the service speaks.
    public var dialect = ServiceDialect.extended
    /// Devices fetch the next page while one is applied, and build the next batch while one is
    /// under way, when the dice say so.
    public var worksAhead = false

    public init(model: NSManagedObjectModel) { self.model = model }

    /// Requests and answers travel as the bytes of the wire; in JSON, unless said otherwise.
    public var usesWire: Bool {
        get { wireFormat != nil }
        set { wireFormat = newValue ? wireFormat ?? .json : nil }
    }
}

/// How devices come to the keys of sealed attributes. In the end all have all.
public struct WorldSealing: Hashable, Sendable {
    /// A device begins without a key.
    public var keylessPercent = 50
    /// A device is given the keys that there are; per step.
    public var arrivalPercent = 4
    /// A device adds a key, which the others lack; per step.
    public var rotationPercent = 2

    public init() {}
}

/// How a world's owner shares with another user, and what devices choose to send. Percentages count
/// per step.
public struct WorldSharing: Hashable, Sendable {
    /// The other user's devices.
    public var guests = 0
    /// A device chooses what it sends. In the end all send everything.
    public var selectionPercent = 0
    /// The owner shares a few objects, or all.
    public var sharePercent = 15
    public var sharesZone = false
    /// A device of the other user takes part, once that is allowed.
    public var acceptPercent = 30
    /// The other user may read only, or write again.
    public var permissionPercent = 0
    /// The other user takes part no more; later again.
    public var revokePercent = 0
    /// Nobody takes part in the end; else the other user may write.
    public var endsRevoked = false

    public init() {}
}

/// Percentages at which things go wrong. Those of a message count per request, the others per step.
public struct WorldFaults: Hashable, Sendable {
    // MARK: Messages
    public var lostRequestPercent = 0
    /// The service did it, and its answer is lost.
    public var lostReplyPercent = 0
    /// A request arrives a second time, later.
    public var duplicatePercent = 0
    /// The service answers that it is busy.
    public var busyPercent = 0
    /// The service puts off single records of a request.
    public var recordErrorPercent = 0
    /// The service does not know the sync token any more.
    public var tokenExpiryPercent = 0

    // MARK: Devices
    /// A device is killed between two instructions.
    public var killPercent = 0
    /// A device is killed at a named point inside a transaction.
    public var crashPointPercent = 0
    /// A save is taken back before it is committed; per edit.
    public var rollbackPercent = 0
    public var devices = DeviceFaults()
    public var service = ServiceTroubles()
    public var lostTime = LostTimeFaults()

    public init() {}
}

/// What users do to a device that is hard on it.
public struct DeviceFaults: Hashable, Sendable {
    /// A second process runs rounds on the same file.
    public var hasSecondProcess = false
    /// Seconds by which the devices' clocks differ from the world's, at most.
    public var clockSkewSecondsMax = 0
    /// `reset` is called, also in the middle of a round.
    public var resetPercent = 0
    /// A value that the service finds too large; per edit.
    public var oversizedPercent = 0
    /// Devices have and lack keys, where the model has sealed attributes; nil: none has any.
    public var sealing: WorldSealing?
    /// Another user takes part, or devices choose what they send; nil: neither.
    public var sharing: WorldSharing?
    /// What the service refused is taken back, or what a merge discarded put back; per step.
    public var takeBackPercent = 0
}

/// What befalls the service.
public struct ServiceTroubles: Hashable, Sendable {
    /// It is killed, between its transactions or at a point inside one, and opens its file again.
    public var killPercent = 0
    /// Its disk is full for a while.
    public var diskFullPercent = 0
    /// The users' tokens are revoked for a while.
    public var revokedPercent = 0
    /// It does not make zones for a while.
    public var zoneRefusedPercent = 0
    /// It forgets all deletions there are, as after their time, while no round runs.
    public var forgetPercent = 0
}

/// What takes the service or a device back in time.
public struct LostTimeFaults: Hashable, Sendable {
    /// The service is put back to an earlier copy of its file.
    public var serviceRestorePercent = 0
    /// An empty service stands in its place.
    public var serviceLossPercent = 0
    /// Somebody deletes the zone.
    public var zoneLossPercent = 0
    /// A device's file is put back to an earlier copy, ledger and all.
    public var storeRestorePercent = 0
    /// A device's file is replaced by a copy of another's, ledger and all.
    public var storeCopyPercent = 0

    /// Whether any of it may happen, so that the oracle's memory is not what must be there.
    var isPossible: Bool {
        serviceRestorePercent + serviceLossPercent + zoneLossPercent + storeRestorePercent
            + storeCopyPercent > 0
    }
}

/// How much goes into one piece. Small pieces make small worlds meet what large ones meet.
public struct WorldSizes: Hashable, Sendable {
    /// Records in one page of changes.
    public var pageRecordsMax = 400
    /// Records in one batch of a device.
    public var batchRecordsMax = 400
    /// Transactions of the history that a device looks at in one go.
    public var historyTransactionsMax = 500
    /// Records in one request, as the service takes them.
    public var operationsPerRequestMax = 400
    /// Bytes of a value above which it is an asset; nil for as many as devices really have.
    public var assetValueBytesMax: Int?
    /// Bytes of one record, as the service takes it.
    public var recordBytesMax = 1_000_000

    public init() {}
}

/// What becomes of deletions.
public struct DeletionWeights: Hashable, Sendable {
    /// One is undone after it was saved, in percent of the edits.
    public var undoPercent = 0
    /// One takes what hangs on the object in the same save, in percent of the deletions.
    public var cascadePercent = 0

    public init() {}
}

/// How often an edit is of a kind, as shares of their sum.
public struct EditWeights: Hashable, Sendable {
    public var insert = 30
    public var change = 30
    public var count = 10
    public var relink = 12
    public var pair = 10
    public var delete = 8
    /// A member of an ordered list moves.
    public var move = 4
    /// An object with a unique key is made; 0 in models without.
    public var key = 0
    /// How many unique keys there are to draw from.
    public var keysCount = 12
    public var deletions = DeletionWeights()
    /// Edits go to so many of the oldest objects of each entity, where devices meet; 0 for all.
    public var focus = 0
    /// Edits begin at objects of these entities, by name; none for all.
    public var entities: Set<String> = []

    public init() {}

    var sum: Int { insert + change + count + relink + pair + delete + move + key }
}
