internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import Platform
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// A store beside its zone: every object and pair of both, by record name.
///
/// Cost: both are read whole, and kept as long as this value is.
struct MirrorComparison {
    /// One object or pair that is not the same on both sides.
    struct Difference {
        enum Kind: String { case onlyHere, onlyThere, differs, unknownThere }

        let kind: Kind
        let title: String
        let recordName: String
        /// What differs, with both sides' values.
        var properties: [(name: String, here: String, there: String)] = []
        /// Why it is so, where the store knows: it waits, or was not fetched yet.
        var reason: String?
        /// Whether it stays so, round by round: the record is kept aside, or refused.
        var isLasting = false
    }

    /// How much one side has, and its digest.
    struct Side {
        var objects = 0
        var pairs = 0
        var digest = ""
    }

    private(set) var here = Side()
    private(set) var there = Side()
    private(set) var differences: [Difference] = []
    /// Objects of either side that the store's selection leaves out; they are not compared.
    private(set) var leftOut = 0

    var isEqual: Bool { differences.isEmpty }

    /// `mirrored` has been synced before.
    init(_ mirrored: MirroredStore, records: [String: Record]) throws {
        self = try mirrored.store.read { transaction in
            var reading = try ComparisonReading(mirrored, transaction, records)
            return try reading.run()
        }
    }

    fileprivate init(here: Side, there: Side, differences: [Difference], leftOut: Int) {
        self.leftOut = leftOut
        self.here = here
        self.there = there
        self.differences = differences
    }
}

/// Compares in one transaction.
private struct ComparisonReading {
    private let store: StoreTransaction
    private let ledger: Ledger
    private let settings: MirrorSettings
    private let titles: RecordTitles
    private let records: [String: Record]
    /// Lines of what each side has, for its digest.
    private var lines: (here: [String], there: [String]) = ([], [])
    private var states: [String: ObjectState] = [:]
    private var pairs: [String: (pair: JoinRecord, recordName: String)] = [:]
    private var differences: [MirrorComparison.Difference] = []
    /// The names of what the selection leaves out.
    private var leftOut: Set<String> = []
    /// Why records stay where they are.
    private let obstacles: ComparisonObstacles

    init(
        _ mirrored: MirroredStore, _ store: StoreTransaction, _ records: [String: Record]
    ) throws {
        self.store = store
        self.records = records
        settings = mirrored.settings
        ledger = Ledger(connection: store.connection, platform: .system)
        titles = RecordTitles(mirrored)
        obstacles = try ComparisonObstacles(ledger)
    }

    mutating func run() throws -> MirrorComparison {
        try readStore()
        var thereObjects = 0
        var therePairs: [String: String] = [:]
        for record in records.values { noteLeftOut(record) }
        for (name, record) in records.sorted(by: { $0.key < $1.key })
        where !isOfSharing(record) && !leftOut.contains(name) {
            if let pair = JoinRecord(record, knowing: { records[$0] != nil }) {
                guard leftOut.isDisjoint(with: [pair.first, pair.second]) else { continue }
                // By the names of this model, whichever version wrote it.
                let text = Self.text(settings.pairs.known(pair) ?? pair, settings.pairs)
                therePairs[text] = therePairs[text] ?? name
            } else {
                thereObjects += 1
                try compare(record)
            }
        }
        for (name, state) in states.sorted(by: { $0.key < $1.key }) where records[name] == nil {
            try addOnlyHere(name, state)
        }
        try compare(therePairs)
        // One that is its own inverse is met at both ends, and is one.
        lines.here += pairs.keys
        lines.there += therePairs.keys
        return MirrorComparison(
            here: .init(
                objects: states.count, pairs: pairs.count, digest: Self.digest(lines.here)),
            there: .init(
                objects: thereObjects, pairs: therePairs.count, digest: Self.digest(lines.there)),
            differences: differences, leftOut: leftOut.count)
    }

    /// Shares, and the records below which one shares, stand for no object.
    private func isOfSharing(_ record: Record) -> Bool {
        record.isShare || record.recordType == ShareRoot.recordType
    }

