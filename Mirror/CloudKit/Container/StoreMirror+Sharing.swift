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
