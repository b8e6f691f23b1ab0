internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// Which objects belong to a share of records: those that it was made with, and all that is linked
/// with one of them, directly or by others.
///
/// An object is in one share. It takes its place by the export that gives its record a parent; its
/// record stays where it is, under its name.
struct ShareReach {
    let mirror: MirrorTransaction
    /// The roots of the shares that are known.
    private let roots: Set<ExactName>
    /// Those below which the user may write, in a zone of another's.
    private let writableRoots: Set<ExactName>
    private static let depthMax = 100

    init(mirror: MirrorTransaction) throws {
        self.mirror = mirror
        let shares = try mirror.ledger.shares()
        roots = Set(shares.compactMap { $0.sharedRoot.map { ExactName($0) } })
        let writable = shares.filter { $0.currentPermission == .readWrite }
        writableRoots = Set(writable.compactMap { $0.sharedRoot.map { ExactName($0) } })
    }

    /// Whether records, and not the whole zone, are shared.
    var hasRoots: Bool { !roots.isEmpty }

    /// Whether the zone has a record below which others can be put.
    func isThere(_ parent: String) throws -> Bool {
        if roots.contains(ExactName(parent)) { return true }
        guard let base = try mirror.ledger.entry(named: parent)?.base else { return false }
        return !base.deleted && base.recordChangeTag != nil
    }

    /// The record below which an object is shared, or will be; nil for one that is not.
    func parent(of row: RowID) throws -> String? {
        guard let entry = try mirror.ledger.entry(for: row) else { return nil }
        return try parent(of: entry, depth: 0)
    }

    func parent(named name: String) throws -> String? {
        try mirror.ledger.entry(named: name).flatMap { try parent(of: $0, depth: 0) }
    }

    private func parent(of entry: RecordEntry, depth: Int) throws -> String? {
        if let assigned = try mirror.ledger.assignedParent(of: entry.recordName) {
            return assigned
        }
        guard let base = entry.base, !base.deleted else { return nil }
        if base.share != nil { return entry.recordName }
        guard let parent = base.parent, depth < Self.depthMax else { return nil }
        if roots.contains(ExactName(parent)) { return parent }
        // A hierarchy that another program made, or one whose share has ended.
        guard let above = try mirror.ledger.entry(named: parent),
            try self.parent(of: above, depth: depth + 1) != nil
        else { return nil }
        return parent
    }

    // MARK: Following links

    /// Lets objects that were changed, and what they are linked with, join the share that they have
    /// come to touch. Cost: a look at each object's links.
    func follow(_ rows: [RowID]) throws {
        for row in rows {
            guard try mirror.store.row(row) != nil else { continue }
            if let own = try parent(of: row) {
                try mirror.ledger.knownName(of: row).map(sharePairs)
                try spread(own, from: row)
            } else if try !staysOut(row), let met = try shared(near: row) ?? onlyPlace(for: row) {
                try assign(met, to: row)
                try spread(met, from: row)
            }
        }
    }

    /// Puts objects below `root`, with all that is linked with them. Returns all of these. What
    /// was deleted is passed over. Throws `MirrorError`: `.alreadyShared` where one is in another
    /// share, and `.objectDeleted` where none is there.
    func share(_ rows: [RowID], below root: String) throws -> Set<RowID> {
        var found = Set<RowID>()
        // A name for what is gone would wait for ever to be sent.
        var waiting = try rows.filter { try mirror.store.row($0) != nil }
        guard !waiting.isEmpty || rows.isEmpty else {
            throw MirrorError(
                .objectDeleted, "Nothing of what is to be shared is there: it was deleted.")
        }
        while let row = waiting.popLast() {
            guard found.insert(row).inserted else { continue }
            try check(row, below: root)
            waiting += try neighbours(of: row).filter { try !staysOut($0) }
        }
        for row in found.sorted() where try parent(of: row) == nil { try assign(root, to: row) }
        return found
    }

    /// Throws `MirrorError` (`.alreadyShared`) for an object that is in another share.
    func check(_ row: RowID, below root: String) throws {
        guard let other = try parent(of: row), !other.isExactly(root) else { return }
        throw MirrorError(
            .alreadyShared,
            "One of the objects, or one that they are linked with, is in another share. "
                + "Share them with that one, or take the link out first.")
    }

    /// The smallest name among the parents of the objects that one is linked with, so that all
    /// devices choose the same.
    private func shared(near row: RowID) throws -> String? {
        try neighbours(of: row).compactMap { try parent(of: $0) }
            .min { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// In a zone of another's a new object that is linked with nothing belongs to the share, where
    /// there is one, or one that the user may write to: elsewhere it cannot be.
    private func onlyPlace(for row: RowID) throws -> String? {
        let places = writableRoots.isEmpty ? roots : writableRoots
        guard mirror.settings.isShared, places.count == 1,
            try mirror.ledger.entry(for: row)?.base == nil
        else { return nil }
        return places.first?.text
    }

    private func spread(_ parent: String, from row: RowID) throws {
        var waiting = try neighbours(of: row)
        while let next = waiting.popLast() {
            guard try self.parent(of: next) == nil, try !staysOut(next) else { continue }
            try assign(parent, to: next)
            waiting += try neighbours(of: next)
        }
    }

    /// Whether the object joins no share by its links, because it took in what a participant made.
    func staysOut(_ row: RowID) throws -> Bool {
        guard !mirror.settings.isShared, try parent(of: row) == nil else { return false }
        let base = try mirror.ledger.entry(for: row)?.base
        return try (base?.fields[RecordNames.staysOut] ?? nil) != nil
            || (mirror.ledger.foreign(of: row)[RecordNames.staysOut] ?? nil) != nil
    }

    private func assign(_ parent: String, to row: RowID) throws {
        let name = try mirror.ledger.recordName(for: row)
        try mirror.ledger.assign(parent: parent, to: name)
        try mirror.enqueueUpload(row)
        try sharePairs(of: name)
    }

    /// Pairs go where their objects are. One may have come from a device that had not heard of it,
    /// or be where a share was that has ended.
    private func sharePairs(of name: String) throws {
        for pair in try mirror.ledger.pairs(of: name)
        where try !pair.needsDelete && pair.isUploaded && !hasPlace(pair) {
            try mirror.ledger.setPair(pair.key, isUploaded: false)
        }
    }

    private func hasPlace(_ pair: PairEntry) throws -> Bool {
        guard let parent = pair.base?.parent else { return false }
        return try roots.contains(ExactName(parent)) || self.parent(named: parent) != nil
    }

    /// What an object leads to, and what leads to it.
    private func neighbours(of row: RowID) throws -> [RowID] {
        guard let values = try mirror.store.row(row) else { return [] }
        var found = values.toOnes.compactMap { $0?.target }
        found += try mirror.store.referrers(of: row).map { $0.0 }
        for end in mirror.pairs.ends(of: row.entity) {
            found += try mirror.store.members(of: row, toMany: end.slot).map(\.target)
        }
        return try found.filter { try $0 != row && mirror.store.row($0) != nil }
    }
}
