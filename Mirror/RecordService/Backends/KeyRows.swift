internal import Foundation

/// Rows of servers' keys, inside one transaction.
protocol KeyRows: AnyObject {
    /// Oldest first.
    func serverKeys() throws -> [ServerKeyRow]
    func serverKey(_ id: String) throws -> ServerKeyRow?
    func add(_ key: ServerKeyRow) throws
    func revokeServerKey(_ id: String, at milliseconds: Int64) throws -> Bool

    /// Takes note of a signature that is good until `end`, in milliseconds since 1970. Returns
    /// whether it was not known, whoever noted it.
    func noteSignature(_ mark: Data, ofKey id: String, until end: Int64) throws -> Bool
    /// Forgets signatures that are good no more, `limit` at most.
    func removeSignatures(before milliseconds: Int64, limit: Int) throws
}

struct ServerKeyRow {
    var key: ServerKey
    /// In DER.
    var publicKey: Data
}
