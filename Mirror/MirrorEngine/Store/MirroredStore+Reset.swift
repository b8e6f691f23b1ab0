internal import SQLiteStore
internal import Stores

extension MirroredStore {
    /// Forgets the service and starts over, with the same one or another. No object changes and no
    /// edit is lost: everything waits for upload, and is merged with what the service has.
    ///
    /// Returns whether the store was mirrored at all. It also mends mirroring tables that are
    /// damaged.
    @discardableResult
    public func reset() throws -> Bool {
        try write { mirror in
            guard try Ledger.exists(in: mirror.ledger.connection) else { return false }
            _ = try mirror.ledger.prepare()
            try mirror.ledger.mendBases()
            // Deletions are noted while it is known that the service has the objects.
            try catchUp(mirror)
            try mirror.ledger.forgetService(zone: settings.zoneName)
            try mirror.ledger.finish()
            return true
        }
    }
}
