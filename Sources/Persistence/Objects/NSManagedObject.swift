public import Foundation
public import ObjectModel
internal import Stores

/// One object of the graph: a row's values, its links, and what changed since the last save.
///
/// Queue: that of its one context. The context keeps changed objects, the program keeps the others;
/// a relationship that was read keeps its members, until the object becomes a fault or its context
/// ends. So objects whose relationships were read both ways keep each other: refresh them, or reset
/// the context. A subclass with designated initializers of its own must also write
/// `init(entity:insertInto:)`. Source: Apple, NSManagedObject.
open class NSManagedObject: NSObject, NSFetchRequestResult {
    // Exclusivity is not checked at run time below: an object is used on one queue, no access calls
    // out while it lasts, and the checks cost more than the reads.
    final let shape: ObjectLayout
    @exclusivity(unchecked) final var state: ObjectState = []
    /// Slots whose texts were made of the pack, one bit for each and all that share it.
    @exclusivity(unchecked) final var textsRead: UInt32 = 0
    /// The row the object was read as, as long as it stands for its values; `contents` has none
    /// then.
    @exclusivity(unchecked) final var packed: PackedRow?
    /// Where the object stands in its context; nil while it belongs to none.
    @exclusivity(unchecked) private(set) final var shelf: RegisteredObjectTable?
    /// Its place there.
    @exclusivity(unchecked) private(set) final var key: Int64 = 0
    /// Its ID, once there is one: an object that was read needs none until somebody asks.
    @exclusivity(unchecked) final var madeID: NSManagedObjectID?
    @exclusivity(unchecked) final var contents: ObjectContents
    @exclusivity(unchecked) final var toManys: [ToManyMembers]
    /// The objects of to-one links that were followed, by slot; empty before.
    @exclusivity(unchecked) final var heldToOnes: [NSManagedObject?] = []
    @exclusivity(unchecked) final var extras: ObjectExtras?
    @exclusivity(unchecked) final var event = ObjectEvent()

    /// Makes a new object with the model's default values; a nil context leaves it on its own.
    public required init(
        entity: NSEntityDescription, insertInto context: NSManagedObjectContext?
    ) {
        var row: PackedRow?
        let shape =
            context?.registry.shape(of: entity) ?? ObjectLayout.begin(entity, Self.self, &row)
        self.shape = shape
        contents = row == nil ? shape.beginning : ObjectContents()
        packed = row
        toManys = shape.emptyToManys
        super.init()
        if packed == nil { beginTransients() }
        if QueueGuard.isOn { state.insert(.guarded) }
        context?.insert(self)
    }

    deinit {
        // Without holding it meanwhile: it is this object's still.
        let place = shelf.map { Unmanaged.passUnretained($0) }
        place?._withUnsafeGuaranteedRef { $0.remove(self) }
        if !heldToOnes.isEmpty || toManys.contains(where: { $0.held != nil }) {
            EndsRelease.release(&heldToOnes, &toManys)
        }
    }

    /// Makes a new object of this class's entity in `context`.
    public required convenience init(context: NSManagedObjectContext) {
        self.init(entity: Self.entity(in: context), insertInto: context)
    }

    /// Makes an object of this class's entity that belongs to no context; one without properties
    /// where no loaded model has the entity.
    public required convenience override init() {
        self.init(entity: Self.entity(), insertInto: nil)
    }

    /// The entity that names this class in the newest loaded model. Where none does, an entity of
    /// no model that has the class's name and no properties.
    open class func entity() -> NSEntityDescription { KnownClasses.entity(of: self) }

