internal import Foundation

/// What a record is called by one natural key of its type: a digest of the values, so that a key of
/// any length costs an index the same.
struct NaturalKeyValue: Hashable {
    /// The record type and the fields, such as `Book(isbn)`.
    let key: String
    let digest: Data
}

/// Rows of natural keys, inside one transaction. No two records of a zone have one value, which the
/// engine itself refuses, too.
protocol NaturalKeyRows: AnyObject {
    /// Who has this waits for all others who have it, and reads schemas as they are then. Zones are
    /// made, and keys of all zones declared, with it alone.
    func holdSchema(ofContainer name: String) throws
    /// Which records have these values.
    func holders(of values: [NaturalKeyValue], in zone: Int64) throws -> [NaturalKeyValue: String]
    /// Takes all values from these records. Cost: an index look for each.
    func removeKeys(of names: [String], in zone: Int64) throws
    func addKeys(_ entries: [(value: NaturalKeyValue, name: String)], in zone: Int64) throws
    /// Forgets one key of a zone's records, which is declared no more.
    func removeKey(_ key: String, in zone: Int64) throws
    /// The zones of an environment, whose writers wait from here on.
    func zonesForDeclaring(
        container: String, environment: String
    ) throws -> [(id: Int64, name: String, owner: String)]
}
