import RecordWire

/// What one request does to a zone.
struct ModelRequest {
    private(set) var zone: ZoneModel
    private let surroundings: ModelSurroundings
    private let named: Set<String>
    private var validated: Set<String> = []
    /// In whose way those are that were refused for a key.
    private var holders: [String: String] = [:]
    /// Whether records that operations wrote are there.
    private var written: [String: Bool] = [:]
    /// What the feed tells afterwards.
    private(set) var changed: Set<String> = []
    private(set) var made: Set<String> = []

    enum Outcome {
        /// A refusal's code, or nil, for each operation.
        case results([RecordError.Code?])
        case refused(RecordError.Code)
    }

    init(_ zone: ZoneModel, _ surroundings: ModelSurroundings, _ operations: [ModelOperation]) {
        self.zone = zone
        self.surroundings = surroundings
        named = Set(operations.map(\.name))
    }

    mutating func perform(_ operations: [ModelOperation], atomic: Bool) -> Outcome {
        let before = self
        var codes: [RecordError.Code?] = operations.map { _ in nil }
        let order =
            operations.indices.filter { !operations[$0].isShare }
            + operations.indices.filter { operations[$0].isShare }
        for index in order { codes[index] = code(of: operations[index]) }
        repeatWhereKeysAreFree(operations, &codes)
        if atomic, codes.contains(where: { $0 != nil }) {
            self = before
            return .results(codes.map { $0 ?? .atomicError })
        }
        do {
            try finish()
        } catch {
            self = before
            return .refused((error as? ModelRefusal)?.code ?? .internalError)
        }
        return .results(codes)
    }

    private mutating func code(of operation: ModelOperation) -> RecordError.Code? {
        let former = self
        do {
            try surroundings.check(operation, zone)
            try apply(operation)
            zone.noteMembers()
            return nil
        } catch let refusal as ModelRefusal {
            let found = holders
            self = former
            holders = found
            return refusal.code
        } catch { return .internalError }
    }

    private mutating func repeatWhereKeysAreFree(
        _ operations: [ModelOperation], _ codes: inout [RecordError.Code?]
    ) {
        for _ in 0..<8 {
            var hasMoved = false
            for index in operations.indices.reversed() where codes[index] == .uniqueFieldError {
                guard named.contains(holders[operations[index].name] ?? "") else { continue }
                codes[index] = code(of: operations[index])
                if codes[index] == nil { hasMoved = true }
            }
            guard hasMoved else { return }
        }
    }

    private mutating func checkKeys(of record: ModelRecord, _ name: String) throws {
        for field in ["count", "title"] where surroundings.keys.contains("\(record.type).\(field)")
        {
            guard let holder = zone.holder(of: field, like: record, except: name) else { continue }
            holders[name] = holder
            throw ModelRefusal(.uniqueFieldError)
        }
    }

    private mutating func apply(_ operation: ModelOperation) throws {
        let row = zone.records[operation.name]
        let live = zone.live(operation.name)
        if let user = surroundings.participant, row?.share != nil {
            return leave(operation.name, user)
        }
        switch operation.kind {
        case .create:
            guard live == nil else { throw ModelRefusal(.exists) }
            if let row {
                guard let tag = operation.tag else { throw ModelRefusal(.exists) }
                guard tag == row.tag else { throw ModelRefusal(.conflict) }
            }
            try write(operation, over: nil, keeping: false)
        case .update, .replace:
            guard let row else { throw ModelRefusal(.notFound) }
            guard let tag = operation.tag else { throw ModelRefusal(.badRequest) }
            guard tag == row.tag, live != nil else { throw ModelRefusal(.conflict) }
            try write(operation, over: live, keeping: operation.kind == .update)
        case .forceUpdate: try write(operation, over: live, keeping: true)
        case .forceReplace: try write(operation, over: live, keeping: false)
        case .delete, .forceDelete:
            guard row != nil || operation.kind == .forceDelete else {
                throw ModelRefusal(.notFound)
            }
            if let row, row.isDeleted { return }
            if operation.kind == .delete, let tag = operation.tag, tag != row?.tag {
                throw ModelRefusal(.conflict)
            }
            try delete(operation.name)
        }
    }

    private mutating func leave(_ share: String, _ user: Int) {
        zone.records[share]?.share?.participants[user] = nil
        touch(share)
    }