    /// Kept for old sources, which override it for key-value observing: nothing asks for it here,
    /// where `observe(_:options:changeHandler:)` tells of each property by itself.
    open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }

    private static func entity(in context: NSManagedObjectContext) -> NSEntityDescription {
        context.registry.entity(of: self, in: context.model) ?? entity()
    }

    /// Whether changes of properties outside the model leave `hasChanges` false.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    // MARK: What it is

    /// The entity the object is of.
    public final var entity: NSEntityDescription { shape.entity }

    /// The object's name in all contexts; temporary until the first save.
    public final var objectID: NSManagedObjectID {
        if let identity { return identity }
        let fresh = NSManagedObjectID(temporaryFor: shape)
        madeID = fresh
        return fresh
    }

    /// The object's ID; nil for a new one that nobody asked for its ID yet.
    final var identity: NSManagedObjectID? {
        if let madeID { return madeID }
        guard let space = shelf?.space else { return nil }
        let id = space.id(for: key)
        madeID = id
        return id
    }

    final var reference: Reference { Reference(objectID) }

    /// The context the object belongs to; nil after a reset or a saved deletion.
    public final var managedObjectContext: NSManagedObjectContext? { context }

    final var context: NSManagedObjectContext? { shelf?.context.target }

    /// The row it has or will have, without making an ID for it.
    final var reservedRow: RowID? {
        if let space = shelf?.space { return RowID(entity: space.number, key: key) }
        return madeID?.reservedRow
    }

    /// Takes a place in a context. The shelf is told by the caller.
    final func stand(on shelf: RegisteredObjectTable, at key: Int64) {
        self.shelf = shelf
        self.key = key
    }

    /// Its place on a shelf; nil where it does not stand there.
    final func key(on shelf: RegisteredObjectTable) -> Int64? { self.shelf === shelf ? key : nil }

    /// Belongs to no context from now on; keeps its ID.
    final func leaveContext() {
        shelf?.remove(self)
        leaveForgottenContext()
    }

    /// The same for an object that the context forgot already.
    final func leaveForgottenContext() {
        guard shelf != nil else { return }
        // Without its place it would not find what its links lead to.
        if let packed, packed.pack.toOneCount > 0 { unpack() }
        madeID = objectID
        shelf = nil
    }

    /// New since the last save; in `didSave`, since the one before.
    public final var isInserted: Bool { !state.isDisjoint(with: [.inserted, .savedAsNew]) }
    /// Changed since the last save; in `didSave`, since the one before.
    public final var isUpdated: Bool { !state.isDisjoint(with: [.updated, .savedAsChanged]) }
    /// To be deleted by the next save, or deleted by the last.
    open var isDeleted: Bool { state.contains(.deleted) }
    /// Whether the values are still to be filled in; the first access does it.
    public final var isFault: Bool { state.contains(.fault) }
    /// Inserted, updated or deleted since the last save.
    public final var hasChanges: Bool { !state.isDisjoint(with: .pending) }
    /// 0 for an object with its values, 1 for a fault.
    public final var faultingState: Int { isFault ? 1 : 0 }

    // MARK: What subclasses may follow

    /// Called once after the object was inserted; a place for values only code can give.
    open func awakeFromInsert() {}
    /// Called each time a fault was filled in. What it changes counts as part of reading: neither
    /// this object nor others are marked as changed, and no undo is recorded. It is saved with the
    /// object's next change.
    open func awakeFromFetch() {}
    /// Called when values came from an undo, a rollback, a refresh, a merge or a merge policy.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}
    /// Called before validation at each save, of changed, new and deleted objects. What it changes
    /// is saved; objects that it changes, this one too, are called again, until nothing changes any
    /// more. So compare before setting: after 1000 rounds the save throws.
    open func willSave() {}
    /// Called after the save, before its notification; after a deletion, too.
    open func didSave() {}
    /// Called before the object is marked as deleted, with its links intact.
    open func prepareForDeletion() {}
    /// Called before the values are dropped.
    open func willTurnIntoFault() {}
    /// Called after the values were dropped.
    open func didTurnIntoFault() {}

    /// Called before a value is read; fills in a fault. A nil key only fills in.
    open func willAccessValue(forKey key: String?) {
        if !state.isDisjoint(with: .unready) { prepareAccess(to: key) }
    }

    /// Called after a value was read.
    open func didAccessValue(forKey key: String?) {}

    /// Called before a value changes; notes the value before, where that is needed. An override
    /// calls `super`, as one of `didChangeValue(forKey:)` does.
    open func willChangeValue(forKey key: String) {
        if !state.isDisjoint(with: .attentive) || !shape.isWhollyInSnapshot {
            prepareChange(of: key)
        }
    }

    /// Called after a value changed; marks the object as updated. What `awakeFromFetch` changes
    /// leaves no mark.
    open func didChangeValue(forKey key: String) {
        if let attribute = shape.attributeSlot(key) {
            noteChange(of: .attribute(attribute))
        } else if let slot = shape.slot(key) {
            noteChange(of: slot)
        }
        if state.contains(.observed) { reportChange(of: key) }
    }

    // MARK: Values by key

    /// The value of a property. Traps for a key the model does not have.
    ///
    /// Numbers are `NSNumber`, to-many relationships `Set<NSManagedObject>`, ordered ones
    /// `NSOrderedSet`. What the class computes itself is found where `ComputedKeys` tells it.
    open func value(forKey key: String) -> Any? {
        guard let slot = shape.slot(key) else {
            if let own = computedValue(forKey: key) { return own.value }
            willAccessValue(forKey: key)
            return value(forUndefinedKey: key)
        }
        if slot == .transient, let own = computedTransient(forKey: key) { return own.value }
        willAccessValue(forKey: key)
        let value = read(slot, key)
        didAccessValue(forKey: key)
        return value
    }

    /// Sets a property; inverse relationships follow at once, and a nil value empties it.
    ///
    /// A value of a type the property cannot hold is kept aside and fails the next save by name.
    open func setValue(_ value: Any?, forKey key: String) {
        guard let slot = shape.slot(key) else { return setValue(value, forUndefinedKey: key) }
        willChangeValue(forKey: key)
        if state.contains(.fault) { return postpone { $0.setValue(value, forKey: key) } }
        write(value, to: slot, key)
        didChangeValue(forKey: key)
    }

    /// The value without access notices.
    open func primitiveValue(forKey key: String) -> Any? {
        if state.contains(.fault) { fire() }
        guard let slot = shape.slot(key) else { return value(forUndefinedKey: key) }
        return read(slot, key)
    }

    /// Sets the value without change notices: the object is not marked as updated. Relationships
    /// still keep their inverses.
    open func setPrimitiveValue(_ value: Any?, forKey key: String) {
        if state.contains(.fault) { fire() }
        if state.contains(.fault) { return postpone { $0.setPrimitiveValue(value, forKey: key) } }
        guard let slot = shape.slot(key) else { return setValue(value, forUndefinedKey: key) }
        write(value, to: slot, key)
    }

    /// The value at the end of a path, as `KeyPathWalk` tells; nil where the path leads nowhere.
    /// Traps for a first key that the model does not have, as `value(forKey:)` does.
    open func value(forKeyPath keyPath: String) -> Any? {
        KeyPathWalk.value(of: self, at: keyPath)
    }

    // MARK: Validation

    /// Throws 1550…1690, several as 1560, when the object may not be inserted as it is. Called by
    /// saves; an override calls super. Cost: O(properties); members of to-manys are counted where
    /// they were read.
    open func validateForInsert() throws { try validate(for: .insert) }
    /// Throws 1550…1690, several as 1560, when the object may not be saved as it is. Called by
    /// saves; an override calls super. Cost: as `validateForInsert()`.
    open func validateForUpdate() throws { try validate(for: .update) }
    /// Throws 1600 when the object may not be deleted, because of a deny rule. Called by saves; an
    /// override calls super. Cost: reads the members of relationships with that rule.
    open func validateForDelete() throws { try validate(for: .delete) }

    /// Throws when the property cannot hold `value` (1550…1690). Override to add a rule of your
    /// own: saves call it for each property of an object whose class overrides it, a relationship
    /// that was never read left out. Apple's takes a pointer, through which it may change the
    /// value, and finds methods named `validateName`; here set the value in `willSave`. Cost: in
    /// memory.
    open func validateValue(_ value: Any?, forKey key: String) throws {
        if let error = validationError(of: value, forKey: key) { throw error }
    }

    // MARK: Keys the model does not have

    /// The value of a property the model does not have: what `NSManagedObject` itself says under
    /// that name ("objectID", "entity", "isDeleted" …), and of "primitiveTitle" what is stored for
    /// "title". Traps for others unless a subclass answers.
    open func value(forUndefinedKey key: String) -> Any? {
        if let own = ownValue(forKey: key) { return own }
        if let stored = primitiveKey(key) { return primitiveValue(forKey: stored) }
        if let catching = UndefinedKeys.current {
            catching.note(undefinedKeyMessage(key))
            return nil
        }
        ProgrammingMistake.undefinedKey(undefinedKeyMessage(key))
    }

    /// Takes a value for a property the model does not have: for "primitiveTitle", as
    /// `setPrimitiveValue` for "title". Traps for others unless a subclass takes it.
    open func setValue(_ value: Any?, forUndefinedKey key: String) {
        if let stored = primitiveKey(key) { return setPrimitiveValue(value, forKey: stored) }
        ProgrammingMistake.undefinedKey(undefinedKeyMessage(key))
    }

    final func undefinedKeyMessage(_ key: String) -> String {
        "The entity \"\(entity.name ?? "")\" has no property \"\(key)\". "
            + "Use one of: \(shape.propertyNames.joined(separator: ", "))."
    }

    /// An object is equal to itself only; what it holds does not count.
    open override var hash: Int { Int(bitPattern: LiveReference.address(of: self) >> 4) }

    /// The object with its values, in Apple's form; reads nothing.
    open override var description: String { ManagedObjectText(object: self).text }

    /// As `description`.
    open override var debugDescription: String { ManagedObjectText(object: self).text }
}

/// Where new values of an object came from. Raw values are Apple's.
public struct NSSnapshotEventType: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The undoing of an insertion took the object out of its context.
    public static let undoInsertion = NSSnapshotEventType(rawValue: 2)
    /// The undoing of a deletion brought the object back.
    public static let undoDeletion = NSSnapshotEventType(rawValue: 4)
    /// The undoing of a change gave it its former values.
    public static let undoUpdate = NSSnapshotEventType(rawValue: 8)
    /// The context was rolled back.
    public static let rollback = NSSnapshotEventType(rawValue: 16)
    /// The object was refreshed, or took in what others saved.
    public static let refresh = NSSnapshotEventType(rawValue: 32)
    /// A save's merge policy chose its values.
    public static let mergePolicy = NSSnapshotEventType(rawValue: 64)
}
