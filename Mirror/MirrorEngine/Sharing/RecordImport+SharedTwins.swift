internal import RecordWire
internal import Stores

/// A participant may make an object with the unique key of one that its owner keeps to themself.
/// Were the two to become one within the share, what hangs on the owner's would follow it there,
/// for whoever guesses a key. So the owner's stays, outside, and takes the other in.
extension RecordImport {
    /// Whether `own` stays out of the share in which `other` is, because a participant made that
    /// one later. All devices of the owner find the same, by the service's stamps.
    func staysOut(_ own: Record?, besides other: Record?) throws -> Bool {
        guard !mirror.settings.isShared, let own, let other, !own.deleted, !other.deleted,
            own.parent == nil, own.share == nil, other.parent != nil,
            // What this device sent itself has no date of its making here.
            let made = own.created ?? own.modified, let madeLater = other.created,
            made.timestamp < madeLater.timestamp, let maker = madeLater.userRecordName,
            let owner = try mirror.ledger.zoneOwner() ?? own.created?.userRecordName
        else { return false }
        return try !maker.isExactly(owner)
            && mirror.ledger.assignedParent(of: own.recordName) == nil
    }

    /// Lets the object stay out of shares whatever it is linked with, on all devices, until its
    /// owner shares it.
    func keepOut(_ row: RowID) throws {
        try mirror.ledger.keepForeign([RecordNames.staysOut: .int64(1)], of: row)
        try mirror.enqueueUpload(row)
    }
}

extension Record {
    /// The record without its place in a share.
    var unshared: Record {
        var record = self
        record.fields[SharingField.parent] = nil
        return record
    }
}

extension Ledger {
    /// Whose zone it is, as its shares say.
    fileprivate func zoneOwner() throws -> String? {
        try shares().lazy.compactMap { share in
            share.participants?.first { $0.kind == .owner }?.identity.userRecordName
        }.first
    }
}
