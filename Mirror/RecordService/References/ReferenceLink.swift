internal import RecordWire

/// A reference that does something when its target goes.
struct ReferenceLink: Hashable {
    /// The numbers are kept in files.
    enum Action: Int64 {
        /// The source goes with its target.
        case deleteSelf = 1
        /// The target stays while the source is there.
        case validate = 2
        /// The target is above the source in a hierarchy, and stays as with `validate`.
        case parent = 3
    }
    let target: ExactName
    let action: Action
}

/// Rows of links, inside one transaction. A source and its target are in one zone.
protocol ReferenceTransaction: AnyObject {
    /// Whether any record of the zone has a link.
    func hasLinks(in zone: Int64) throws -> Bool
    /// The names of records with such a link to the target, at most `limit`.
    func sources(
        of target: String, _ action: ReferenceLink.Action, in zone: Int64, limit: Int
    ) throws -> [String]
    /// Puts links of records in the place of all that they had.
    func replaceLinks(_ links: [ExactName: Set<ReferenceLink>], in zone: Int64) throws
}

/// The links of one zone during one request: what the rows say, and what the request changes.
///
/// Links are rows of their own, so that a deletion finds what refers to its record without looking
/// at others. A zone whose records have none pays one look.
final class ReferenceLinks {
    private let zone: Int64
    private let transaction: any BackendTransaction
    /// The new links of records that the request writes; none for those that it deletes.
    private var changed: [ExactName: Set<ReferenceLink>] = [:]
    private var added: [ExactName: Set<ExactName>] = [:]
    private let hasAny: Bool

    init(in zone: Int64, _ transaction: any BackendTransaction) throws {
        self.zone = zone
        self.transaction = transaction
        hasAny = try transaction.hasLinks(in: zone)
    }

    /// Takes note of a record's links after a write or a deletion.
    func note(_ source: String, _ links: Set<ReferenceLink>) {
        guard hasAny || !links.isEmpty || changed[ExactName(source)] != nil else { return }
        changed[ExactName(source)] = links
        for link in links { added[link.target, default: []].insert(ExactName(source)) }
    }

    /// Up to `limit` records that have such a link to the target now.
    func sources(
        of target: String, _ action: ReferenceLink.Action, limit: Int
    ) throws -> [String] {
        var names: [String] = []
        if hasAny {
            // Of those in the rows some may be changed, so more of them are read.
            names = try transaction.sources(
                of: target, action, in: zone, limit: limit + changed.count
            ).filter { changed[ExactName($0)] == nil }
        }
        let link = ReferenceLink(target: ExactName(target), action: action)
        names += (added[link.target] ?? []).filter { changed[$0]?.contains(link) == true }
            .map(\.text).sorted()
        return Array(names.prefix(limit))
    }

    /// The record as the rows have it; what the request itself does is not looked at.
    func liveRow(_ name: String) throws -> RecordRow? {
        try transaction.record(named: name, in: zone).flatMap { $0.isDeleted ? nil : $0 }
    }

    /// Writes what has changed.
    func save() throws {
        if !changed.isEmpty { try transaction.replaceLinks(changed, in: zone) }
    }

    static func links(of fields: RecordFields) -> Set<ReferenceLink> {
        var links: Set<ReferenceLink> = []
        guard fields.contains(where: { $0.value?.mayLead == true }) else { return links }
        for (name, value) in fields {
            if name == SharingField.parent, case .reference(let reference)? = value {
                let target = ExactName(reference.recordName)
                links.insert(ReferenceLink(target: target, action: .parent))
            } else {
                add(value, to: &links)
            }
        }
        return links
    }

    private static func add(_ value: FieldValue?, to links: inout Set<ReferenceLink>) {
        switch value {
        case .reference(let reference):
            let action: ReferenceLink.Action? =
                switch reference.action {
                case .deleteSelf: .deleteSelf
                case .validate: .validate
                case .some(.none), nil: nil
                }
            guard let action else { return }
            links.insert(ReferenceLink(target: ExactName(reference.recordName), action: action))
        case .list(.reference, let elements):
            for element in elements { add(element, to: &links) }
        default: return
        }
    }
}

extension FieldValue {
    /// Whether it is a reference, or a list of them.
    var mayLead: Bool {
        switch self {
        case .reference, .list(.reference, _): true
        default: false
        }
    }
}
