import CoreData
import Foundation
import Stores

/// Two contexts of one store, which edit at random and save one after the other; what each changed
/// is written down before it saves, and must be in the store afterwards as the policy has it.
final class TwoContextWalk {
    private var dice: Dice
    let bench: Bench
    private(set) var story: [String] = []
    private(set) var faults: [String] = []
    private var policy = NSMergePolicy.error
    /// Whether the second context knows what the first saved: its edits stand on top then.
    private var isMerged = false
    private static let entities = [
        "Person", "Employee", "Department", "Passport", "Project", "Playlist", "Song", "Tag",
    ]
    private static let policies: [NSMergePolicy] = [
        .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]

    /// What a context is about to save, and what it had read of it.
    private struct Edits {
        var values: [NSManagedObjectID: [String: AnyHashable]] = [:]
        var touched: Set<NSManagedObjectID> = []
        var deleted: Set<NSManagedObjectID> = []

        init(_ context: NSManagedObjectContext) {
            context.processPendingChanges()
            for object in context.updatedObjects where !object.isDeleted {
                let changed = object.changedValues()
                guard !changed.isEmpty else { continue }
                touched.insert(object.objectID)
                for key in ["name", "age"] where changed[key] != nil {
                    let value = TwoContextWalk.value(key, of: object)
                    values[object.objectID, default: [:]][key] = value
                }
            }
            deleted = Set(context.deletedObjects.map(\.objectID))
        }
    }

    init(_ kind: StoreKind, seed: UInt64) throws {
        dice = Dice(seed)
        bench = try Bench(kind)
    }

    static func value(_ key: String, of object: NSManagedObject) -> AnyHashable {
        guard object.entity.attributesByName[key] != nil else { return AnyHashable("-") }
        return (object.value(forKey: key) as? AnyHashable) ?? AnyHashable("nil")
    }

    private func blame(_ fault: String) { faults.append(fault) }
    private func tell(_ line: String) { story.append(line) }

    // MARK: Rounds

    func run(rounds: Int) throws {
        for number in 0..<12 { try insert("s\(number)", in: bench.context) }
        for _ in 0..<20 { try edit(bench.context) }
        do { try bench.context.save() } catch { bench.context.rollback() }
        for _ in 0..<rounds where faults.isEmpty { try round() }
    }

    private func round() throws {
        let (first, second) = (bench.newContext(), bench.newContext())
        policy = dice.pick(Self.policies) ?? .error
        (first.name, second.name) = ("first", "second")
        second.mergePolicy = policy
        tell("round, \(policy.mergeType)")
        if dice.hits(30) { second.undoManager = UndoManager() }
        second.automaticallyMergesChangesFromParent = dice.hits(20)
        for _ in 0...dice.below(8) { try edit(dice.hits(50) ? first : second) }
        let theirs = Edits(first)
        guard try save(first, "first") else { return first.rollback() }
        second.performAndWait {}
        // What is read from now on is no conflict, so nothing new is edited.
        if dice.hits(15) { second.undo() }
        isMerged = second.automaticallyMergesChangesFromParent || dice.hits(15)
        if isMerged { second.refreshAllObjects() }
        let mine = Edits(second)
        let before = try picture()
        for object in second.updatedObjects.union(second.insertedObjects) {
            tell("\(title(object)) changed \(object.changedValues())")
        }
        let isSaved = try save(second, "second")
        for (key, after) in try picture() where before[key] != after {
            tell("stored \(key): \(before[key] ?? "-") is now \(after)")
        }
        try check(theirs, isSaved ? mine : nil)
        if isSaved {
            try compare(second)
        } else if try picture() != before {
            blame("a save that failed changed the store")
        }
    }

