internal import RecordWire

/// What a participant may do in a zone of another's.
final class ShareAccess: RecordAccess {
    private let user: String
    private let zone: Int64
    private let transaction: any BackendTransaction
    /// The shares that the user accepted, and whether records may be written.
    private let shares: [ExactName: Bool]
    /// What the request itself does to shares; nil where it only reads.
    weak var session: ShareSession?

    init(_ user: String, in zone: ZoneRow, _ transaction: any BackendTransaction) throws {
        self.user = user
        self.zone = zone.id
        self.transaction = transaction
        shares = Dictionary(
            try transaction.grants(of: user, in: zone.id).map { (ExactName($0.share), $0.writes) }
        ) { $0 || $1 }
    }

    private static let zoneWide = ExactName(Record.zoneShareName)

    /// With the zone's own share all of it is seen.
    var seesAll: Bool { shares[Self.zoneWide] != nil }

    /// The names of the shares.
    var names: [String] { shares.keys.map(\.text).sorted() }

    /// Whether the user may write records anywhere in the zone.
    var writesAnything: Bool { shares.values.contains(true) }

    func sees(_ row: RecordRow) throws -> Bool {
        if seesAll { return true }
        guard row.isDeleted else { return try share(of: row.name) != nil }
        return try names.contains { name in
            try transaction.member(row.name, of: name, in: zone) != nil
        }
    }

    /// The share, of those that the user accepted, that a record is in.
    private func share(of record: String) throws -> ExactName? {
        if seesAll { return Self.zoneWide }
        let name =
            try session.map { try $0.share(of: record) }
            ?? transaction.share(ofRecord: record, in: zone)
        return name.map { ExactName($0) }.flatMap { shares[$0] == nil ? nil : $0 }
    }

    // MARK: Operations

    func check(_ operation: RecordOperation, on row: RecordRow?) throws {
        let record = operation.record
        let isShare = record.isShare || row?.type.isExactly(Record.shareType) == true
        guard try row.map(sees) ?? false, let row else {
            return try checkUnseen(operation, row, isShare: isShare)
        }
        if isShare {
            guard isDeletion(operation) else { throw denied("Only its owner changes a share.") }
            return
        }
        try checkWriting(to: row)
        if isDeletion(operation) { return try checkDeletion(of: row) }
        guard !row.isDeleted else { return try checkPlace(of: record) }
        try checkAsked(record)
        guard record.fields[SharingField.parent] != nil, !seesAll else { return }
        try checkPlace(of: record)
    }

    /// Of what is not seen nothing is told, but that its name cannot be had.
    private func checkUnseen(
        _ operation: RecordOperation, _ row: RecordRow?, isShare: Bool
    ) throws {
        switch operation.kind {
        case .update, .replace, .delete:
            throw RecordService.notFound(operation.record.recordName, wasDeleted: false)
        case .create, .forceUpdate, .forceReplace, .forceDelete:
            guard row == nil, !isShare else {
                throw denied("The share does not let you use this name.")
            }
        }
        guard operation.kind != .forceDelete || seesAll else {
            throw RecordService.notFound(operation.record.recordName, wasDeleted: false)
        }
        try checkAsked(operation.record)
        try checkPlace(of: operation.record)
    }

    private func isDeletion(_ operation: RecordOperation) -> Bool {
        operation.kind == .delete || operation.kind == .forceDelete
    }

    private func checkWriting(to row: RecordRow) throws {
        guard !row.isDeleted else {
            guard writesAnything else { throw readOnly }
            return
        }
        guard let share = try share(of: row.name), shares[share] == true else { throw readOnly }
    }

    private func checkDeletion(of row: RecordRow) throws {
        guard let share = try share(of: row.name), !row.isDeleted,
            try transaction.share(named: share.text, in: zone)?.root?.isExactly(row.name) == true
        else { return }
        throw denied("Only the owner deletes the record that is shared.")
    }

    /// Whether the record will be in a share that the user may write to.
    private func checkPlace(of record: Record) throws {
        if seesAll {
            guard shares[Self.zoneWide] == true else { throw readOnly }
            return
        }
        guard writesAnything else { throw readOnly }
        guard let parent = record.parent, let share = try share(of: parent), shares[share] == true
        else {
            throw denied(
                "The record would be outside of the share; name a parent in it that you may write "
                    + "to.")
        }
    }

    private func checkAsked(_ record: Record) throws {
        guard record.createsShortGUID else { return }
        throw denied("Only the owner gives a record a short GUID.")
    }

    private func denied(_ reason: String) -> RecordError { RecordError(.accessDenied, reason) }

    private var readOnly: RecordError {
        denied("The share is open to you for reading only.")
    }
}
