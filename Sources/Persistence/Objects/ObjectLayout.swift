internal import Foundation
internal import ObjectModel
internal import Platform
internal import Stores

/// Where each property of an entity stands in an object's arrays; made once for each entity.
///
/// Persistent slots are those of the store's `EntityLayout`, so that rows pass without being
/// rearranged.
final class ObjectLayout: @unchecked Sendable {
    // @unchecked: never changed once made; descriptions are read-only then.

    /// The place of one property.
    enum Slot: Hashable {
        case attribute(Int)
        case toOne(Int)
        case toMany(Int)
        case composite(CompositeSlots)
        /// Kept by name in the object only.
        case transient
        case fetched

        var isPersistent: Bool {
            switch self {
            case .attribute, .toOne, .toMany, .composite: true
            case .transient, .fetched: false
            }
        }
    }

    let entity: NSEntityDescription
    /// What the IDs of new objects have in common.
    let unsavedIDs: ObjectIDTable
    let layout: EntityLayout
    /// What a new object starts with.
    let beginning: ObjectContents
    /// What its transient attributes start with.
    let transientDefaults: [String: Any]
    private let toManys: (unloaded: [ToManyMembers], empty: [ToManyMembers])
    let checks: [AttributeCheck]
    /// All modelled property names, in order.
    let propertyNames: [String]
    /// Names of the properties whose former values a snapshot does not tell: transient ones, and
    /// the order of ordered relationships.
    private let outsideSnapshot: Set<String>
    private let attributeIndex: AttributeIndex
    private let slots: [String: Slot]

    var defaults: [AttributeValue] { beginning.attributes }
    var noToOnes: [NSManagedObjectID?] { beginning.toOnes }
    var unloadedToManys: [ToManyMembers] { toManys.unloaded }
    var emptyToManys: [ToManyMembers] { toManys.empty }

    private init(_ entity: NSEntityDescription) {
        self.entity = entity
        unsavedIDs = ObjectIDTable(entity: entity)
        layout = EntityLayout(entity: entity, number: 0)
        beginning = ObjectContents(
            attributes: layout.attributes.map {
                AttributeCoding.accept($0.attribute.defaultValue, for: $0.attribute) ?? .null
            }, toOnes: Array(repeating: nil, count: layout.toOnes.count))
        transientDefaults = entity.attributesByName.filter { $0.value.isTransient }
            .compactMapValues(\.defaultValue)
        toManys = (
            layout.toManys.map { ToManyMembers(isOrdered: $0.isOrdered) },
            layout.toManys.map { ToManyMembers(isOrdered: $0.isOrdered, members: []) }
        )
        checks = layout.attributes.enumerated().compactMap { slot, place in
            AttributeCheck(slot: slot, name: place.name, attribute: place.attribute)
        }
        attributeIndex = AttributeIndex(layout.attributes)
        let slots = Self.slots(of: entity, in: layout)
        self.slots = slots
        propertyNames = slots.keys.sorted()
        let ordered = layout.toManys.filter(\.isOrdered).map(\.name)
        outsideSnapshot = Set(slots.filter { !$0.value.isPersistent }.keys).union(ordered)
        tie.begin(self)
    }

    deinit { tie.end() }

    private static func slots(
        of entity: NSEntityDescription, in layout: EntityLayout
    ) -> [String: Slot] {
        var slots: [String: Slot] = [:]
        for (name, property) in entity.propertiesByName {
            if let composite = property as? NSCompositeAttributeDescription {
                let elements = CompositeSlots(of: composite, at: name, in: layout)
                for (path, inner) in elements.composites(below: name) {
                    slots[path] = .composite(inner)
                }
                slots[name] = .composite(elements)
            } else if let slot = layout.attributeSlot(name) {
                slots[name] = .attribute(slot)
            } else if let slot = layout.toOneSlot(name) {
                slots[name] = .toOne(slot)
            } else if let slot = layout.toManySlot(name) {
                slots[name] = .toMany(slot)
            } else {
                slots[name] = property is NSFetchedPropertyDescription ? .fetched : .transient
            }
        }
        for (slot, place) in layout.attributes.enumerated() where slots[place.name] == nil {
            slots[place.name] = .attribute(slot)
        }
        return slots
    }