    private func save(_ context: NSManagedObjectContext, _ name: String) throws -> Bool {
        do {
            tell("\(name) saves, merged \(isMerged)")
            try context.save()
        } catch let error as NSError {
            tell("… and fails: \(error.code)")
            let isRule = (1550...1690).contains(error.code)
            let isConflict = error.code == NSManagedObjectMergeError
            if !isRule, !(isConflict && policy.mergeType == .errorMergePolicyType) {
                blame("a save threw \(error)")
            }
            return false
        }
        let dangling = try GoneObjectTests.danglingLinks(bench).filter { !$0.hasSuffix("owner") }
        if !dangling.isEmpty { blame("after \(name): \(dangling)") }
        for fault in try oneSidedLinks() { blame("after \(name): \(fault)") }
        return true
    }

    // MARK: Edits

    private func all(_ context: NSManagedObjectContext, _ entity: String? = nil) throws
        -> [NSManagedObject]
    {
        try (entity.map { [$0] } ?? Self.entities.filter { $0 != "Employee" }).flatMap { name in
            let request = NSFetchRequest<NSManagedObject>(entityName: name)
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try context.fetch(request)
        }
    }

    private func insert(_ name: String, in context: NSManagedObjectContext) throws {
        let entity = dice.pick(Self.entities) ?? "Person"
        tell("insert \(entity) \(name)")
        try bench.make(entity, name, in: context)
    }

    private func edit(_ context: NSManagedObjectContext) throws {
        guard let object = dice.pick(try all(context)) else {
            return try insert("new", in: context)
        }
        switch dice.below(16) {
        case 0: try insert("i\(dice.below(10_000))", in: context)
        case 1, 2:
            tell("\(title(context)) deletes \(title(object))")
            context.delete(object)
        case 3..<6:
            let value = "v\(dice.below(10_000))"
            tell("\(title(context)) names \(title(object)) \(value)")
            object.setValue(value, forKey: "name")
        case 6, 7:
            guard let person = object as? Person else { return }
            person.age = Int16(dice.below(100))
            tell("\(title(context)) age \(title(person)) \(person.age)")
        case 8 where context.undoManager != nil:
            tell("\(title(context)) undoes")
            context.undo()
        case 9 where dice.hits(20):
            tell("\(title(context)) rolls back")
            context.rollback()
        case 10 where !object.hasChanges: context.refresh(object, mergeChanges: false)
        case 10: context.refresh(object, mergeChanges: true)
        default: try link(object, in: context)
        }
        if dice.hits(60) { context.processPendingChanges() }
    }

    private func link(_ object: NSManagedObject, in context: NSManagedObjectContext) throws {
        let all = object.entity.relationshipsByName.sorted { $0.key < $1.key }
        guard let (key, relationship) = dice.pick(all),
            let entity = relationship.destinationEntity?.name, entity != "Account",
            let other = dice.pick(try self.all(context, entity))
        else { return }
        tell("\(title(context)) \(title(object)).\(key) → \(title(other))")
        switch (relationship.isToMany, dice.below(4)) {
        case (true, 0): object.removeObject(other, fromRelationshipNamed: key)
        case (true, _): object.addObject(other, toRelationshipNamed: key)
        case (false, 0): object.setValue(nil, forKey: key)
        case (false, _): object.setValue(other, forKey: key)
        }
    }

    private func title(_ context: NSManagedObjectContext) -> String {
        context.name ?? "setup"
    }

    private func title(_ object: NSManagedObject) -> String {
        let number = object.objectID.rowID.map { "\($0.key)" } ?? "new"
        return "\(object.entity.name ?? "") \(number)"
    }

    // MARK: What must be in the store

    /// Each row's values and links as text.
    private func picture() throws -> [String: String] {
        let rows = bench.store.rowStore
        var picture: [String: String] = [:]
        for entity in rows.layout.entities {
            for row in try rows.rows(matching: RowQuery(entity: entity.number))
            where row.id.entity == entity.number {
                let members = try entity.toManys.indices.map {
                    try rows.members(of: row.id, toMany: $0).map(\.target.key)
                }
                let links = row.toOnes.map { $0.map { "\($0.target.key)" } ?? "-" }
                picture["\(entity.name) \(row.id.key)"] = "\(row.attributes) \(links) \(members)"
            }
        }
        return picture
    }

