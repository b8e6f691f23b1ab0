internal import Foundation
internal import ObjectModel
internal import Stores

// Objects whose rows somebody else deleted: nobody here may go on leading to them.
extension NSManagedObjectContext {
    /// Takes what is gone out of the relationships of all objects that are here, with their changes
    /// and with what they were read with, so that neither a save nor a rollback brings a link to a
    /// row that is not there. Returns the objects that lost a link and wait to be saved.
    ///
    /// Cost: nothing where nothing is gone; else one look at each object.
    @discardableResult
    final func forgetGoneObjects() -> [NSManagedObject] {
        guard !pending.gone.isEmpty else { return [] }
        return forgetGoneObjects(among: registry.objects)
    }

    /// The same for changed objects only: the others learn of it as of a change of their rows.
    final func forgetGoneInChanges() {
        guard !pending.gone.isEmpty else { return }
        _ = forgetGoneObjects(among: pending.objects)
    }

    private func forgetGoneObjects(among others: [NSManagedObject]) -> [NSManagedObject] {
        let gone = GoneObjects(pending.gone)
        pending.gone = []
        pending.hidden = pending.hidden.filter { !gone.contains($0.member.identity) }
        var touched: [NSManagedObject] = []
        for other in others where !gone.contains(other.identity) && other.forget(gone) {
            pending.note(.refreshedNow, of: other)
            if other.isPending && !other.isDeleted { touched.append(other) }
        }
        if pending.hasEvent { scheduleProcessing() }
        return touched
    }

    /// The same between two attempts of a save: a rule of the model that a lost link breaks fails
    /// the save by name.
    final func forgetGoneWhileSaving() throws {
        for object in forgetGoneObjects() {
            if object.isInserted {
                try object.validateForInsert()
            } else {
                try object.validateForUpdate()
            }
        }
    }
}

/// Some objects whose rows are gone.
struct GoneObjects {
    let references: Set<Reference>
    let rows: Set<RowID>
    private let entities: [NSEntityDescription]

    init(_ ids: [NSManagedObjectID]) {
        references = Set(ids.map(Reference.init))
        rows = Set(ids.compactMap(\.reservedRow))
        var entities: [ObjectIdentifier: NSEntityDescription] = [:]
        for id in ids { entities[ObjectIdentifier(id.entity)] = id.entity }
        self.entities = Array(entities.values)
    }

    func contains(_ id: NSManagedObjectID?) -> Bool {
        id.map { references.contains(Reference($0)) } ?? false
    }

    /// Whether one of them may be at the end of a relationship.
    func mayEnd(_ relationship: NSRelationshipDescription) -> Bool {
        guard let destination = relationship.destinationEntity else { return true }
        return entities.contains { $0.isKindOf(entity: destination) }
    }
}

extension NSManagedObject {
    /// Lets go of links that are gone in the store, too. Returns whether there were any.
    fileprivate final func forget(_ gone: GoneObjects) -> Bool {
        let layout = shape.layout
        let toOnes = layout.toOnes.indices.filter { gone.mayEnd(layout.toOnes[$0]) }
        let toManys = layout.toManys.indices.filter { gone.mayEnd(layout.toManys[$0]) }
        guard !isFault else {
            // What it was to be filled in with is older than the deletion.
            if leads(toOnes, to: gone) { snapshot = nil }
            return false
        }
        let isLinked = leads(toOnes, to: gone)
        let hasMembers = toManys.contains {
            !self.toManys[$0].touched(by: gone.references).isEmpty
        }
        guard isLinked || hasMembers else { return false }
        observing {
            if isLinked { for slot in toOnes { forget(gone, at: slot) } }
            for slot in toManys { self.toManys[slot].forget(gone.references) }
        }
        return true
    }

    private func forget(_ gone: GoneObjects, at slot: Int) {
        if gone.contains(toOnes[slot]) { toOnes[slot] = nil }
        if gone.contains(snapshot?.toOnes[slot]) { snapshot?.toOnes[slot] = nil }
        if let base = eventBase, gone.contains(base.toOnes[slot]) { base.toOnes[slot] = nil }
    }

    /// Whether one of some to-ones leads to what is gone, now or as it was read. Takes no values
    /// out of a row.
    private func leads(_ slots: [Int], to gone: GoneObjects) -> Bool {
        slots.contains { slot in
            if let target = packed?.target(slot), gone.rows.contains(target) { return true }
            if packed == nil, gone.contains(snapshot?.toOnes[slot]) { return true }
            return row == nil && !isFault && gone.contains(toOnes[slot])
        }
    }
}
