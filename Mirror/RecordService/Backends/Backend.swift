internal import Foundation
internal import RecordWire

/// Where a service keeps its rows. Rules live above it; a backend only reads and writes.
protocol Backend: Sendable {
    /// Runs `body` on one consistent view of the rows at a place. Any number of calls run at once.
    /// `body` may run again where the connection to the rows went.
    func read<Result>(
        _ place: RowPlace, _ body: (any BackendTransaction) throws -> Result
    ) throws(RecordError) -> Result

    /// Runs `body` in a transaction: all its writes are kept when it returns, none when it throws.
    /// `body` may run again, after all it had written was undone: where another transaction was in
    /// its way, or the connection to the rows went before the end.
    ///
    /// From the moment at which it reads the row of a database or a zone, nobody else changes that
    /// row, and what belongs to the database, until it ends. Throws TRY_AGAIN_LATER, too, where
    /// nobody knows whether the end was reached.
    func write<Result>(
        _ place: RowPlace, _ body: (any BackendTransaction) throws -> Result
    ) throws(RecordError) -> Result

    /// As `write` at the place of a database of records whose row `body` reads first: its writers
    /// come one after another, and those who wait leave room for others.
    func write<Result>(
        to key: DatabaseKey, _ body: (any BackendTransaction) throws -> Result
    ) throws(RecordError) -> Result

    /// The places where records are.
    func places() throws(RecordError) -> [RowPlace]
    /// The file in which a place's rows are; nil where they are in none of their own.
    func file(of place: RowPlace) -> String?
    /// Brings what the service's place knows of the others up to date: which contents records let
    /// go of, and what a place that was put back from a backup holds. Called before contents that
    /// nobody names are looked for. What fails at one place hinders no other.
    func settle() throws(RecordError)

    /// The version of the rows of accounts, which changes with each commit to them; nil where it is
    /// not to be had for less than reading one.
    func accountsVersion() -> RowsVersion?

    /// Whether another process may have written since this was last asked.
    func wasChangedElsewhere() throws(RecordError) -> Bool
    /// Calls `heard` at once with what another process says that it has done.
    func listen(_ heard: @escaping @Sendable (CommitNotice) -> Void)
    /// Says to other processes what may have been committed. Returns at once.
    func announce(_ notice: CommitNotice)
    /// Says what could not be said when it was announced. Called once in a while; returns at once.
    func sayWhatIsOwed()

    /// What is wrong with where the rows are, in its own words; empty where it is sound.
    func damage() throws(RecordError) -> [String]
    /// Removes what is left of deleted zones now, instead of a slice at a time beside other work.
    func removeDoomedRecords() throws(RecordError)

    /// What who watches the service wants to know. Cost: next to nothing.
    func facts() -> BackendFacts
    /// Throws unless the rows can be read, and written where that was not possible last.
    func probe() throws
}

extension Backend {
    func accountsVersion() -> RowsVersion? { nil }
    func listen(_ heard: @escaping @Sendable (CommitNotice) -> Void) {}
    func announce(_ notice: CommitNotice) {}
}

