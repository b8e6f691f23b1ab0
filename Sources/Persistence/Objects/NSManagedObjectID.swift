public import Foundation
public import ObjectModel
internal import Platform
package import Stores
internal import Synchronization

/// The name of an object, the same in all contexts of a coordinator. Source: Apple,
/// NSManagedObjectID.
///
/// One instance stands for one row, so identity is equality. A new object's ID is temporary; at the
/// save the same instance becomes permanent, so a kept ID stays good. Queue: any.
public final class NSManagedObjectID: NSObject, NSCopying, @unchecked Sendable {
    // @unchecked: `home` and `key` are written by the saving queue before `stage` is released, and
    // by nobody once the ID is permanent.

    /// How far the ID is on its way to a row.
    private enum Stage {
        static let temporary: UInt8 = 0
        /// A row was chosen; the save is still to write it.
        static let reserved: UInt8 = 1
        static let permanent: UInt8 = 2
    }

    /// The store's space; that of the entity alone, for an ID that began as temporary.
    private let origin: ObjectIDTable
    /// Where the row is, for an ID that began as temporary.
    private var home: ObjectIDTable?
    /// The row's key, once there is one.
    private(set) var key: Int64
    private let sequence: UInt64
    private let stage: Atomic<UInt8>

    /// An ID of nothing, which no object has. Apple's class inherits it.
    public convenience override init() {
        self.init(temporaryFor: ObjectLayout.of(KnownClasses.entity(of: NSManagedObject.self)))
    }

    /// A temporary ID.
    init(temporaryFor shape: ObjectLayout) {
        origin = shape.unsavedIDs
        key = 0
        sequence = Self.sequences.wrappingAdd(1, ordering: .relaxed).newValue
        stage = Atomic(Stage.temporary)
    }

    /// The ID of a stored row. Only the space's table makes them.
    init(key: Int64, in space: ObjectIDTable) {
        origin = space
        self.key = key
        sequence = 0
        stage = Atomic(Stage.permanent)
    }

    private static let sequences = Atomic<UInt64>(0)
    private static let processName = Environment.system.randomness.uuid().uuidString

    /// Among new objects, when it was made.
    var order: Int64 { Int64(truncatingIfNeeded: sequence) }

    /// The object's entity.
    public var entity: NSEntityDescription { origin.entity }

    /// The store that has the row; nil while the ID is temporary and no store was chosen.
    public var persistentStore: NSPersistentStore? { reservedSpace?.store?.target }

    /// Whether the ID is of that store, or on its way there.
    func isOf(_ store: NSPersistentStore) -> Bool { reservedSpace?.store === store.tie }

    /// Whether no store knows the object yet.
    public var isTemporaryID: Bool { stage.load(ordering: .acquiring) != Stage.permanent }

    /// Where the row is; nil while the ID is temporary.
    var space: ObjectIDTable? { isTemporaryID ? nil : reservedSpace }

    /// Whether the ID is that of a row of `space`.
    func isRow(of space: ObjectIDTable) -> Bool {
        !isTemporaryID && (home === space || origin === space)
    }

    /// Where the row is, or will be.
    var reservedSpace: ObjectIDTable? {
        if origin.store != nil { return origin }
        return stage.load(ordering: .acquiring) == Stage.temporary ? nil : home
    }

    /// The row; nil while the ID is temporary.
    package var rowID: RowID? { isTemporaryID ? nil : reservedRow }

    /// The row an insert will have, once a key was reserved.
    var reservedRow: RowID? { reservedSpace.map { RowID(entity: $0.number, key: key) } }

    /// Notes the key an insert will have. Called by the saving queue only.
    func reserve(_ row: RowID, in store: NSPersistentStore) {
        reserve(row.key, in: store.space(row.entity))
    }

    /// The same where the space of the row's entity is at hand.
    func reserve(_ key: Int64, in space: ObjectIDTable) {
        self.key = key
        home = space
        stage.store(Stage.reserved, ordering: .releasing)
    }

    func becomePermanent() { stage.store(Stage.permanent, ordering: .releasing) }

    /// Takes back what was published for a save that failed.
    func becomeReserved() { stage.store(Stage.reserved, ordering: .releasing) }

    /// Takes back the row of an insert that failed, unless the ID is permanent.
    func forgetRow() {
        guard isTemporaryID else { return }
        stage.store(Stage.temporary, ordering: .releasing)
    }

    /// `x-coredata://<store>/<entity>/p<key>`, or `x-coredata:///<entity>/t<text>` while temporary.
    /// The store's name stays when the store is gone.
    public func uriRepresentation() -> URL {
        let name = entity.name ?? ""
        let text =
            rowID.map { row in
                let host = reservedSpace?.storeIdentifier ?? ""
                let place = persistentStore?.uriName(of: row) ?? "p\(row.key)"
                return "x-coredata://\(host)/\(name)/\(place)"
            }
            ?? "x-coredata:///\(name)/t\(Self.processName)\(sequence)"
        let allowed = CharacterSet.urlPathAllowed.union(CharacterSet(charactersIn: ":"))
        let escaped = text.addingPercentEncoding(withAllowedCharacters: allowed) ?? text
        return URL(string: escaped) ?? URL(fileURLWithPath: name)
    }

    /// IDs are interned: one is equal to itself only.
    public override var hash: Int { Int(bitPattern: LiveReference.address(of: self) >> 4) }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override var description: String {
        "\(ManagedObjectText.address(of: self)) <\(uriRepresentation().absoluteString)>"
    }
}
