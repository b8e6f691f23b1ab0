internal import Foundation
internal import ObjectModel
internal import Stores

/// An ordered relationship as a mutable ordered set.
///
/// `array`, `set`, `firstObject`, `lastObject`, `reversed` and enumerators cannot be overridden
/// here: they show the members as this set was asked for, or as it left them itself. Nor can
/// `sort(using:)`, which sorts Foundation's own storage alone: the members follow when this set is
/// used again or let go of, and when its context processes changes (`takeSorting()`).
final class RelationshipOrderedSet: NSMutableOrderedSet {
    private let owner: NSManagedObject?
    private let key: String
    /// While Foundation's own storage is filled, which asks for what that holds.
    private var isFilling = false
    /// What Foundation's own storage was filled with.
    private var shown: [Any] = []

    init(owner: NSManagedObject, key: String) {
        self.owner = owner
        self.key = key
        super.init(capacity: 0)
        fill()
    }

    deinit { takeSorting(isEnding: true) }

    required init?(coder: NSCoder) { return nil }

    required init(arrayLiteral elements: Any...) {
        owner = nil
        key = ""
        super.init(capacity: 0)
    }

    private func members(_ owner: NSManagedObject) -> ToManyMembers {
        owner.toManys[owner.openToMany(key)]
    }

    /// Gives Foundation's own storage the members, for what reads nothing else.
    private func fill() {
        let members = current.array
        isFilling = true
        while super.count > 0 { super.removeObject(at: super.count - 1) }
        for (index, object) in members.enumerated() { super.insert(object, at: index) }
        isFilling = false
        shown = members
    }

    // MARK: What Foundation sorted in its own storage

    /// Whether Foundation's storage has another object at a place than it was given.
    private func isSorted(at index: Int) -> Bool {
        guard shown.indices.contains(index), index < super.count else { return false }
        return stored(at: index) as AnyObject !== shown[index] as AnyObject
    }

    /// What Foundation's storage has at a place, which it looks up after a look at `count`: that is
    /// smaller where members went another way.
    private func stored(at index: Int) -> Any {
        let wasFilling = isFilling
        isFilling = true
        defer { isFilling = wasFilling }
        return super.object(at: index)
    }

    /// Gives the members the order that Foundation's `sort(using:)` gave its own storage; those
    /// that came meanwhile stay behind the others.
    func takeSorting(isEnding: Bool = false) {
        guard !isFilling, shown.count == super.count,
            shown.indices.contains(where: { isSorted(at: $0) }),
            let owner, owner.managedObjectContext != nil, !owner.isDeleted
        else { return }
        shown = shown.indices.map { stored(at: $0) }
        let members = current
        let sorted = NSMutableOrderedSet(array: shown.filter { members.contains($0) })
        sorted.addObjects(from: members.array)
        owner.setValue(sorted.array, forKey: key)
        if !isEnding { fill() }
    }

    private func change(_ body: @escaping (NSManagedObject, Int) -> Void) {
        guard let owner else { return }
        takeSorting()
        let key = key
        let slot = owner.openToMany(key)
        owner.willChangeValue(forKey: key)
        guard owner.isOpen(slot) else {
            return owner.postpone(members: slot) { owner in
                owner.willChangeValue(forKey: key)
                body(owner, slot)
                owner.didChangeValue(forKey: key)
            }
        }
        body(owner, slot)
        owner.didChangeValue(forKey: key)
        fill()
    }

    override var count: Int { isFilling ? super.count : owner.map { members($0).count } ?? 0 }

    override func object(at index: Int) -> Any {
        guard let owner else { return NSNull() }
        if isSorted(at: index) { takeSorting() }
        return owner.related(members(owner).sequence[index].id) ?? NSNull()
    }

    override func index(of object: Any) -> Int {
        guard let owner, let object = object as? NSManagedObject else { return NSNotFound }
        takeSorting()
        return members(owner).sequence.firstIndex(of: object.reference) ?? NSNotFound
    }

    override func insert(_ object: Any, at index: Int) {
        guard let object = object as? NSManagedObject else { return }
        change { owner, slot in owner.add(object, to: slot, at: index) }
    }

    override func removeObject(at index: Int) {
        change { owner, slot in
            let members = owner.toManys[slot].sequence
            guard members.indices.contains(index) else { return }
            owner.remove(members[index], from: slot)
        }
    }

