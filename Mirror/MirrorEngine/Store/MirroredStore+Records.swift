internal import Foundation
package import Persistence
package import Platform
package import RecordWire
internal import SQLiteStore
package import Stores

// What an app asks of single objects and of a mirrored store's past.
extension MirroredStore {
    /// The store under the mirroring that it already has; nil for one that was never mirrored.
    package static func known(
        of store: NSPersistentStore, platform: Environment = .system
    ) throws -> MirroredStore? {
        guard let rows = store.rowStore as? SQLiteRowStore, rows.keepsHistory else { return nil }
        let mirrored = try MirroredStore(store: rows, platform: platform)
        let isKnown = try mirrored.read { try Ledger.exists(in: $0.ledger.connection) }
        return isKnown ? mirrored : nil
    }

    /// The record as it was last exchanged; nil for an object that the service does not have.
    package func exchangedRecord(of row: RowID) throws -> Record? {
        try read { mirror in
            guard try Ledger.exists(in: mirror.ledger.connection) else { return nil }
            return try mirror.ledger.entry(for: row)?.base
        }
    }

    /// The objects whose records were made by others than `user`, as far as the service told it.
    /// Cost: a look at each object's record.
    package func rowsMade(byOthersThan user: String) throws -> Set<RowID> {
        try read { mirror in
            guard try Ledger.exists(in: mirror.ledger.connection) else { return [] }
            var rows: Set<RowID> = []
            for entry in try mirror.ledger.entries("WHERE m.ZNEEDSCLOUDDELETE = 0", []) {
                guard let maker = entry.base?.created?.userRecordName, !maker.isExactly(user)
                else { continue }
                rows.insert(entry.row)
            }
            return rows
        }
    }

    /// An object's record, or a pair's, as it was last exchanged, also where it is deleted here;
    /// nil for one that the service does not have.
    package func exchangedRecord(named name: String) throws -> Record? {
        try read { mirror in
            guard try Ledger.exists(in: mirror.ledger.connection) else { return nil }
            return try mirror.ledger.exchanged(name)
        }
    }

    /// The name of an object's record; nil before it has one.
    package func recordName(of row: RowID) throws -> String? {
        try read { mirror in
            guard try Ledger.exists(in: mirror.ledger.connection) else { return nil }
            return try mirror.ledger.entry(for: row)?.recordName
        }
    }

    /// The name of the record that the service has of an object; nil before it has one.
    package func sentName(of row: RowID) throws -> String? {
        try read { mirror in
            guard try Ledger.exists(in: mirror.ledger.connection),
                let entry = try mirror.ledger.entry(for: row), entry.base != nil
            else { return nil }
            return entry.recordName
        }
    }

    /// Keeps a round that failed as an event.
    package func logFailure(_ kind: MirrorEvent.Kind, message: String, code: Int) throws {
        let now = settings.platform.clock.now()
        try write { mirror in
            _ = try mirror.ledger.prepare()
            try mirror.ledger.log(
                kind, started: now, affected: 0, finished: 0, error: message, errorCode: code)
        }
    }

    /// The record types of the model, by name; join records apart.
    package var recordSchema: [RecordType] { settings.mapping.recordTypesWithFields }
}

extension Ledger {
    /// The record of an object or a pair as it was last exchanged.
    func exchanged(_ name: String) throws -> Record? {
        try entry(named: name)?.base ?? pair(named: name)?.base
    }
}
