internal import Foundation
internal import Synchronization

/// Tells an incremental store that a context uses one of its objects, and with its end that the
/// context no longer does.
final class StoreRegistration {
    private static let isInUse = Atomic<Bool>(false)
    private weak var store: NSIncrementalStore?
    private let id: NSManagedObjectID

    /// From now on registrations are made: a program without such stores pays nothing.
    static func begin() { isInUse.store(true, ordering: .relaxed) }

    /// The registration of an object; nil where its store does not ask for it.
    static func of(_ object: NSManagedObject) -> StoreRegistration? {
        guard isInUse.load(ordering: .relaxed), let id = object.identity,
            let store = id.persistentStore as? NSIncrementalStore
        else { return nil }
        return StoreRegistration(id, store)
    }

    private init(_ id: NSManagedObjectID, _ store: NSIncrementalStore) {
        self.id = id
        self.store = store
        let id = Passed(id)
        store.notices.enqueue {
            [weak store] in store?.managedObjectContextDidRegisterObjects(with: [id.value])
        }
    }

    deinit {
        guard let store else { return }
        let id = Passed(id)
        store.notices.enqueue {
            [weak store] in store?.managedObjectContextDidUnregisterObjects(with: [id.value])
        }
    }
}
