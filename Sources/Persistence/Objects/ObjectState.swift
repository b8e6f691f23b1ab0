internal import Stores

/// What is true of an object at the moment.
struct ObjectState: OptionSet {
    let rawValue: UInt16

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
    static let willSaveSent = ObjectState(rawValue: 128)

    // Since the last ObjectsDidChange notification:
    static let insertedNow = ObjectState(rawValue: 256)
    static let updatedNow = ObjectState(rawValue: 512)
    static let deletedNow = ObjectState(rawValue: 1024)
    static let refreshedNow = ObjectState(rawValue: 2048)

    static let pending: ObjectState = [.inserted, .updated, .deleted]
    static let event: ObjectState = [.insertedNow, .updatedNow, .deletedNow, .refreshedNow]
}

/// The values an object was read or saved with.
struct ObjectSnapshot {
    var version: Int64
    var attributes: [AttributeValue]
    var toOnes: [NSManagedObjectID?]
}

/// What few objects have: kept apart so that the many stay small.
struct ObjectExtras {
    /// Values of transient properties.
    var transients: [String: Any] = [:]
    /// Transformable values as the program set or first read them, by slot.
    var transformed: [Int: Any] = [:]
    /// Values of a type their property cannot hold; they stop the save with a validation error.
    var misfits: [String: Any] = [:]
    /// Objects without a context that this one points at.
    var companions: [NSManagedObject] = []
}

/// A set of properties by `ObjectLayout.index`; those past the 63rd share one place.
struct PropertySet {
    private var bits: UInt64 = 0

    var isEmpty: Bool { bits == 0 }
    func contains(_ index: Int) -> Bool { bits & Self.bit(index) != 0 }
    mutating func insert(_ index: Int) { bits |= Self.bit(index) }
    mutating func removeAll() { bits = 0 }

    private static func bit(_ index: Int) -> UInt64 { 1 << UInt64(min(index, 63)) }
}
