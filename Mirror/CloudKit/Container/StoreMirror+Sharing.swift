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

    private var requests: ZoneShares { ZoneShares(session.store) }

    /// A share of nothing yet: the record below which its objects will be, and itself. Throws
    /// `CKError`.
    func makeShare() async throws -> CKShare {
        share(try await stored(requests.creation()))
    }

    /// Writes a share, and keeps it as the service answers it. Throws `CKError`.
    func write(_ share: Record, _ kind: RecordOperation.Kind) async throws -> Record {
        try await stored(requests.write(share, kind))
    }

    private func stored(_ request: RecordRequest) async throws -> Record {
        let answer = try await ask(request)
        do {
            return try requests.takeShare(answer)
        } catch {
            throw CKError(error)
        }
    }

    /// Ends a share. Throws `CKError`; one that is there no more is none.
    func end(_ name: String) async throws {
        let answer = try await ask(requests.end(of: name))
        do {
            try requests.takeEnd(of: name, answer)
        } catch {
            throw CKError(error)
        }
    }

    /// The user whose objects alone may be deleted: in the public database the one who is signed
    /// in, after a round, so that what others made is known; nil elsewhere. Throws `CKError`.
    func onlyMaker() async throws -> String? {
        guard isPublic else { return nil }
        _ = try await sync()
        guard let userName else {
            throw CKError(.notAuthenticated, "Nobody is signed in, and has made anything.")
        }
        return userName
    }

    /// Deletes the records of the own zone that rounds leave at the service: what this store cannot
    /// read or is not to have, and that below which objects were shared. Returns whether there were
    /// any. Throws `CKError`. Cost: one reading of the zone, without values.
    func deleteRecords() async throws -> Bool {
        var areAny = false
        var token: String?
        while true {
            var zone = ZoneChanges.Zone(zoneID: session.store.zoneID, syncToken: token)
            zone.desiredKeys = []
            let answer = try await ask(.zoneChanges(ZoneChanges(zones: [zone])))
            guard case .zoneChanges(let pages) = answer, let page = pages.first else {
                throw CKError.unexpected
            }
            if let failure = page.failure { throw CKError(failure) }
            let records = page.records.filter { !$0.deleted && !$0.isShare }
            areAny = areAny || !records.isEmpty
            for first in stride(from: 0, to: records.count, by: Self.deletionsMax) {
                try await delete(records[first..<min(first + Self.deletionsMax, records.count)])
            }
            guard page.moreComing, page.syncToken != token else { return areAny }
            token = page.syncToken
        }
    }

    /// As many as any service takes in one request.
    private static let deletionsMax = 200

    private func delete(_ records: ArraySlice<Record>) async throws {
        let operations = records.map { record in
            RecordOperation(
                .forceDelete,
                Record(recordName: record.recordName, recordType: record.recordType))
        }
        let answer = try await ask(
            .modifyRecords(
                ModifyRecords(operations: operations, zoneID: session.store.zoneID)))
        guard case .records(let reply) = answer else { throw CKError.unexpected }
        for case .failure(let error) in reply.results where error.code.canonical != .notFound {
            throw CKError(error)
        }
    }

    /// Leaves the zone of another's: the round after it takes its objects out of the store. Throws
    /// `CKError`.
    func leave() async throws {
        let answer = try await ask(requests.leaving)
        do {
            try ZoneShares.takeLeaving(answer)
        } catch {
            throw CKError(error)
        }
        do {
            _ = try await sync()
        } catch let error as CKError where error.code == .zoneNotFound {
            // As it was to be.
        }
    }
}
