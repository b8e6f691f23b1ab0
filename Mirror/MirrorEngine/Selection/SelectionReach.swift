internal import Foundation
internal import ObjectModel
internal import Platform
internal import Predicates
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Notes which objects are outside of what is to be sent.
struct SelectionReach {
    let mirror: MirrorTransaction
    private static let rowsMax = 500

    private var selection: SyncSelection? { mirror.settings.scope.selection }

    /// Looks at objects that were saved. Cost: a query for each of their entities that has a rule.
    func settle(_ rows: [RowID]) throws {
        guard !mirror.settings.scope.hasUnreadSelection else { return try leave(rows) }
        guard let selection else { return }
        // A round that began under another selection goes on: all is looked at when one begins.
        if try (mirror.ledger.setting(.selection)?.string ?? "") != selection.text {
            try mirror.ledger.set(.selectionCheck, to: .integer(1))
        }
        try settle(rows, selection)
    }

    private func settle(_ rows: [RowID], _ selection: SyncSelection) throws {
        for (number, rows) in Dictionary(grouping: rows, by: \.entity) {
            guard let layout = mirror.mapping.layout.entity(number) else { continue }
            switch selection.rule(of: layout.entity) {
            case .all: continue
            case .nothing: try note(rows, inside: [])
            case .matching(let condition):
                for start in stride(from: 0, to: rows.count, by: Self.rowsMax) {
                    let part = Array(rows[start..<min(start + Self.rowsMax, rows.count)])
                    try note(part, inside: matching(condition, part))
                }
            }
        }
    }

    /// Who cannot read the selection sends nothing; whoever can looks at all objects again.
    private func leave(_ rows: [RowID]) throws {
        try note(rows, inside: [])
        let known = try mirror.ledger.setting(.selection)?.string ?? ""
        guard !known.hasPrefix(Self.unread) else { return }
        try mirror.ledger.set(.selection, to: .text(Self.unread + known))
    }

    /// No selection reads so.
    static let unread = "?: ? "

    /// Throws `MirrorError` where a round would not know what to send.
    func checkIsRead() throws {
        guard mirror.settings.scope.hasUnreadSelection else { return }
        throw MirrorError(.selectionUnread, Self.cannotBeRead)
    }

    /// Why of what was saved nobody knows whether it is to be sent; nil where somebody does.
    func doubt() throws -> String? {
        guard mirror.settings.scope.hasUnreadSelection,
            try mirror.ledger.setting(.selection)?.string?.hasPrefix(Self.unread) == true
        else { return nil }
        return Self.cannotBeRead
    }

    private static let cannotBeRead =
        "What of the store is sent is chosen by a predicate that only its app can read, or that "
        + "speaks of what its model has no more. Sync it by the app, or choose anew."

    /// Where the selection is another than at a look before, all objects are looked at. Returns
    /// whether it was: what was kept aside because of it may come then.
    func notice() throws -> Bool {
        let known = try mirror.ledger.setting(.selection)?.string ?? ""
        let text = selection?.text ?? ""
        let isDue = try mirror.ledger.setting(.selectionCheck) != nil
        guard known != text || isDue else { return false }
        try mirror.ledger.set(.selectionCheck, to: .null)
        try mirror.ledger.set(.selection, to: text.isEmpty ? .null : .text(text))
        try mirror.ledger.forgetOutside()
        for entity in mirror.settings.exportOrder.entities where !entity.entity.isAbstract {
            var query = RowQuery(entity: entity.number)
            query.includesSubentities = false
            try settle(mirror.store.ids(matching: query))
        }
        return true
    }

    private func matching(_ condition: PredicateNode, _ rows: [RowID]) throws -> Set<RowID> {
        guard let entity = rows.first?.entity else { return [] }
        var query = RowQuery(entity: entity)
        query.includesSubentities = false
        let among = NSPredicate(format: "SELF IN %@", argumentArray: [rows])
        query.predicate = .and([condition, node(of: among)])
        return Set(try mirror.store.ids(matching: query))
    }

