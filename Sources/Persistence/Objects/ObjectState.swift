internal import Stores

/// What is true of an object at the moment.
struct ObjectState: OptionSet {
    let rawValue: UInt32

    static let fault = ObjectState(rawValue: 1)
    static let inserted = ObjectState(rawValue: 2)
    static let updated = ObjectState(rawValue: 4)
    static let deleted = ObjectState(rawValue: 8)
    /// In the context's list of changed objects.
    static let listed = ObjectState(rawValue: 16)
    /// Its row is being read.
    static let firing = ObjectState(rawValue: 32)
    /// Its row was gone when it was read.
    static let inaccessible = ObjectState(rawValue: 64)
    /// Changed in an earlier event and not saved: its values are noted before it changes again.
    static let changedBefore = ObjectState(rawValue: 128)

    /// Has values of its own, though its row stands in a pack still: they may differ from it.
    static let ownValues = ObjectState(rawValue: 32768)

    /// Deleted by another's cascade alone; says nothing of what is not deleted.
    static let cascaded = ObjectState(rawValue: 65536)

    /// Somebody else changed its row while it was deleted here; says nothing of what is not.
    static let outdated = ObjectState(rawValue: 131072)

    /// Counts as deleted since its row was gone, not by the program; says nothing of what is not.
    static let foundGone = ObjectState(rawValue: 262144)

    /// New once more, by an undo of its saved deletion: somebody else may have it back by now, too.
    /// Says nothing of what is not new.
    static let returned = ObjectState(rawValue: 4_194_304)

    /// A getter of its class is computing a transient attribute.
    static let computing = ObjectState(rawValue: 2_097_152)

    // Since the last ObjectsDidChange notification:
    static let insertedNow = ObjectState(rawValue: 256)
    static let updatedNow = ObjectState(rawValue: 512)
    static let deletedNow = ObjectState(rawValue: 1024)
    static let refreshedNow = ObjectState(rawValue: 2048)

    /// Part of the event that is being posted.
    static let posted = ObjectState(rawValue: 4096)
    /// Somebody follows its values.
    static let observed = ObjectState(rawValue: 8192)
    /// Uses from other queues than the context's are looked for.
    static let guarded = ObjectState(rawValue: 16384)

    // While `didSave` is called, and until the object changes again: what the save did with it.
    static let savedAsNew = ObjectState(rawValue: 524288)
    static let savedAsChanged = ObjectState(rawValue: 1_048_576)

    /// What must be done before a change is more than making it.
    static let attentive: ObjectState = [.fault, .changedBefore, .posted, .observed, .guarded]
    /// What must be done before a value is read is more than reading it.
    static let unready: ObjectState = [.fault, .guarded]
    static let pending: ObjectState = [.inserted, .updated, .deleted]
    static let event: ObjectState = [.insertedNow, .updatedNow, .deletedNow, .refreshedNow]
    static let told: ObjectState = [.savedAsNew, .savedAsChanged]
}

/// The values an object was read or saved with.
struct ObjectSnapshot {
    /// Stands where nobody knows what an object's values come from: no row has it, and all that
    /// differs from the row was changed there, too.
    static let unknownVersion: Int64 = 0

    var version: Int64
    var attributes: [AttributeValue]
    var toOnes: [NSManagedObjectID?]
}

/// The values of an object at one moment, to find out later what changed since.
final class ObjectValues {
    var attributes: [AttributeValue]
    var toOnes: [NSManagedObjectID?]
    let toManys: [ToManyMembers]
    let transients: [String: Any]

    /// The values of `object` when the present event began: those of the snapshot where it changed
    /// since, its present ones where it did not.
    init(of object: NSManagedObject) {
        let former = object.changedNow.isEmpty ? nil : object.snapshot
        attributes = former?.attributes ?? object.attributes
        toOnes = former?.toOnes ?? object.toOnes
        toManys = former == nil ? object.toManys : object.toManys.map(\.asStored)
        transients = object.extras?.transients ?? [:]
    }

    /// Follows a row that somebody else changed; what the program changed stays.
    func rebase(
        from former: ObjectSnapshot, onto found: ObjectSnapshot,
        counting: (Int, AttributeValue, AttributeValue, AttributeValue) -> AttributeValue?
    ) {
        for index in attributes.indices {
            let (old, new) = (former.attributes[index], found.attributes[index])
            if attributes[index] == old {
                attributes[index] = new
            } else if let sum = counting(index, attributes[index], old, new) {
                attributes[index] = sum
            }
        }
        for index in toOnes.indices where toOnes[index] === former.toOnes[index] {
            toOnes[index] = found.toOnes[index]
        }
    }
}

/// What few objects have: kept apart so that the many stay small.
final class ObjectExtras {
    /// Values of transient properties.
    var transients: [String: Any] = [:]
    /// Transformable values as the program set or first read them, by slot.
    var transformed: [Int: Any] = [:]
    /// Values of a type their property cannot hold; they stop the save with a validation error.
    var misfits: [String: Any] = [:]
    /// Objects without a context that this one points at.
    var companions: [NSManagedObject] = []
    /// Who follows the object's values.
    var observers: [ValueObserver] = []
}

/// A set of properties by `ObjectLayout.index`; those past the 63rd share one place.
struct PropertySet {
    private var bits: UInt64 = 0

    /// The first place that several properties share.
    static let sharedPlace = 63

    var isEmpty: Bool { bits == 0 }
    func contains(_ index: Int) -> Bool { bits & Self.bit(index) != 0 }
    mutating func insert(_ index: Int) { bits |= Self.bit(index) }
    mutating func removeAll() { bits = 0 }

    private static func bit(_ index: Int) -> UInt64 { 1 << UInt64(min(index, sharedPlace)) }
}
