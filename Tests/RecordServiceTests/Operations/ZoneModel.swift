import RecordWire

/// A record as plain values, deleted or not.
struct ModelRecord: Sendable {
    var type: String
    /// Without what belongs to sharing.
    var fields: [String: FieldValue] = [:]
    var parent: String?
    var share: ModelShare?
    /// nil until the service told it.
    var tag: String?
    var isDeleted = false
    var creator: Int
    /// The shares that it is or was in, for which its deletion is told.
    var everIn: Set<String> = []
}

/// What a record of type `cloudkit.share` says.
struct ModelShare: Sendable, Equatable {
    struct Participant: Sendable, Equatable {
        var writes: Bool
        var hasAccepted = false
        var isPublic = false
    }
    var root: String?
    var permission = ShareParticipant.Permission.none
    var participants: [Int: Participant] = [:]
    var shortGUID: String?
}

/// The rules of one zone, over dictionaries.
struct ZoneModel: Sendable {
    /// Raised when the zone is made anew.
    var incarnation = 0
    var records: [String: ModelRecord] = [:]

    func live(_ name: String) -> ModelRecord? {
        records[name].flatMap { $0.isDeleted ? nil : $0 }
    }

    var liveRecords: [(name: String, record: ModelRecord)] {
        records.filter { !$0.value.isDeleted }.map { ($0.key, $0.value) }
            .sorted { $0.name < $1.name }
    }

    // MARK: Shares

    /// The record above all others above this one.
    private func top(of name: String) -> String? {
        var name = name
        for _ in 0...records.count {
            guard let record = live(name) else { return nil }
            guard let parent = record.parent else { return name }
            name = parent
        }
        return nil
    }

    /// The share of the whole zone, or the one whose root a record is or is below of.
    func share(of name: String) -> String? {
        if live(Record.zoneShareName) != nil { return Record.zoneShareName }
        if let share = live(name)?.share { return share.root == nil ? nil : name }
        guard let top = top(of: name) else { return nil }
        return share(ofRoot: top)
    }

    func share(ofRoot root: String) -> String? {
        liveRecords.first { $0.record.share?.root == root }?.name
    }

    /// The shares that a user accepted, and whether records may be written.
    func shares(acceptedBy user: Int) -> [String: Bool] {
        var found: [String: Bool] = [:]
        for (name, record) in liveRecords {
            guard let participant = record.share?.participants[user], participant.hasAccepted
            else { continue }
            found[name] = participant.writes
        }
        return found
    }

    /// The records that a participant sees.
    func visible(to user: Int) -> Set<String> {
        let shares = shares(acceptedBy: user)
        return Set(
            liveRecords.map(\.name).filter { name in
                share(of: name).map { shares[$0] != nil } ?? false
            })
    }

    /// The other record that has the same value in a field.
    func holder(of field: String, like record: ModelRecord, except name: String) -> String? {
        guard let value = record.fields[field] else { return nil }
        return liveRecords.first {
            $0.name != name && $0.record.type == record.type && $0.record.fields[field] == value
        }?.name
    }

    /// Whether two records have the same value in a field: `Note.title`.
    func hasDuplicates(of key: String) -> Bool {
        liveRecords.contains { name, record in
            guard key.hasPrefix(record.type + ".") else { return false }
            let field = String(key.dropFirst(record.type.count + 1))
            return holder(of: field, like: record, except: name) != nil
        }
    }

    /// Notes which shares records are in, for when they are deleted.
    mutating func noteMembers() {
        for (name, _) in liveRecords {
            if let share = share(of: name) { records[name]?.everIn.insert(share) }
        }
    }
}

/// Why the model refuses.
struct ModelRefusal: Error {
    let code: RecordError.Code
    init(_ code: RecordError.Code) { self.code = code }
}

/// One operation with its words settled.
struct ModelOperation {
    var kind: RecordOperation.Kind
    var name: String
    var type: String
    /// The tag that is sent, and whether it is that of the record.
    var tag: String?
    var fields: RecordFields = [:]
    var parent: String??
    var share: ModelShare?
    /// Of a share: whether a list of participants is sent.
    var givesParticipants = false
    var permission: ShareParticipant.Permission?

    var isDeletion: Bool { kind == .delete || kind == .forceDelete }
    var mayCreate: Bool {
        kind == .create || kind == .forceUpdate || kind == .forceReplace
    }
    /// As the request says it, whatever is there.
    var isShare: Bool { type == Record.shareType }
}

/// What the zone is part of.
struct ModelSurroundings {
    /// Whether records have parents and shares here.
    var takesShares: Bool
    var isPublic: Bool
    var actor: Int
    /// The types that fields have in other zones of the database: `Note.title`.
    var types: [String: String] = [:]
    /// The types that production takes; nil: all.
    var schema: [String: String]?
    /// The fields that are unique in a zone: `Note.title`.
    var keys: Set<String> = []
    /// Records in other zones of the owner, and how many there may be.
    var recordsElsewhere = 0
    var recordsMax: Int?
    /// The contents that other zones of the database name.
    var contents: Set<String> = []
    /// The contents of good receipts of the actor for this database.
    var receipts: [String: String] = [:]
    /// Throws what who may not do it hears.
    var check: (ModelOperation, ZoneModel) throws -> Void = { _, _ in }
    /// Who takes part in a zone of another's.
    var participant: Int?
}