    private mutating func touch(_ name: String) {
        zone.records[name]?.tag = nil
        changed.insert(name)
    }

    // MARK: Writing

    private mutating func write(
        _ operation: ModelOperation, over live: ModelRecord?, keeping: Bool
    ) throws {
        if let live, live.type != operation.type { throw ModelRefusal(.badRequest) }
        var record = ModelRecord(
            type: operation.type, creator: live?.creator ?? surroundings.actor)
        record.everIn = zone.records[operation.name]?.everIn ?? []
        if keeping { record.fields = live?.fields ?? [:] }
        let given = try operation.fields.mapValues { try $0.map(settled) }
        for (name, value) in given { record.fields[name] = value }
        record.parent = live?.parent
        record.share = live?.share
        try settleSharing(&record, operation, live)
        try checkTypes(given, of: operation.type)
        try checkKeys(of: record, operation.name)
        try checkQuota(over: live)
        if live != nil { try checkMove(of: operation.name, below: record.parent) }
        try checkReferences(of: record)
        written[operation.name] = true
        zone.records[operation.name] = record
        touch(operation.name)
        if live == nil { made.insert(operation.name) }
        if live == nil, let root = record.share?.root { touch(root) }
    }

    /// An asset by its checksum alone.
    private func settled(_ value: FieldValue) throws -> FieldValue {
        guard case .asset(let asset) = value else { return value }
        var kept = RecordAsset()
        if let receipt = asset.receipt {
            guard let content = surroundings.receipts[receipt] else {
                throw ModelRefusal(.assetNotFound)
            }
            kept.fileChecksum = content
        } else {
            let content = asset.fileChecksum ?? ""
            let isNamed =
                surroundings.participant == nil
                && (surroundings.contents.contains(content) || zone.contents.contains(content))
            guard isNamed else { throw ModelRefusal(.assetNotFound) }
            kept.fileChecksum = content
        }
        return .asset(kept)
    }

    private func checkTypes(_ given: RecordFields, of type: String) throws {
        guard type != Record.shareType else { return }
        if let schema = surroundings.schema {
            guard schema[type] != nil else { throw ModelRefusal(.badRequest) }
            for (name, value) in given {
                guard let value else { continue }
                guard schema["\(type).\(name)"] == value.schemaType else {
                    throw ModelRefusal(.badRequest)
                }
            }
        }
        let here = zone.types
        for (name, value) in given {
            guard let value,
                let known = here["\(type).\(name)"]
                    ?? surroundings.types["\(type).\(name)"]
            else { continue }
            guard known == value.schemaType else { throw ModelRefusal(.badRequest) }
        }
    }

    private func checkQuota(over live: ModelRecord?) throws {
        guard live == nil, let most = surroundings.recordsMax, !surroundings.isPublic else {
            return
        }
        guard surroundings.recordsElsewhere + zone.liveRecords.count < most else {
            throw ModelRefusal(.quotaExceeded)
        }
    }

    /// Who takes part takes nothing out of a share.
    private func checkMove(of name: String, below parent: String?) throws {
        guard surroundings.participant != nil, let parent else { return }
        guard zone.share(of: parent) == zone.share(of: name) else {
            throw ModelRefusal(.accessDenied)
        }
    }

    private mutating func checkReferences(of record: ModelRecord) throws {
        for target in record.bound {
            guard zone.live(target) != nil || named.contains(target) else {
                throw ModelRefusal(.validatingReferenceError)
            }
        }
        validated.formUnion(record.bound)
    }

    // MARK: Sharing

    private func settleSharing(
        _ record: inout ModelRecord, _ operation: ModelOperation, _ live: ModelRecord?
    ) throws {
        let asks = operation.parent != nil || operation.isShare
        guard surroundings.takesShares else {
            if asks { throw ModelRefusal(.badRequest) }
            return
        }
        if operation.isShare { return try settleShare(&record, operation, live) }
        guard let given = operation.parent else { return }
        record.parent = given
        guard let parent = given else { return }
        guard zone.share(ofRoot: operation.name) == nil || live == nil else {
            throw ModelRefusal(.badRequest)
        }
        var above: String? = parent
        while let name = above {
            guard name != operation.name else { throw ModelRefusal(.badRequest) }
            above = zone.live(name)?.parent
        }
    }