    private func note(_ rows: [RowID], inside: Set<RowID>) throws {
        for row in rows {
            let isInside = inside.contains(row)
            // One that was deleted since stands as it did: its deletion is still to be noted.
            guard let name = try mirror.ledger.knownName(of: row),
                try isInside || mirror.store.row(row) != nil
            else { continue }
            try mirror.ledger.setOutside(!isInside, name)
        }
    }
}

extension RecordImport {
    /// Whether nothing of an entity is to come to this device.
    func isLeftOut(_ entity: EntityLayout) -> Bool {
        mirror.settings.scope.selection?.leavesOut(entity.entity) ?? false
    }

    /// Lets what was left out come, as far as the selection has it now.
    mutating func applyLeftOut() throws {
        var after = ""
        while true {
            let records = try mirror.ledger.aside(after: after, limit: 200)
            guard let last = records.last else { return }
            after = last.recordName
            let chosen = records.filter { record in
                mirror.mapping.entity(of: record).map { !isLeftOut($0) } ?? false
            }
            if !chosen.isEmpty { try apply(chosen) }
        }
    }
}

extension MirrorScope {
    func selected(of model: NSManagedObjectModel) -> MirrorStatus.Selected {
        guard let selection else { return MirrorStatus.Selected() }
        let ruled = selection.entityNames
        return MirrorStatus.Selected(
            parts: selection.parts,
            sendsOthers: model.entities.contains { entity in
                entity.superentity == nil && !ruled.contains(entity.name ?? "")
            })
    }

    /// Takes a selection, or the one that the store keeps. Throws `MirrorError`
    /// (`.storeNotMirrorable`) for a selection of what the model does not have.
    mutating func select(
        _ source: SelectionSource, in store: SQLiteRowStore, _ platform: Environment
    ) throws {
        if case .given(let selection) = source {
            self.selection = selection
            guard let unknown = try store.glance({ try selection?.unknown(to: $0) }) else { return }
            throw MirrorError(
                .storeNotMirrorable,
                "The selection speaks of \(unknown). Name what the store's model has.")
        }
        isRemembered = true
        try store.glance { transaction in
            let ledger = Ledger(connection: transaction.connection, platform: platform)
            guard try Ledger.exists(in: ledger.connection),
                let text = try ledger.setting(.selection)?.string
            else { return }
            try follow(text, in: transaction)
        }
    }

    /// Takes the selection that the store keeps, where it is another. One that cannot be read here
    /// takes the place of none that was given: its predicate may be the same one, of another
    /// process of the app.
    mutating func follow(_ kept: String, in store: StoreTransaction) throws {
        guard hasUnreadSelection || kept != selection?.text ?? "" else { return }
        guard isRemembered || !kept.hasPrefix(SelectionReach.unread) else { return }
        guard let read = try? SyncSelection(text: kept), try read.unknown(to: store) == nil else {
            hasUnreadSelection = isRemembered
            return
        }
        selection = kept.isEmpty ? nil : read
        hasUnreadSelection = false
    }
}

extension SyncSelection {
    /// What it speaks of that the store's model does not have; nil where all of it can be asked. A
    /// newer version of the model may call it otherwise: by a rule for an entity that is not there
    /// all of it would be sent. Cost: a query for each entity with a condition, which reads no row.
    fileprivate func unknown(to store: StoreTransaction) throws -> String? {
        let known = store.layout.model.entitiesByName
        if let name = entityNames.sorted().first(where: { known[$0] == nil }) {
            return "an entity \(name)"
        }
        for layout in store.layout.entities where !layout.entity.isAbstract {
            guard case .matching(let condition) = rule(of: layout.entity) else { continue }
            var query = RowQuery(entity: layout.number)
            query.predicate = .and([condition, node(of: NSPredicate(value: false))])
            do {
                _ = try store.ids(matching: query)
            } catch let error as StoreError where error.code == .unsupported {
                return "what no query of \(layout.name) can ask (\(error.message))"
            }
        }
        return nil
    }
}
