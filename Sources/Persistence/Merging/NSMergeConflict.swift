public import Foundation
internal import ObjectModel
internal import Stores

/// An object whose row changed since it was read. Source: Apple, NSMergeConflict. Queue: that of
/// the saving context.
///
/// Difference from Apple: a row that another process wrote is told like one that another context
/// of the coordinator wrote, since rows are not kept between reads.
open class NSMergeConflict: NSObject {
    /// The object that could not be saved.
    public final let sourceObject: NSManagedObject
    /// The row's version now; 0 when it was deleted.
    public final let newVersionNumber: Int
    /// The version the object was read at.
    public final let oldVersionNumber: Int
    /// The values the object was read with; nil for a new one.
    public final let objectSnapshot: [String: Any]?
    /// The values the store has now; nil when the row was deleted.
    public final let cachedSnapshot: [String: Any]?
    /// Nil in the conflicts of a save.
    public final let persistedSnapshot: [String: Any]?
    /// The row as it is now, for the policies.
    private var stored: ObjectSnapshot?
    /// What came back with the object, since only its deletion had deleted them.
    private(set) var companions: [NSManagedObject] = []

    /// For merge policies' tests; saves make them by themselves.
    public init(
        source: NSManagedObject, newVersion: Int, oldVersion: Int,
        cachedSnapshot: [String: Any]?, persistedSnapshot: [String: Any]?
    ) {
        sourceObject = source
        objectSnapshot = source.snapshot.map(source.values)
        newVersionNumber = newVersion
        oldVersionNumber = oldVersion
        self.cachedSnapshot = cachedSnapshot
        self.persistedSnapshot = persistedSnapshot
    }

    convenience init(_ object: NSManagedObject, stored: ObjectSnapshot?) {
        self.init(
            source: object, newVersion: Int(stored?.version ?? 0),
            // What stands for a version that a program's store has not told is none.
            oldVersion: Int(max(object.snapshot?.version ?? 0, 0)),
            cachedSnapshot: stored.map(object.values), persistedSnapshot: nil)
        self.stored = stored
    }

    /// Whether only members of relationships changed, which never contradicts the row.
    final var concernsOnlyMembers: Bool {
        guard stored != nil, !sourceObject.isDeleted else { return false }
        return sourceObject.changedSlots().allSatisfy { name, slot in
            if case .toMany(let index) = slot { return !sourceObject.toManys[index].isOrdered }
            return false
        }
    }

    /// Makes the object what the policy wants to be saved.
    final func resolve(_ type: NSMergePolicyType) {
        guard let stored else { return settleDeletion(type) }
        let object = sourceObject
        let shown = object.isFault ? [] : object.toOnes
        switch type {
        case .errorMergePolicyType: break
        case .overwriteMergePolicyType where !object.isDeleted:
            object.takeUnchangedPartners(of: stored)
            object.take(asStored: stored)
        case .overwriteMergePolicyType: object.rebase(onto: stored)
        case .mergeByPropertyObjectTrumpMergePolicyType: object.rebase(onto: stored)
        case .mergeByPropertyStoreTrumpMergePolicyType:
            object.takeStoreChanges(stored)
            object.rebase(onto: stored)
        case .rollbackMergePolicyType:
            companions = object.cascaded()
            object.goBack(to: stored)
            for companion in companions { companion.goBack(to: nil) }
        }
        object.letEndsFollow(from: shown)
        object.awake(fromSnapshotEvents: .mergePolicy)
    }

    /// Takes the row's version for what the policy left undecided.
    final func accept() {
        guard let stored, sourceObject.snapshot?.version != stored.version else { return }
        if sourceObject.isDeleted {
            sourceObject.rebase(onto: stored)
        } else {
            sourceObject.take(asStored: stored)
        }
    }

    /// The object, where it is to be written anew since its row was deleted.
    final var returning: NSManagedObject? {
        let object = sourceObject
        return stored == nil && object.isInserted && !object.isDeleted ? object : nil
    }

    private func settleDeletion(_ type: NSMergePolicyType) {
        let object = sourceObject
        guard let context = object.context else { return }
        switch type {
        case .overwriteMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType:
            guard !object.isDeleted else { return context.dropDeleted(object) }
            object.state.insert(.inserted)
            object.snapshot = nil
        default: context.dropDeleted(object)
        }
    }
}

extension NSManagedObject {
    /// Keeps its values, to be written over a row. Members that others added stay in the store, so
    /// they are shown.
    fileprivate final func take(asStored row: ObjectSnapshot) {
        snapshot = row
        for slot in toManys.indices { rebaseMembers(slot) }
    }

    /// A snapshot's attributes and to-one links by name.
    final func values(of snapshot: ObjectSnapshot) -> [String: Any] {
        var values: [String: Any] = [:]
        for (slot, place) in shape.layout.attributes.enumerated() {
            values[place.name] =
                AttributeCoding.present(snapshot.attributes[slot], for: place.attribute) ?? NSNull()
        }
        for (slot, relationship) in shape.layout.toOnes.enumerated() {
            values[relationship.name] = snapshot.toOnes[slot] ?? NSNull()
        }
        return values
    }

    /// Gives up the own changes of what the store changed too.
    final func takeStoreChanges(_ stored: ObjectSnapshot) {
        guard let former = snapshot else { return }
        let isUnknown = former.version == ObjectSnapshot.unknownVersion
        for index in attributes.indices
        where isUnknown || stored.attributes[index] != former.attributes[index] {
            let sum = count(
                index, own: attributes[index], former: former.attributes[index],
                found: stored.attributes[index])
            // Counted together where the changes that stay are put upon the row.
            if sum != nil { continue }
            attributes[index] = stored.attributes[index]
            extras?.transformed[index] = nil
        }
        for index in toOnes.indices
        where isUnknown || stored.toOnes[index] !== former.toOnes[index] {
            if toOnes[index] !== former.toOnes[index] { restoreEnd(index, as: former) }
            toOnes[index] = stored.toOnes[index]
        }
    }
}

extension NSManagedObjectContext {
    /// Brings conflicts of versions before the policy, and carries out what it decided.
    final func settle(_ conflicts: [NSMergeConflict]) throws {
        try settings.mergePolicy.resolve(mergeConflicts: conflicts)
        for conflict in conflicts { conflict.accept() }
        try letRulesFollow(conflicts.flatMap { [$0.sourceObject] + $0.companions })
        let returning = conflicts.compactMap(\.returning)
        if !returning.isEmpty {
            try ReturningObjects(context: self, objects: returning).takeBackLinks()
        }
        try forgetGoneWhileSaving()
    }

    /// Lets go of an object whose row somebody else deleted; `forgetGoneObjects` then takes it out
    /// of the relationships of others.
    final func dropDeleted(_ object: NSManagedObject) {
        object.state.subtract(.pending)
        object.state.insert(.deleted)
        pending.note(.deletedNow, of: object)
        if let id = object.identity { pending.gone.append(id) }
        registry.unregister(object)
        object.leaveContext()
        object.state.subtract(.pending)
    }
}