    private func settleShare(
        _ record: inout ModelRecord, _ operation: ModelOperation, _ live: ModelRecord?
    ) throws {
        var share = live?.share ?? ModelShare(root: operation.share?.root)
        if live == nil {
            try checkNewShare(operation)
        } else if let root = operation.share?.root, root != share.root {
            throw ModelRefusal(.badRequest)
        }
        share.permission = operation.permission ?? share.permission
        if operation.givesParticipants {
            let given = operation.share?.participants ?? [:]
            share.participants = given.reduce(into: [:]) { list, entry in
                var participant = share.participants[entry.key] ?? .init(writes: false)
                participant.writes = entry.value.writes
                list[entry.key] = participant
            }
        }
        for (user, participant) in share.participants where participant.isPublic {
            if share.permission == .none {
                share.participants[user] = nil
            } else {
                share.participants[user]?.writes = share.permission == .readWrite
            }
        }
        record.share = share
    }

    private func checkNewShare(_ operation: ModelOperation) throws {
        let shares = zone.liveRecords.filter { $0.record.share != nil }
        let isOfZone = operation.share?.root == nil
        guard zone.live(Record.zoneShareName) == nil, !isOfZone || shares.isEmpty else {
            throw ModelRefusal(.badRequest)
        }
        guard let root = operation.share?.root else { return }
        guard let record = zone.live(root) else { throw ModelRefusal(.notFound) }
        guard record.share == nil, record.parent == nil, zone.share(ofRoot: root) == nil else {
            throw ModelRefusal(.badRequest)
        }
    }

    // MARK: Deleting

    private mutating func delete(_ name: String) throws {
        let sources = zone.liveRecords.filter { $0.record.bound.contains(name) }.map(\.name)
        guard sources.allSatisfy({ named.contains($0) || $0 == name }) else {
            throw ModelRefusal(.validatingReferenceError)
        }
        bury(name)
    }

    private mutating func bury(_ name: String) {
        written[name] = false
        let live = zone.live(name)
        let share = live.flatMap { _ in zone.share(ofRoot: name) }
        var tombstone =
            zone.records[name] ?? ModelRecord(type: "", creator: surroundings.actor)
        tombstone.isDeleted = true
        tombstone.fields = [:]
        tombstone.parent = nil
        tombstone.share = nil
        zone.records[name] = tombstone
        touch(name)
        if let share { bury(share) }
        if let root = live?.share?.root, zone.live(root) != nil { touch(root) }
        if live?.share != nil {
            // What was in it is nobody's to hear of any more.
            for key in zone.records.keys { zone.records[key]?.everIn.remove(name) }
        }
    }

    private mutating func finish() throws {
        var waiting = written.filter { !$0.value }.map(\.key).sorted()
        while let target = waiting.popLast() {
            for (name, record) in zone.liveRecords where record.goesWith.contains(target) {
                bury(name)
                waiting.append(name)
            }
        }
        for (name, isThere) in written where !isThere {
            guard !zone.liveRecords.contains(where: { $0.record.bound.contains(name) }) else {
                throw ModelRefusal(.validatingReferenceError)
            }
        }
        guard validated.allSatisfy({ zone.live($0) != nil }) else {
            throw ModelRefusal(.validatingReferenceError)
        }
        zone.noteMembers()
    }
}

extension ModelRecord {
    private var link: RecordReference? {
        if case .reference(let link)? = fields["link"] { link } else { nil }
    }

    /// The records that have to be there.
    var bound: Set<String> {
        var found = Set(parent.map { [$0] } ?? [])
        if let link, link.action == .validate { found.insert(link.recordName) }
        return found
    }

    /// The records with which this one is deleted.
    var goesWith: Set<String> {
        guard let link, link.action == .deleteSelf else { return [] }
        return [link.recordName]
    }
}

extension ZoneModel {
    /// The types of fields that records have: `Note.title`.
    var types: [String: String] {
        var found: [String: String] = [:]
        for (_, record) in liveRecords {
            for (name, value) in record.fields {
                found["\(record.type).\(name)"] = value.schemaType
            }
        }
        return found
    }

    /// The checksums of assets that records name.
    var contents: Set<String> {
        Set(
            liveRecords.compactMap { entry in
                if case .asset(let asset)? = entry.record.fields["picture"] {
                    asset.fileChecksum
                } else {
                    nil
                }
            })
    }
}
