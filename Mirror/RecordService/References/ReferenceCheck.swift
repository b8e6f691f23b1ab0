internal import RecordWire

/// Keeps the promises of references through one request: a target that is validated is there, and
/// what goes with its target goes. (SERVICE §4, references)
struct ReferenceCheck {
    let zone: ZoneID
    /// Whose the zone is; empty for a public database.
    let owner: String
    let links: ReferenceLinks
    let limits: ServiceLimits
    /// The records that operations of the request name.
    private let named: Set<ExactName>
    /// The records that the request has written, and whether they are there now.
    private var written: [ExactName: Bool] = [:]
    /// The targets that have to be there, and whether who asks has to see them.
    private var validated: [ExactName: Bool] = [:]
    /// Of who takes part in a share, or from whom roles hide something; their references lead to
    /// what they see.
    private let access: (any RecordAccess)?
    /// Whether a record stays for the sake of one that its writer does not see. In a public
    /// database it does not: whoever guessed its name would keep it there.
    private let keepsForUnseen: Bool

    private static let sourcesShown = 1
    /// The links for which a target stays.
    private static let binding: [ReferenceLink.Action] = [.validate, .parent]

    init(
        zone: ZoneID, of owner: String, links: ReferenceLinks, limits: ServiceLimits,
        operations: [RecordOperation], access: (any RecordAccess)?, keepsForUnseen: Bool
    ) {
        self.owner = owner
        self.access = access
        self.keepsForUnseen = keepsForUnseen
        self.zone = zone
        self.links = links
        self.limits = limits
        named = Set(operations.map { ExactName($0.record.recordName) })
    }

    /// Refuses references whose targets are not there and do not come with this request, or that
    /// too many delete themselves with.
    mutating func write(
        _ name: String, _ fields: RecordFields, after former: RecordFields
    ) throws {
        var bound: [ExactName: Bool] = [:]
        let kept = access == nil ? [] : ReferenceLinks.links(of: former)
        for (field, value) in fields where value?.mayLead == true && value != former[field] {
            try checkZone(of: value, in: field)
        }
        var hidden: Set<ReferenceLink> = []
        let own = ReferenceLinks.links(of: fields)
        for link in own {
            switch link.action {
            case .validate, .parent:
                let isNew = access != nil && !kept.contains(link)
                // It went although it was validated.
                if !keepsForUnseen, access != nil, !isNew { continue }
                guard
                    try isThere(link.target, isSeen: isNew) || named.contains(link.target)
                else { throw missing(link.target) }
                bound[link.target] = isNew || bound[link.target] == true
            case .deleteSelf:
                if try isHidden(link.target) {
                    hidden.insert(link)
                    continue
                }
                let sources = try links.sources(
                    of: link.target.text, .deleteSelf, limit: limits.work.sourcesMax + 1)
                guard sources.count < limits.work.sourcesMax || sources.contains(name) else {
                    throw RecordError(
                        .limitExceeded,
                        "\(limits.work.sourcesMax) records are deleted with \(link.target) already,"
                            + " the most there may be.")
                }
            }
        }
        if !bound.isEmpty { validated.merge(bound) { $0 || $1 } }
        links.note(name, own.subtracting(hidden))
        written[ExactName(name)] = true
    }

    /// Whether roles hide a target, with which nothing goes then.
    private func isHidden(_ target: ExactName) throws -> Bool {
        guard !keepsForUnseen, let access, let row = try links.liveRow(target.text) else {
            return false
        }
        return try !access.sees(row)
    }

    /// The first of those for which a record stays.
    private func holder(of name: String, but others: Set<ExactName>) throws -> String? {
        let takesAll = keepsForUnseen || access == nil
        let more = takesAll ? Self.sourcesShown : limits.work.cascadeMax
        for action in Self.binding {
            let sources = try links.sources(of: name, action, limit: others.count + more)
            let other = try sources.first {
                try !others.contains(ExactName($0)) && (takesAll || sees($0))
            }
            if let other { return other }
        }
        return nil
    }

    /// What the request made itself is seen.
    private func sees(_ name: String) throws -> Bool {
        guard let access, let row = try links.liveRow(name) else { return true }
        return try access.sees(row)
    }