/// The rows, inside one transaction.
protocol BackendTransaction: AssetRows, IdentityRows, KeyRows, NaturalKeyRows, PasswordRows,
    ProfileTransaction,
    QueryTransaction,
    ReferenceTransaction, RoleTransaction, SchemaTransaction, ShareTransaction,
    SubscriptionTransaction, UsageRows
{
    func database(_ key: DatabaseKey) throws -> DatabaseRow?
    func makeDatabase(_ key: DatabaseKey, incarnation: UInt64) throws -> DatabaseRow
    func save(_ database: DatabaseRow) throws

    func zone(named name: String, in database: Int64) throws -> ZoneRow?
    /// Live zones by name.
    func zones(in database: Int64) throws -> [ZoneRow]
    /// Zones, also deleted ones, that changed after `change`, in the order of their changes.
    func zones(in database: Int64, changedAfter change: Int64, limit: Int) throws -> [ZoneRow]
    func makeZone(named name: String, in database: Int64, incarnation: UInt64) throws -> ZoneRow
    func save(_ zone: ZoneRow) throws

    /// Says which records will be asked for next, so that they may be read together.
    func expect(records names: [String], in zone: Int64) throws
    func record(named name: String, in zone: Int64) throws -> RecordRow?
    /// Rows that `save` will name again, unless it names later ones of their names: a backend may
    /// begin with them while others are made ready.
    func begin(saving records: ArraySlice<RecordRow>, in zone: Int64) throws
    /// Adds rows or replaces those of the same names.
    func save(_ records: [RecordRow], in zone: Int64) throws
    /// The zone without its records, which are out of sight at once and removed later.
    func emptied(_ zone: ZoneRow, in database: Int64) throws -> ZoneRow
    /// Gives the rows that `reading` asks for, in its order, until `body` returns false.
    func records(
        _ reading: FeedReading, _ body: (FeedEntry) throws -> Bool
    ) throws -> FeedEnd

    /// The epoch of the newest start of a service over these rows.
    func currentEpoch() throws -> UInt64
    /// What tells the service from all others, for as long as it has its accounts.
    func serviceID() throws -> UInt64
    /// The newest time that the database knows of; nil where none was noted yet.
    func clockMark() throws -> ClockMark?
    func save(_ mark: ClockMark) throws
    /// A place's epochs, oldest first.
    func epochs(of place: CountedPlace, _ id: Int64) throws -> [EpochLine.Epoch]
    func add(_ epoch: EpochLine.Epoch, to place: CountedPlace, _ id: Int64) throws
    /// Forgets the epochs before one.
    func removeEpochs(
        of place: CountedPlace, _ id: Int64, before epoch: EpochLine.Epoch) throws
    func instance(_ id: String, in zone: Int64) throws -> InstanceRow?
    func save(_ instance: InstanceRow, in zone: Int64) throws
    func instanceCount(in zone: Int64) throws -> Int
    /// Forgets all instances but the `instancesMax` that were seen last.
    func removeInstances(in zone: Int64, but instancesMax: Int) throws
    /// Forgets the `limit` oldest deletions of records before `milliseconds`. Returns the highest
    /// change forgotten of each zone.
    func removeDeletions(before milliseconds: Int64, limit: Int) throws -> [Int64: Int64]
    func raiseFloor(of zone: Int64, to change: Int64) throws
    /// Forgets all deleted zones but the `zonesMax` that changed last. Returns the last change of
    /// the database that is forgotten by it.
    func removeDeletedZones(in database: Int64, but zonesMax: Int) throws -> Int64?

    func fieldUse(_ field: FieldKey, in database: Int64) throws -> FieldUse?
    /// By record type and field, at most `limit`.
    func fieldUses(in database: Int64, limit: Int) throws -> [(FieldKey, FieldUse)]
    /// Keeps the use; one of no record is forgotten.
    func save(_ use: FieldUse, of field: FieldKey, in database: Int64) throws

    /// What each environment of a container holds. Looks at every record.
    func usage() throws -> [ContainerUsage]
    func containers() throws -> [String]
    func hasContainer(_ name: String) throws -> Bool
    func addContainer(_ name: String, at milliseconds: Int64) throws
    func users() throws -> [ServiceUser]
    func add(_ user: ServiceUser, at milliseconds: Int64) throws
    func tokens() throws -> [TokenRow]
    func token(_ id: String) throws -> TokenRow?
    func add(_ token: TokenRow) throws
    /// Gives a token another text, or another end. Returns false, and changes nothing, where it
    /// has not the text of this hash any more.
    func renew(_ token: TokenRow, from hash: Data) throws -> Bool
    func revokeToken(_ id: String, at milliseconds: Int64) throws -> Bool
    /// Forgets up to `limit` tokens that were revoked or ended before then, and remembers that some
    /// were. Returns how many.
    func removeTokens(goneBefore milliseconds: Int64, limit: Int) throws -> Int
    /// Whether some token was forgotten.
    func hasForgottenTokens() throws -> Bool
    /// Notes when the token was shown last.
    func noteUse(ofToken id: String, at milliseconds: Int64) throws
}

extension BackendTransaction {
    func expect(records names: [String], in zone: Int64) throws {}
    func begin(saving records: ArraySlice<RecordRow>, in zone: Int64) throws {}
}

struct DatabaseRow {
    let id: Int64
    /// Raised by every change of a zone.
    var counter: Int64
    /// Drawn when the row was made.
    let incarnation: UInt64
    /// Zones that were deleted at or before this change are forgotten.
    var floor: Int64
}

struct ZoneRow {
    var id: Int64
    let name: String
    /// Drawn whenever the zone is made; tokens of earlier incarnations are void.
    var incarnation: UInt64
    /// Deletions at or below this change are forgotten.
    var floor: Int64
    /// The last change number given to a record. It never falls, not even when the zone is made
    /// again.
    var counter: Int64
    /// The database's counter when this zone changed last; 0 keeps it out of the database's feed.
    var databaseChange: Int64
    var isDeleted: Bool
}

struct RecordRow {
    var name: String
    var type: String
    /// The place in the zone's order of changes; the change tag is made of it and the epoch.
    var change: Int64
    /// The epoch that wrote the change, as the zone's line has it.
    var epoch: UInt64 = 0
    var isDeleted: Bool
    /// Archived; empty on a deleted record.
    var fields: Data
    var created: RecordStamp
    var modified: RecordStamp
    /// The IDs of the last writes, newest first.
    var writeIDs: [String] = []
    /// Versions of a lost time that this one contains, newest first.
    var replays: [Replay] = []
}

struct TokenRow {
    var description: TokenDescription
    var hash: Data
    /// nil for a token without an end.
    var life: TokenLife?
}
