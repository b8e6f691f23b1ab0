internal import Foundation

/// Rows of servers' keys, inside one transaction.
protocol KeyRows: AnyObject {
    /// Oldest first.
    func serverKeys() throws -> [ServerKeyRow]
    func serverKey(_ id: String) throws -> ServerKeyRow?
    func add(_ key: ServerKeyRow) throws
    func revokeServerKey(_ id: String, at milliseconds: Int64) throws -> Bool
}

struct ServerKeyRow {
    var key: ServerKey
    /// In DER.
    var publicKey: Data
}
