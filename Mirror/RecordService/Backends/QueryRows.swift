internal import Foundation

/// One index of a record type in a database.
struct QueryIndexRow {
    let id: Int64
    let recordType: String
    let key: QueryIndexKey
    var progress: Progress

    /// How far the records that were there before the index are in it.
    enum Progress: Equatable {
        case whole
        /// The zone and the record that were looked at last.
        case through(zone: Int64, name: String)

        static let none = Progress.through(zone: 0, name: "")
    }
}

/// A value of a record in an index.
struct QueryEntry: Hashable {
    let form: QueryForm
    let name: String
}

/// One entry of an index.
struct IndexEntry {
    let index: Int64
    let form: QueryForm
    /// The record that has the value.
    let name: String
}

/// Which entries of an index to read, in their order or backwards.
struct EntryReading {
    let index: Int64
    let zone: Int64
    let range: FormRange
    let descending: Bool
    /// Read on behind this entry.
    var after: QueryEntry?
    var limit: Int
}

/// The rows of queries, inside one transaction.
protocol QueryTransaction: AnyObject {
    /// All indexes of a database.
    func queryIndexes(in database: Int64) throws -> [QueryIndexRow]
    /// Makes an empty index, of which no record is in yet.
    func makeQueryIndex(
        _ key: QueryIndexKey, of recordType: String, in database: Int64
    ) throws -> QueryIndexRow
    func save(_ index: QueryIndexRow) throws
    /// The indexes of a database that have no entry.
    func emptyQueryIndexes(in database: Int64) throws -> [Int64]
    /// Removes an index that has no entries any more.
    func removeQueryIndex(_ id: Int64) throws
    /// Removes up to `limit` entries of an index in one zone. Returns how many it was.
    func removeEntries(ofIndex index: Int64, in zone: Int64, limit: Int) throws -> Int
    /// Removes all entries of records.
    func removeEntries(ofRecords names: [String], in zone: Int64) throws
    func removeEntries(_ entries: [IndexEntry], in zone: Int64) throws
    /// Adds entries, each given once; those that are there stay.
    func addEntries(_ entries: [IndexEntry], in zone: Int64) throws
    func entries(_ reading: EntryReading) throws -> [QueryEntry]
    /// How many entries there are, up to the reading's limit.
    func countEntries(_ reading: EntryReading) throws -> Int
    /// Gives the live records of a zone by name, until `body` returns false.
    func liveRecords(
        in zone: Int64, after name: String, _ body: (RecordRow) throws -> Bool) throws

    /// Whether the field may be queried in all environments of the container.
    func isDeclared(_ field: String, of recordType: String, container: String) throws -> Bool
    func declare(_ field: String, of recordType: String, container: String) throws
    func declarations(container: String) throws -> [(recordType: String, field: String)]
}