    /// One-to-ones whose other end does not lead back.
    private func oneSidedLinks() throws -> [String] {
        let rows = bench.store.rowStore
        var found: [String] = []
        for entity in rows.layout.entities {
            for row in try rows.rows(matching: RowQuery(entity: entity.number))
            where row.id.entity == entity.number {
                for (slot, relationship) in entity.toOnes.enumerated() {
                    guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
                        let target = row.toOnes[slot]?.target, let other = try rows.row(target),
                        let back = rows.layout.entity(target.entity)?.toOneSlot(inverse.name)
                    else { continue }
                    let end = other.toOnes[back]?.target
                    guard end != row.id else { continue }
                    found.append(
                        "\(entity.name) \(row.id.key).\(relationship.name) leads to "
                            + "\(target.key), which leads to \(end?.key ?? 0)")
                }
            }
        }
        return found
    }

    private func check(_ theirs: Edits, _ mine: Edits?) throws {
        let fresh = bench.newContext()
        let type = policy.mergeType
        func stored(_ id: NSManagedObjectID) -> NSManagedObject? {
            try? fresh.existingObject(with: id)
        }
        let objectWins =
            isMerged || type == .mergeByPropertyObjectTrumpMergePolicyType
            || type == .overwriteMergePolicyType
        for (id, values) in theirs.values where mine?.deleted.contains(id) != true {
            guard let object = stored(id) else {
                // A deletion that goes on takes what came to its object meanwhile.
                if mine?.deleted.isDisjoint(with: theirs.touched) == false { continue }
                blame("\(id) of the first is gone")
                continue
            }
            if type == .overwriteMergePolicyType, mine?.touched.contains(id) == true { continue }
            for (key, value) in values where !(objectWins && mine?.values[id]?[key] != nil) {
                let found = Self.value(key, of: object)
                if found != value { blame("first's \(key) \(value) of \(id) is \(found)") }
            }
        }
        guard let mine else { return }
        for id in mine.deleted where stored(id) != nil {
            if type != .rollbackMergePolicyType || !(theirs.touched.contains(id)) {
                let isKept = type == .rollbackMergePolicyType && !theirs.touched.isEmpty
                if !isKept { blame("\(id), which the second deleted, is there") }
            }
        }
        for (id, values) in mine.values {
            let isContested = theirs.touched.contains(id) || theirs.deleted.contains(id)
            if isContested, type == .rollbackMergePolicyType { continue }
            guard let object = stored(id) else {
                if !theirs.deleted.contains(id) || (objectWins && !isMerged) {
                    blame("second's \(id) is gone")
                }
                continue
            }
            for (key, value) in values {
                let isTheirs = theirs.values[id]?[key] != nil && !objectWins
                let found = Self.value(key, of: object)
                if !isTheirs, found != value {
                    blame("second's \(key) \(value) of \(id) is \(found)")
                }
            }
        }
    }

    /// The context that saved shows what is stored, once it looks again; what it saved at once.
    private func compare(_ context: NSManagedObjectContext) throws {
        if context.hasChanges { blame("changes are left after a save") }
        context.refreshAllObjects()
        let fresh = bench.newContext()
        let (shown, stored) = (try all(context), try all(fresh))
        guard shown.map(title) == stored.map(title) else { return blame("other objects are shown") }
        for (one, two) in zip(shown, stored) {
            for (key, relationship) in one.entity.relationshipsByName {
                func ends(_ object: NSManagedObject) -> [String] {
                    let ids = object.objectIDs(forRelationshipNamed: key)
                    let keys = ids.map { "\($0.rowID?.key ?? 0)" }
                    return relationship.isOrdered ? keys : keys.sorted()
                }
                if ends(one) != ends(two) {
                    blame("\(title(one)).\(key) shows \(ends(one)), stored are \(ends(two))")
                }
            }
        }
    }
}