    /// Lets Foundation change a plain copy, and gives the relationship what came of it: what
    /// Foundation does beside the four calls above changes a storage of its own.
    private func rewrite(_ body: @escaping (NSMutableOrderedSet) -> Void) {
        guard let owner else { return }
        let key = key
        let slot = owner.openToMany(key)
        guard owner.isOpen(slot) else {
            return owner.postpone(members: slot) {
                RelationshipOrderedSet(owner: $0, key: key).rewrite(body)
            }
        }
        let plain = self.plain
        body(plain)
        owner.setValue(plain.array, forKey: key)
        fill()
    }

    /// The members, apart from their object.
    private var plain: NSMutableOrderedSet {
        takeSorting()
        return current
    }

    private var current: NSMutableOrderedSet {
        guard let owner else { return [] }
        return NSMutableOrderedSet(
            array: members(owner).sequence.compactMap { owner.related($0.id) })
    }

    // MARK: What Foundation would do to its own storage

    override func replaceObject(at index: Int, with object: Any) {
        rewrite { $0.replaceObject(at: index, with: object) }
    }

    override func setObject(_ object: Any, at index: Int) {
        rewrite { $0.setObject(object, at: index) }
    }

    override func add(_ object: Any) {
        guard index(of: object) == NSNotFound else { return }
        insert(object, at: count)
    }

    override func addObjects(from array: [Any]) { for object in array { add(object) } }

    override func insert(_ objects: [Any], at indexes: IndexSet) {
        rewrite { $0.insert(objects, at: indexes) }
    }

    override func remove(_ object: Any) {
        guard let owner, let object = object as? NSManagedObject else { return }
        takeSorting()
        owner.removeObject(object, fromRelationshipNamed: key)
        fill()
    }

    override func removeObjects(in array: [Any]) { for object in array { remove(object) } }

    override func removeObjects(in range: NSRange) {
        rewrite { $0.removeObjects(in: range) }
    }

    override func removeObjects(at indexes: IndexSet) {
        rewrite { $0.removeObjects(at: indexes) }
    }

    override func removeAllObjects() { rewrite { $0.removeAllObjects() } }

    override func exchangeObject(at first: Int, withObjectAt second: Int) {
        rewrite { $0.exchangeObject(at: first, withObjectAt: second) }
    }

    override func moveObjects(at indexes: IndexSet, to index: Int) {
        rewrite { $0.moveObjects(at: indexes, to: index) }
    }

    override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
        rewrite { $0.replaceObjects(at: indexes, with: objects) }
    }

    /// Foundation's own of a plain set does not end on Linux (Swift 6.3).
    override func intersect(_ other: NSOrderedSet) { keep { other.contains($0) } }
    override func minus(_ other: NSOrderedSet) { rewrite { $0.minus(other) } }
    override func union(_ other: NSOrderedSet) { rewrite { $0.union(other) } }
    override func intersectSet(_ other: Set<AnyHashable>) {
        keep { ($0 as? NSManagedObject).map { other.contains($0) } ?? false }
    }

    private func keep(_ isKept: (Any) -> Bool) {
        removeObjects(in: plain.array.filter { !isKept($0) })
    }

    override func minusSet(_ other: Set<AnyHashable>) { rewrite { $0.minusSet(other) } }
    override func unionSet(_ other: Set<AnyHashable>) { rewrite { $0.unionSet(other) } }

    override func sort(comparator: (Any, Any) -> ComparisonResult) {
        sortRange(NSRange(location: 0, length: count), options: [], usingComparator: comparator)
    }

    override func sort(
        options: NSSortOptions = [], usingComparator comparator: (Any, Any) -> ComparisonResult
    ) {
        sortRange(
            NSRange(location: 0, length: count), options: options, usingComparator: comparator)
    }

    override func sortRange(
        _ range: NSRange, options: NSSortOptions = [],
        usingComparator comparator: (Any, Any) -> ComparisonResult
    ) {
        // The comparator lives as long as this call; the order that it gives is what is kept.
        let sorted = plain
        sorted.sortRange(range, options: options, usingComparator: comparator)
        let order = sorted.array
        rewrite { plain in
            plain.removeAllObjects()
            plain.addObjects(from: order)
        }
    }

    // MARK: Reading

    override func contains(_ object: Any) -> Bool {
        isFilling ? super.contains(object) : index(of: object) != NSNotFound
    }
    override func objects(at indexes: IndexSet) -> [Any] { indexes.map { self.object(at: $0) } }
    override func isEqual(to other: NSOrderedSet) -> Bool { plain.isEqual(to: other) }
    override func intersects(_ other: NSOrderedSet) -> Bool { plain.intersects(other) }
    override func isSubset(of other: NSOrderedSet) -> Bool { plain.isSubset(of: other) }
    override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: plain.array) }
    override func mutableCopy(with zone: NSZone? = nil) -> Any { plain }
}
