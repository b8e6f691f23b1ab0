package import Foundation
package import RecordWire

/// What is asked of the service about the shares of a store's zone, beside the rounds. It makes
/// requests and takes their answers; whoever has a channel carries them.
package struct ZoneShares: Sendable {
    private let mirrored: MirroredStore

    package init(_ mirrored: MirroredStore) { self.mirrored = mirrored }

    // MARK: The owner's

    /// Makes a share of nothing yet: the record below which its objects will be, and itself.
    /// `permission` is what those may do who know its address.
    package func creation(
        title: String? = nil, permission: ShareParticipant.Permission = .none
    ) -> RecordRequest {
        let root = ShareRoot.record(named: mirrored.newShareRootName)
        var share = Self.share(named: "Share-\(root.recordName)", title, permission)
        share.sharedRoot = root.recordName
        return modification([RecordOperation(.create, root), RecordOperation(.create, share)])
    }

    /// Makes a share of the whole zone: all its objects, now and later.
    package func creationOfWhole(
        title: String? = nil, permission: ShareParticipant.Permission = .none
    ) -> RecordRequest {
        let share = Self.share(named: Record.zoneShareName, title, permission)
        return modification([RecordOperation(.create, share)])
    }

    /// Writes a share as it is given.
    package func write(_ share: Record, _ kind: RecordOperation.Kind) -> RecordRequest {
        modification([RecordOperation(kind, share)])
    }

    /// Changes who takes part in a share that is known, without its owner.
    package func change(
        of share: Record, _ body: (inout [ShareParticipant]) -> Void
    ) -> RecordRequest {
        var change = Record(
            recordName: share.recordName, recordType: Record.shareType,
            recordChangeTag: share.recordChangeTag)
        var list = (share.participants ?? []).filter { $0.kind != .owner }
        body(&list)
        change.publicPermission =
            share.publicPermission ?? ShareParticipant.Permission.none
        change.participants = list
        return write(change, .update)
    }

    /// Ends a share: nobody takes part any more.
    package func end(of name: String) -> RecordRequest {
        modification([
            RecordOperation(.forceDelete, Record(recordName: name, recordType: Record.shareType))
        ])
    }

    /// The share that an answer tells, kept as the service has it. Throws its `RecordError`.
    package func takeShare(_ answer: RecordResponse) throws -> Record {
        guard let share = try Self.records(answer).last else { throw Self.unexpected }
        try mirrored.keep(share: share)
        return share
    }

    /// Takes note that a share has ended; one that is there no more is none. Throws `RecordError`.
    package func takeEnd(of name: String, _ answer: RecordResponse) throws {
        do {
            _ = try Self.records(answer)
        } catch let error as RecordError where error.code.canonical == .notFound {
            // It ended already.
        }
        try mirrored.drop(share: name)
    }

    // MARK: The participant's

    /// Asks what short GUIDs lead to.
    package static func resolution(of shortGUIDs: [String]) -> RecordRequest {
        .resolveShares(ShareLookup(shortGUIDs.map { .init(shortGUID: $0) }))
    }

    /// Takes part in shares.
    package static func acceptance(of shortGUIDs: [String]) -> RecordRequest {
        .acceptShares(ShareLookup(shortGUIDs.map { .init(shortGUID: $0) }))
    }

    /// What an answer says of short GUIDs. Throws the first refusal.
    package static func metadata(_ answer: RecordResponse) throws -> [ShareMetadata] {
        guard case .shares(let results) = answer else { throw unexpected }
        return try results.map { result in
            switch result {
            case .share(let found): found
            case .failure(let error): throw error
            }
        }
    }

    /// Leaves the zone of another's; the round after it takes the zone's objects out of the store.
    package var leaving: RecordRequest {
        .modifyZones([ZoneOperation(.delete, mirrored.zoneID)])
    }

    /// Throws the refusal of an answer to `leaving`; a zone that is closed already is left.
    package static func takeLeaving(_ answer: RecordResponse) throws {
        guard case .zones(let zones) = answer else { throw unexpected }
        if case .failure(let error)? = zones.first, error.code.canonical != .zoneNotFound {
            throw error
        }
    }

    // MARK: Requests

    /// The short GUID in the address of a share, or the word itself.
    package static func shortGUID(in invitation: String) -> String {
        guard invitation.contains("/"), let url = URL(string: invitation) else { return invitation }
        return url.lastPathComponent
    }

    /// The address of a share at a service, for those who are invited.
    package static func invitation(to share: Record, at service: URL) -> URL? {
        share.shortGUID.map { service.appendingPathComponent("share/\($0)") }
    }

    private static func share(
        named name: String, _ title: String?, _ permission: ShareParticipant.Permission
    ) -> Record {
        var share = Record(recordName: name, recordType: Record.shareType)
        share.publicPermission = permission
        share.shareTitle = title
        return share
    }

    private func modification(_ operations: [RecordOperation]) -> RecordRequest {
        .modifyRecords(
            ModifyRecords(operations: operations, zoneID: mirrored.zoneID, atomic: true))
    }

    private static func records(_ answer: RecordResponse) throws -> [Record] {
        guard case .records(let reply) = answer else { throw unexpected }
        return try reply.results.map { result in
            switch result {
            case .record(let record): record
            case .failure(let error): throw error
            }
        }
    }

    private static let unexpected = RecordError(
        .badRequest, "The service answered with something else than was asked for.")
}

extension Record {
    private static let titleKey = "cloudkit.title"

    /// Of a share: what its owner calls it.
    package var shareTitle: String? {
        get { if case .string(let text)?? = fields[Self.titleKey] { text } else { nil } }
        set { fields[Self.titleKey] = newValue.map { .some(.string($0)) } }
    }
}
