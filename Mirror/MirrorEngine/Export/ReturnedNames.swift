internal import RecordWire
internal import SQLiteStore
internal import Stores

extension MirrorTransaction {
    /// An object is here whose deletion the service has, or may have: it goes on under another
    /// name, of which the old one is an alias as of `tag`. Returns the name.
    func renameReturned(
        _ entry: RecordEntry, insertedIn transaction: Int64, deletedAt tag: String?
    ) throws -> String {
        var naming = naming
        let name = try naming.recordName(of: entry.row, insertedIn: transaction)
        try ledger.rename(entry.recordName, to: name)
        try ledger.forgetInFlight(entry.recordName)
        try ledger.repoint(key: entry.key, to: entry.row, named: name)
        try keepForReturn(of: entry)
        try ledger.clearBase(key: entry.key)
        try ledger.keepAlias(entry.recordName, mergedInto: entry.key, at: tag)
        return name
    }
}