    var hasRelationships: Bool { !layout.toOnes.isEmpty || !layout.toManys.isEmpty }

    func slot(_ name: String) -> Slot? { slots[name] }

    /// The slot of an attribute; nil for any other name.
    func attributeSlot(_ name: String) -> Int? { attributeIndex.slot(name) }

    /// Whether snapshots tell the former values of all properties.
    var isWhollyInSnapshot: Bool { outsideSnapshot.isEmpty }

    func isInSnapshot(_ name: String) -> Bool { !outsideSnapshot.contains(name) }

    /// How typed accessors may treat the attribute of a slot.
    func plainKind(_ slot: Int) -> PlainKind { attributeIndex.kinds[slot] }

    /// One number per persistent property, for sets of changed properties.
    func index(of slot: Slot) -> Int {
        switch slot {
        case .attribute(let index): index
        case .toOne(let index): layout.attributes.count + index
        case .toMany(let index): layout.attributes.count + layout.toOnes.count + index
        case .composite(let elements): elements.all.first ?? 0
        case .transient, .fetched:
            layout.attributes.count + layout.toOnes.count + layout.toManys.count
        }
    }

    // MARK: Finding shapes

    private static let known = Lock<[ObjectIdentifier: ZeroingReference<ObjectLayout>]>([:])
    private let tie = ZeroingReference<ObjectLayout>()

    /// The shape of `entity`, made at the first call and kept while anything holds it.
    static func of(_ entity: NSEntityDescription) -> ObjectLayout {
        let key = ObjectIdentifier(entity)
        if let shape = known.withLock({ $0[key]?.target }) { return shape }
        let shape = ObjectLayout(entity)
        return known.withLock { known in
            if let other = known[key]?.target { return other }
            known[key] = shape.tie
            return shape
        }
    }

    // MARK: Making many objects

    private static let expectedKey: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// What the initializers of many objects, on one thread, are to find at once.
    final class Expectation {
        // Exclusivity is not checked at run time: one thread uses it, by calls that do not nest.
        let shape: ObjectLayout
        let type: NSManagedObject.Type
        /// The row of the next object of just this type, which takes it.
        @exclusivity(unchecked) var row: PackedRow?

        init(_ shape: ObjectLayout, _ type: NSManagedObject.Type) {
            self.shape = shape
            self.type = type
        }
    }

    /// Lets the initializers of objects of this shape find it at once for as long as `work` runs,
    /// on this thread.
    func expecting<Value>(
        _ type: NSManagedObject.Type, _ work: (Expectation) -> Value
    ) -> Value {
        let expectation = Expectation(self, type)
        let former = pthread_getspecific(Self.expectedKey)
        pthread_setspecific(Self.expectedKey, Unmanaged.passUnretained(expectation).toOpaque())
        defer { pthread_setspecific(Self.expectedKey, former) }
        return withExtendedLifetime(expectation) { work(expectation) }
    }

    /// The shape for an object of a type that is being made outside of any context, and the row
    /// that waits for it, which counts as taken.
    static func begin(
        _ entity: NSEntityDescription, _ type: NSManagedObject.Type, _ row: inout PackedRow?
    ) -> ObjectLayout {
        guard let place = pthread_getspecific(expectedKey) else { return of(entity) }
        // Alive: the call of `expecting` that put it there is still running on this thread.
        let expectation = Unmanaged<Expectation>.fromOpaque(place)
        return expectation._withUnsafeGuaranteedRef { expected in
            guard expected.shape.entity === entity else { return of(entity) }
            if expected.type == type { swap(&row, &expected.row) }
            return expected.shape
        }
    }
}