    /// Notes a record that the selection keeps from this store.
    private mutating func noteLeftOut(_ record: Record) {
        guard states[record.recordName] == nil, JoinRecord.readings(of: record).isEmpty,
            let entity = settings.mapping.entity(of: record)?.entity,
            settings.scope.selection?.leavesOut(entity) == true
        else { return }
        leftOut.insert(record.recordName)
    }

    /// A short digest of lines in their order by bytes: equal ones stand for equal sides.
    private static func digest(_ lines: [String]) -> String {
        let bytes = Array(lines.sorted().joined(separator: "\n").utf8)
        return SHA2.sha256(bytes).prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            .joined()
    }

    // MARK: The store

    private mutating func readStore() throws {
        for entity in store.layout.entities where !entity.entity.isAbstract {
            try store.forEachBatch(of: entity.number) { rows in
                for row in rows { try read(row, entity) }
            }
        }
    }

    private mutating func read(_ row: Row, _ entity: EntityLayout) throws {
        guard let name = try ledger.knownName(of: row.id) else {
            differences.append(
                .init(
                    kind: .onlyHere, title: titles.title(of: row.id), recordName: "",
                    reason: "it was not sent yet"))
            lines.here.append("\(titles.title(of: row.id)) without a record")
            return
        }
        guard try !ledger.isOutside(name) else {
            leftOut.insert(name)
            return
        }
        var state = ObjectState(
            entity: row.id.entity, attributes: settings.mapping.attributes(of: row),
            toOnes: Array(repeating: nil, count: row.toOnes.count))
        for (slot, link) in row.toOnes.enumerated() {
            guard let link, let target = try ledger.knownName(of: link.target) else { continue }
            state.toOnes[slot] = NamedLink(
                target, orderKey: entity.toOneIsOrdered[slot] ? link.orderKey : nil)
        }
        for slot in row.missing { state.attributes[slot] = .null }
        states[name] = state
        lines.here.append(text(name, state, entity))
        for end in settings.pairs.ends(of: entity.number) where end.isFirst {
            for link in try store.members(of: row.id, toMany: end.slot) {
                guard let member = try ledger.knownName(of: link.target),
                    try !ledger.isOutside(member)
                else { continue }
                let pair = JoinRecord(kind: end.kind, first: name, second: member)
                pairs[Self.text(pair, settings.pairs)] = (pair, "")
            }
        }
    }

    private func text(_ name: String, _ state: ObjectState, _ entity: EntityLayout) -> String {
        let links = state.toOnes.map { link in
            link.map { "\($0.recordName)@\($0.orderKey ?? 0)" } ?? ""
        }
        return "\(name) \(entity.name) \(state.attributes) \(links)"
    }

    /// A pair of a relationship that is its own inverse is the same from both ends.
    private static func text(_ pair: JoinRecord, _ catalog: PairCatalog) -> String {
        let kind = catalog.kind(
            entityNames: pair.entityNames, relationshipNames: pair.relationshipNames)
        let ends = [pair.first, pair.second]
        return "\(pair.relationshipNames) "
            + (kind?.isReflexive == true ? ends.sorted() : ends).joined(separator: " ")
    }

    // MARK: Objects

    private mutating func compare(_ record: Record) throws {
        let name = record.recordName
        guard let entity = settings.mapping.entity(of: record) else {
            differences.append(
                .init(
                    kind: .unknownThere, title: try title(of: record), recordName: name,
                    reason: "the store's model has no such entity", isLasting: true))
            lines.there.append(name)
            return
        }
        // Large values are compared by checksum.
        let remote = try settings.mapping.storedState(of: ledger.named(record), entity: entity)
            .adopting(states[name])
        lines.there.append(text(name, remote, entity))
        guard let local = states[name] else {
            let obstacle = obstacles.kept[name]
            differences.append(
                .init(
                    kind: .onlyThere, title: try title(of: record), recordName: name,
                    reason: try obstacle ?? reasonOnlyThere(name), isLasting: obstacle != nil))
            return
        }
        let slots = local.entity == remote.entity ? local.changes(from: remote) : []
        guard !slots.isEmpty else { return }
        let obstacle = obstacles.all[name]
        let absent = absentTargets(slots, local, remote)
        differences.append(
            .init(
                kind: .differs, title: try title(of: record), recordName: name,
                properties: slots.map { slot in
                    (
                        slot.name(in: entity), words(local.value(slot), slot, entity),
                        words(remote.value(slot), slot, entity)
                    )
                }, reason: try obstacle ?? reasonDiffers(record) ?? absent.map { _ in Self.absent },
                isLasting: obstacle != nil || absent?.contains { records[$0] == nil } == true))
    }

