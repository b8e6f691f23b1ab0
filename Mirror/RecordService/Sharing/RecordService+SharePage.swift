internal import Foundation
package import RecordWire

/// What whoever has the address of a public share is told of it.
package struct PublicShare: Sendable {
    /// What the owner calls it; nil where that is no plain text.
    package var title: String?
    package var permission: ShareParticipant.Permission
    package var container: String
    package var environment: String
    /// Whether all records of a zone are shared.
    package var isZone: Bool
}

extension RecordService {
    private static let titleField = "cloudkit.title"
    private static let titleLengthMax = 200

    /// The share behind a short GUID, for who shows no token. nil where there is none, and where it
    /// is for those alone who were invited: strangers cannot tell the one from the other. Cost: one
    /// row by its key.
    package func publicShare(shortGUID: String) throws(RecordError) -> PublicShare? {
        guard (1...limits.nameBytesMax).contains(shortGUID.utf8.count) else { return nil }
        guard let container = try backend.read({ try $0.container(ofShortGUID: shortGUID) })
        else { return nil }
        return try backend.read(.container(container)) { transaction in
            guard let row = try transaction.share(shortGUID: shortGUID),
                let database = try transaction.database(row.database),
                let zone = try transaction.zone(named: row.zoneName, in: database.id),
                zone.id == row.zone, !zone.isDeleted,
                let stored = try transaction.record(named: row.name, in: zone.id),
                !stored.isDeleted
            else { return nil }
            // One that cannot be read is named to its owner, by the requests about it.
            guard let share = try? stored.record(in: ZoneID(zoneName: row.zoneName)),
                let permission = share.publicPermission, permission != .none
            else { return nil }
            var title: String?
            if case .string(let text)?? = share.fields[Self.titleField] {
                // One character of a text may be as long as its owner likes.
                title = String(text.unicodeScalars.prefix(Self.titleLengthMax))
            }
            return PublicShare(
                title: title, permission: permission, container: row.database.container,
                environment: row.database.environment, isZone: row.root == nil)
        }
    }
}
