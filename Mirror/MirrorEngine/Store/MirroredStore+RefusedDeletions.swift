internal import RecordWire
internal import SQLiteStore
package import Stores

/// An object that was deleted here and stands at the service, which refused the deletion.
public struct RefusedDeletion: Hashable, Sendable {
    /// The name of its record.
    public let recordName: String
    /// Its entity's name; empty where the model has no such entity any more.
    public let entityName: String
    /// The service's words, after its code.
    public let reason: String
    /// Where it was, and will be again.
    package let row: RowID
}

extension MirroredStore {
    /// The deletions that the service refused: of what another made in the public database, or
    /// shares for reading only. Notes what was saved since the last round first. Throws what
    /// reading the store throws. Cost: a look at the refused lines.
    public func refusedDeletions() throws -> [RefusedDeletion] {
        guard try read({ try Ledger.exists(in: $0.ledger.connection) }) else { return [] }
        while try analyse().moreWaiting {}
        return try read { try $0.refusedDeletions() }
    }

    /// Brings an object back whose deletion the service refused: under its own record name, as the
    /// service has it, with the links that it has there. The deletion is forgotten, nothing is
    /// sent, and later changes come with the next round.
    ///
    /// Throws `MirrorError`: `.noRefusedDeletion` where there is none of that name,
    /// `.unknownEntity` where the model reads it no more, and `.keyTaken` where another object has
    /// its unique key. Cost: one transaction, a look at each object that waits for export.
    @discardableResult
    public func restore(refusedDeletionOf recordName: String) throws -> RestoredObject {
        try write { mirror in
            if try Ledger.exists(in: mirror.ledger.connection) {
                try catchUp(mirror)
                if let entry = try mirror.ledger.refusedDeletion(named: recordName),
                    let object = try takeBack([entry], mirror).first
                {
                    return object
                }
            }
            throw MirrorError(
                .noRefusedDeletion,
                "The service has refused no deletion of that object. 'diptych status' lists "
                    + "those it refused; 'diptych sync' tells of what waits.",
                fields: ["record": recordName])
        }
    }

    /// Brings all objects back whose deletion the service refused, in one transaction. Returns
    /// them. Throws as `restore(refusedDeletionOf:)` does, and changes nothing then.
    @discardableResult
    public func restoreRefusedDeletions() throws -> [RestoredObject] {
        try write { mirror in
            guard try Ledger.exists(in: mirror.ledger.connection) else { return [] }
            try catchUp(mirror)
            return try takeBack(try mirror.ledger.refusedDeletions(), mirror)
        }
    }

    func takeBack(
        _ entries: [RecordEntry], _ mirror: MirrorTransaction
    ) throws -> [RestoredObject] {
        guard !entries.isEmpty else { return [] }
        var importing = try RecordImport(mirror: mirror)
        let waiting: Set<RowID>
        do {
            waiting = Set(try importing.takeBack(entries).map(\.row))
        } catch let violation as UniquenessViolation {
            throw Self.taken(violation)
        }
        let objects = try entries.map { entry in
            try mirror.ledger.moveLines(
                ofRestored: entry.recordName, to: entry.recordName, isLocal: false,
                rules: DeletionRule.allCases.map(\.rawValue))
            try mirror.ledger.dropGrave(of: entry.recordName)
            return RestoredObject(
                recordName: entry.recordName,
                row: try mirror.ledger.row(named: entry.recordName) ?? entry.row,
                linksLost: try mirror.ledger.openLinks(of: entry.recordName),
                way: waiting.contains(entry.row) ? .comesWithNextRound : .tookBackDeletion)
        }
        try mirror.ledger.finish()
        return objects
    }
}

extension MirrorTransaction {
    /// What the service refused to delete, with its reasons.
    func refusedDeletions() throws -> [RefusedDeletion] {
        let reasons = try ledger.refusalReasons()
        return try ledger.refusedDeletions().map { entry in
            RefusedDeletion(
                recordName: entry.recordName,
                entityName: mapping.layout.entity(entry.row.entity)?.name ?? "",
                reason: reasons[ExactName(entry.recordName)] ?? "", row: entry.row)
        }
    }
}

extension Ledger {
    /// How many links of an object lead to what is not here.
    fileprivate func openLinks(of name: String) throws -> Int {
        try pendingLinks(of: name).count + waitingPairs(for: name).count
    }
}
