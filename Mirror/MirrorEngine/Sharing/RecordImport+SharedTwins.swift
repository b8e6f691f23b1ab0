internal import RecordWire
internal import Stores

/// A participant may make an object with the unique key of one that its owner keeps to themself.
/// Were the two to become one within the share, what hangs on the owner's would follow it there,
/// for whoever guesses a key. So the owner's stays, outside, and takes the other in.
extension RecordImport {
    /// Whether the object called `name`, whose record is `own` (nil for one that is yet to be
    /// sent), stays out of the share in which `other` is, because a participant made that one,
    /// whichever is older: a guest may give an old one another key. All devices of the owner find
    /// the same.
    func staysOut(_ own: Record?, named name: String, besides other: Record?) throws -> Bool {
        guard !mirror.settings.isShared, own?.deleted != true, own?.parent == nil,
            own?.share == nil, let other, !other.deleted, other.parent != nil,
            let maker = other.created?.userRecordName,
            let owner = try mirror.ledger.zoneOwner() ?? own?.created?.userRecordName
                ?? mirror.ledger.userName()
        else { return false }
        return try !maker.isExactly(owner) && mirror.ledger.assignedParent(of: name) == nil
    }

    func staysOut(_ own: RecordEntry, besides other: RecordEntry) throws -> Bool {
        try staysOut(own.base, named: own.recordName, besides: other.base)
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
