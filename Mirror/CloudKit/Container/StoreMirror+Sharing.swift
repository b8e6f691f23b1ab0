internal import Foundation
internal import MirrorEngine
internal import RecordWire

/// What is asked about shares, beside the rounds.
extension StoreMirror {
    /// The shares of the zone, as the last round told them.
    func shares() throws -> [CKShare] { try session.store.shares().map(share) }

    func share(_ record: Record) -> CKShare {
        CKShare(record, in: CKRecordZone.ID(session.store.zoneID), at: address.url)
    }

    /// A share of nothing yet: the record below which its objects will be, and itself. Throws
    /// `CKError`.
    func makeShare() async throws -> CKShare {
        let root = Record(
            recordName: session.store.newShareRootName, recordType: MirroredStore.shareRootType)
        var record = Record(
            recordName: "Share-\(root.recordName)", recordType: Record.shareType)
        record.sharedRoot = root.recordName
        record.publicPermission = ShareParticipant.Permission.none
        let operations = [RecordOperation(.create, root), RecordOperation(.create, record)]
        return share(try await modified(operations))
    }

    /// Writes a share, and keeps it as the service answers it. Throws `CKError`.
    func write(_ share: Record, _ kind: RecordOperation.Kind) async throws -> Record {
        try await modified([RecordOperation(kind, share)])
    }

    /// Ends a share. Throws `CKError`; one that is there no more is none.
    func end(_ name: String) async throws {
        do {
            _ = try await answers(
                [
                    RecordOperation(
                        .forceDelete, Record(recordName: name, recordType: Record.shareType))
                ])
        } catch let error as CKError where error.code == .unknownItem {
            // It ended already.
        }
        try session.store.drop(share: name)
    }

    /// Leaves the zone of another's: the round after it takes its objects out of the store. Throws
    /// `CKError`.
    func leave() async throws {
        let answer = try await ask(
            .modifyZones([ZoneOperation(.delete, session.store.zoneID)]))
        guard case .zones(let zones) = answer else { throw CKError.unexpected }
        if case .failure(let error)? = zones.first, error.code != .zoneNotFound {
            throw CKError(error)
        }
        do {
            _ = try await sync()
        } catch let error as CKError where error.code == .zoneNotFound {
            // As it was to be.
        }
    }

    private func modified(_ operations: [RecordOperation]) async throws -> Record {
        guard let stored = try await answers(operations).last else { throw CKError.unexpected }
        try session.store.keep(share: stored)
        return stored
    }

    private func answers(_ operations: [RecordOperation]) async throws -> [Record] {
        let request = ModifyRecords(
            operations: operations, zoneID: session.store.zoneID, atomic: true)
        guard case .records(let reply) = try await ask(.modifyRecords(request)) else {
            throw CKError.unexpected
        }
        return try reply.results.map { result in
            switch result {
            case .record(let record): record
            case .failure(let error): throw CKError(error)
            }
        }
    }
}
