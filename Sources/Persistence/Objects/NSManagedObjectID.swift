public import Foundation
public import ObjectModel
internal import Platform
package import Stores
internal import Synchronization

/// The name of an object, the same in all contexts of a coordinator. Source: Apple,
/// NSManagedObjectID.
///
/// One instance stands for one row, so identity is equality. A new object's ID is temporary; at the
/// save the same instance becomes permanent, so a kept ID stays good.
public final class NSManagedObjectID: NSObject, NSCopying, @unchecked Sendable {
    // @unchecked: `row` and `persistentStore` are written by the saving lane before `isPermanent`
    // is released, and by nobody afterwards.

    /// The object's entity.
    public let entity: NSEntityDescription
    /// The store that has the row; nil while the ID is temporary and no store was chosen.
    public private(set) weak var persistentStore: NSPersistentStore?
    private var row: RowID?
    private let sequence: UInt64
    private let permanent: Atomic<Bool>

    /// A temporary ID.
    init(temporaryFor entity: NSEntityDescription) {
        self.entity = entity
        sequence = Self.sequences.wrappingAdd(1, ordering: .relaxed).newValue
        permanent = Atomic(false)
    }

    /// The ID of a stored row. Only the store's ID table makes them.
    init(row: RowID, entity: NSEntityDescription, store: NSPersistentStore) {
        self.entity = entity
        self.row = row
        persistentStore = store
        sequence = 0
        permanent = Atomic(true)
    }

    private static let sequences = Atomic<UInt64>(0)
    private static let processName = Surroundings.system.randomness.uuid().uuidString

    /// Whether no store knows the object yet.
    public var isTemporaryID: Bool { !permanent.load(ordering: .acquiring) }

    /// The row; nil while the ID is temporary.
    package var rowID: RowID? { isTemporaryID ? nil : row }

    /// The row an insert will have, once a key was reserved.
    var reservedRow: RowID? { row }

    /// Notes the key an insert will have. Called by the saving lane only.
    func reserve(_ row: RowID, in store: NSPersistentStore) {
        self.row = row
        persistentStore = store
    }

    func becomePermanent() { permanent.store(true, ordering: .releasing) }

    /// `x-coredata://<store>/<entity>/p<key>`, or `x-coredata:///<entity>/t<text>` while temporary.
    public func uriRepresentation() -> URL {
        let name = entity.name ?? ""
        let host = persistentStore?.identifier ?? ""
        let text =
            rowID.map { row in
                let place = persistentStore?.uriName(of: row) ?? "p\(row.key)"
                return "x-coredata://\(host)/\(name)/\(place)"
            }
            ?? "x-coredata:///\(name)/t\(Self.processName)\(sequence)"
        let allowed = CharacterSet.urlPathAllowed.union(CharacterSet(charactersIn: ":"))
        let escaped = text.addingPercentEncoding(withAllowedCharacters: allowed) ?? text
        return URL(string: escaped) ?? URL(fileURLWithPath: name)
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override var description: String { "<\(uriRepresentation().absoluteString)>" }
}