    private static let absent = "an object that it leads to is not here"

    /// The targets of links that wait here for objects to come; nil where more differs than these.
    private func absentTargets(
        _ slots: [PropertySlot], _ local: ObjectState, _ remote: ObjectState
    ) -> [String]? {
        var targets: [String] = []
        for slot in slots {
            guard case .link(nil) = local.value(slot), case .link(let link?) = remote.value(slot),
                states[link.recordName] == nil, !leftOut.contains(link.recordName)
            else { return nil }
            targets.append(link.recordName)
        }
        return targets
    }

    private mutating func addOnlyHere(_ name: String, _ state: ObjectState) throws {
        let entry = try ledger.entry(named: name)
        let refusal = obstacles.refused[name]
        differences.append(
            .init(
                kind: .onlyHere, title: entry.map { titles.title(of: $0.row) } ?? name,
                recordName: name, reason: refusal ?? reasonOnlyHere(entry),
                isLasting: refusal != nil))
    }

    private func reasonOnlyHere(_ entry: RecordEntry?) -> String? {
        if entry?.needsUpload == true { return "it waits to be sent" }
        return entry?.base == nil ? nil : "the service had it and lost it, or it was deleted"
    }

    private func title(of record: Record) throws -> String {
        try titles.title(of: record, in: store, ledger)
    }

    private func words(
        _ value: PropertyValue, _ slot: PropertySlot, _ entity: EntityLayout
    ) -> String {
        switch (value, slot) {
        case (.attribute(let value), .attribute(let index)):
            return ValueText.short(value, entity.attributes[index].attribute.attributeType)
        case (.link(let link?), _):
            let name = (try? titles.title(named: link.recordName, in: store, ledger)) ?? nil
            return (name ?? String(link.recordName.suffix(8)))
                + (link.orderKey.map { " at \($0)" } ?? "")
        default: return ValueText.nothing
        }
    }

    private func reasonOnlyThere(_ name: String) throws -> String? {
        guard let entry = try ledger.entry(named: name) else { return "it was not fetched yet" }
        return entry.needsCloudDelete ? "its deletion waits to be sent" : nil
    }

    private func reasonDiffers(_ record: Record) throws -> String? {
        guard let entry = try ledger.entry(named: record.recordName) else { return nil }
        let isNewer = entry.base?.recordChangeTag != record.recordChangeTag
        switch (entry.needsUpload, isNewer) {
        case (true, true): return "both sides changed since they last met"
        case (true, false): return "it waits to be sent"
        case (false, true): return "what others wrote was not fetched yet"
        case (false, false): return nil
        }
    }

    // MARK: Pairs

    private mutating func compare(_ there: [String: String]) throws {
        for text in Set(pairs.keys).symmetricDifference(there.keys).sorted() {
            if let name = there[text], let record = records[name] {
                differences.append(
                    .init(
                        kind: .onlyThere, title: try title(of: record), recordName: name,
                        reason: try obstacles.all[name] ?? reasonOnlyThere(pair: name),
                        isLasting: obstacles.all[name] != nil))
            } else if let (pair, _) = pairs[text] {
                let known = try ledger.pairs(of: pair.first).first {
                    Self.text($0.pair, settings.pairs) == text
                }
                let refusal = known.flatMap { obstacles.refused[$0.recordName] }
                differences.append(
                    .init(
                        kind: .onlyHere,
                        title: try titles.title(of: pair, in: store, ledger),
                        recordName: known?.recordName ?? "",
                        reason: refusal
                            ?? (known?.isUploaded == true ? nil : "it waits to be sent"),
                        isLasting: refusal != nil))
            }
        }
    }

    private func reasonOnlyThere(pair name: String) throws -> String? {
        guard let entry = try ledger.pair(named: name) else { return "it was not fetched yet" }
        if entry.needsDelete { return "its deletion waits to be sent" }
        return entry.isPending ? "one of its objects is not here" : nil
    }
}
