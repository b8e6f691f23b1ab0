internal import Foundation
internal import Synchronization

/// Tells an incremental store that a context uses one of its objects, and with its end that the
/// context no longer does.
final class ObjectUseNotice {
    private static let isInUse = Atomic<Bool>(false)
    /// Whether any registration was ever made.
    static var isUsed: Bool { isInUse.load(ordering: .relaxed) }
    private let store: ZeroingReference<NSPersistentStore>
    private let id: NSManagedObjectID

    /// From now on registrations are made: a program without such stores pays nothing.
    static func begin() { isInUse.store(true, ordering: .relaxed) }

    /// The registration of an object; nil where its store does not ask for it.
    static func of(_ object: NSManagedObject) -> ObjectUseNotice? {
        guard isUsed, let id = object.identity,
            let store = id.persistentStore as? NSIncrementalStore
        else { return nil }
        return ObjectUseNotice(id, store)
    }

    private init(_ id: NSManagedObjectID, _ store: NSIncrementalStore) {
        self.id = id
        self.store = store.tie
        let id = UncheckedTransfer(id)
        store.notices.enqueue {
            [weak store] in store?.managedObjectContextDidRegisterObjects(with: [id.value])
        }
    }

    deinit {
        guard let store = store.target as? NSIncrementalStore else { return }
        let id = UncheckedTransfer(id)
        store.notices.enqueue {
            [weak store] in store?.managedObjectContextDidUnregisterObjects(with: [id.value])
        }
    }
}