    /// Whether a target is there after what the request did. `isSeen`: what a participant does not
    /// see is not, nor is a share: it would hold the owner's records in their places.
    private func isThere(_ target: ExactName, isSeen: Bool) throws -> Bool {
        if !isSeen, let isThere = written[target] { return isThere }
        let row = try links.liveRow(target.text)
        if isSeen, let access, let row,
            try row.type.isExactly(Record.shareType) || !access.sees(row)
        {
            return false
        }
        return written[target] ?? (row != nil)
    }

    /// The records that would go with one as things stand, as many as may go in one request.
    func sources(goingWith name: String) throws -> [String] {
        var found: [String] = []
        var seen: Set = [ExactName(name)]
        var waiting = [name]
        while let target = waiting.popLast(), found.count <= limits.work.cascadeMax {
            for source in try links.sources(
                of: target, .deleteSelf, limit: limits.work.cascadeMax + 1)
            where seen.insert(ExactName(source)).inserted {
                found.append(source)
                waiting.append(source)
            }
        }
        return found
    }

    /// Refuses to delete what others validate, but for others that the request names too.
    mutating func delete(_ name: String) throws {
        if let other = try holder(of: name, but: named.union([ExactName(name)])) {
            throw try needed(name, by: other)
        }
        links.note(name, [])
        written[ExactName(name)] = false
    }

    /// A record goes with another; whether it may is looked at when all is done.
    mutating func noteDeletion(of name: String) {
        links.note(name, [])
        written[ExactName(name)] = false
    }

    /// Deletes what goes with the records that were deleted, by `delete`, and looks whether all
    /// promises are kept. Throws VALIDATING_REFERENCE_ERROR or LIMIT_EXCEEDED for the request.
    mutating func finish(delete: (String) throws -> Void) throws {
        var waiting = written.filter { !$0.value }.map(\.key).sorted { $0.text < $1.text }
        var count = 0
        while let target = waiting.popLast() {
            let sources = try links.sources(
                of: target.text, .deleteSelf, limit: limits.work.cascadeMax + 1)
            for source in sources where written[ExactName(source)] != false {
                count += 1
                guard count <= limits.work.cascadeMax else { throw tooMany() }
                try delete(source)
                links.note(source, [])
                written[ExactName(source)] = false
                waiting.append(ExactName(source))
            }
        }
        for (name, isThere) in written where !isThere {
            if let other = try holder(of: name.text, but: []) {
                throw try needed(name.text, by: other)
            }
        }
        for (target, isSeen) in validated where try !isThere(target, isSeen: isSeen) {
            throw missing(target)
        }
    }

    private func checkZone(of value: FieldValue?, in field: String) throws {
        switch value {
        case .reference(let target):
            guard let action = target.action, action != .none, let other = target.zoneID,
                !other.zoneName.isExactly(zone.zoneName) || isOfAnother(other)
            else { return }
            let whose = isOfAnother(other) ? " of \(other.ownerRecordName ?? "")" : ""
            throw RecordError(
                .badRequest,
                "The reference \(field) leads to the zone \(other.zoneName)\(whose) with the "
                    + "action \(action.rawValue); such a reference stays in its zone.")
        case .list(.reference, let elements):
            for element in elements { try checkZone(of: element, in: field) }
        default: return
        }
    }

    /// Zones of several users may have one name, and each a record of the target's.
    private func isOfAnother(_ other: ZoneID) -> Bool {
        guard let named = other.ownerRecordName, !owner.isEmpty else { return false }
        return named != owner && !ZoneID.ownerAliases.contains(named)
    }

    // MARK: Refusals

    private func missing(_ target: ExactName) -> RecordError {
        RecordError(
            .validatingReferenceError,
            "The record \(target) that a reference with VALIDATE or a parent names is not there; "
                + "save it first or in the same request.")
    }

    private func needed(_ name: String, by other: String) throws -> RecordError {
        guard try sees(other) else {
            return RecordError(
                .validatingReferenceError, "A record that you do not see is in the way.")
        }
        return RecordError(
            .validatingReferenceError,
            "The record \(name) cannot be deleted: \(other) leads to it by a reference with "
                + "VALIDATE or as its parent; delete or change that first or in the same request.")
    }

    private func tooMany() -> RecordError {
        RecordError(
            .limitExceeded,
            "More than \(limits.work.cascadeMax) records would go with those that are deleted; "
                + "delete some of them first.")
    }
}
