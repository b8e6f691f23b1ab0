internal import Foundation
internal import ObjectModel
internal import Platform
internal import Stores

/// The objects that one context knows of one entity and store, by their keys, without holding them.
///
/// An object keeps its shelf, and takes itself off in its `deinit`, on whatever thread that is; the
/// rule that makes this safe is told at `LiveReference`. New objects, which have no rows, stand on
/// one shelf of their context by the addresses of their IDs.
final class RegisteredObjectTable: Sendable {
    /// The context.
    let context: ZeroingReference<NSManagedObjectContext>
    /// Nil for new objects.
    let space: ObjectIDTable?
    let awakening: AwakeningState
    private let table = Lock(AddressTable())
    /// For objects of incremental stores only.
    private let registrations = Lock<[Int64: UncheckedTransfer<ObjectUseNotice>]>([:])

    init(
        context: ZeroingReference<NSManagedObjectContext>, space: ObjectIDTable?,
        awakening: AwakeningState
    ) {
        self.context = context
        self.space = space
        self.awakening = awakening
    }

    var isEmpty: Bool { table.withLock { $0.isEmpty } }

    /// Where a new object stands.
    static func key(of id: NSManagedObjectID) -> Int64 {
        Int64(truncatingIfNeeded: LiveReference.address(of: id) >> 4)
    }

    func object(_ key: Int64) -> NSManagedObject? {
        table.withLock { LiveReference.object(at: $0.address(key)) }
    }

    /// The objects of several keys; nil where none of them is known.
    func objects(_ keys: some Collection<Int64>) -> [NSManagedObject?]? {
        table.withLock { table in
            guard !table.isEmpty else { return nil }
            return keys.map { LiveReference.object(at: table.address($0)) }
        }
    }

    /// All objects that are still there.
    var objects: [NSManagedObject] {
        table.withLock { table in
            table.addresses.compactMap { LiveReference.object(at: $0) }
        }
    }

    func put(_ object: NSManagedObject) {
        table.withLock { $0.set(LiveReference.address(of: object), for: object.key) }
    }

    /// Makes room for `count` more objects.
    func makeRoom(for count: Int) { table.withLock { $0.reserve(count) } }

    /// Registers those of the objects that belong to this table. Where another object was
    /// registered for the same row meanwhile, that one stays: it is returned with its index.
    func put(_ objects: ArraySlice<NSManagedObject>) -> [(index: Int, other: NSManagedObject)] {
        table.withLock { table in
            table.reserve(objects.count)
            var taken: [(index: Int, other: NSManagedObject)] = []
            for index in objects.indices {
                // Without holding it meanwhile: the array does.
                let object = Unmanaged.passUnretained(objects[index])
                guard let key = object._withUnsafeGuaranteedRef({ $0.key(on: self) }) else {
                    continue
                }
                let address = UInt(bitPattern: object.toOpaque())
                let former = table.claim(key, for: address)
                guard former != 0, former != address else { continue }
                if let other: NSManagedObject = LiveReference.object(at: former) {
                    taken.append((index, other))
                } else {
                    table.set(address, for: key)
                }
            }
            return taken
        }
    }

    /// Registers the first of `objects` that have rows of this table's space, as far as they stood
    /// in another table until now; returns where the others begin.
    func adopt(
        _ objects: ArraySlice<NSManagedObject>, from other: RegisteredObjectTable
    ) -> Int {
        guard let space else { return objects.endIndex }
        var index = objects.startIndex
        table.withLock { table in
            // Mostly all are of one entity.
            if let last = objects.last?.madeID, last.isRow(of: space) {
                table.reserve(objects.count)
            }
            while index < objects.endIndex {
                let object = objects[index]
                guard let id = object.madeID, id.isRow(of: space) else { return }
                index += 1
                guard object.shelf === other else { continue }
                object.stand(on: self, at: id.key)
                table.set(LiveReference.address(of: object), for: id.key)
            }
        }
        guard ObjectUseNotice.isUsed else { return index }
        for object in objects[..<index] where object.shelf === self { announce(object) }
        return index
    }

    /// Takes those objects off that stand here and that no notice tells of.
    func remove(_ objects: some Collection<NSManagedObject>) {
        table.withLock { table in
            for object in objects where object.shelf === self {
                table.remove(LiveReference.address(of: object), for: object.key)
            }
        }
    }

    /// Takes an object off. Called by the object as it ends, too.
    func remove(_ object: NSManagedObject) {
        let address = LiveReference.address(of: object)
        table.withLock { $0.remove(address, for: object.key) }
        guard ObjectUseNotice.isUsed else { return }
        _ = registrations.withLock { $0.removeValue(forKey: object.key) }
    }

    /// Takes the first of some objects off, as many as stand here; returns the index of the next.
    func remove(first objects: ArraySlice<NSManagedObject>) -> Int {
        let end = objects.firstIndex { $0.shelf !== self } ?? objects.endIndex
        remove(objects[..<end])
        guard ObjectUseNotice.isUsed else { return end }
        let ended = registrations.withLock { registrations in
            objects[..<end].map { registrations.removeValue(forKey: $0.key) }
        }
        _ = ended
        return end
    }

    /// Tells an incremental store that the object is used, until it is taken off.
    func announce(_ object: NSManagedObject) {
        guard let registration = ObjectUseNotice.of(object) else { return }
        registrations.withLock { $0[object.key] = UncheckedTransfer(registration) }
    }

    func removeAll() {
        table.withLock { $0.removeAll() }
        let ended = registrations.withLock { registrations in
            defer { registrations = [:] }
            return registrations
        }
        _ = ended
    }
}
