internal import Platform

/// Where a context's objects come from, and which contexts take theirs from it.
struct ContextFamily {
    /// The context's own; one with a parent has none.
    var coordinator: NSPersistentStoreCoordinator?
    var parent: NSManagedObjectContext?
    /// Not held. Each comes in on whatever thread makes it.
    private let children = Lock<[ZeroingReference<NSManagedObjectContext>]>([])

    func add(_ child: NSManagedObjectContext) {
        children.withLock { children in
            children.removeAll { $0.isOver || $0 === child.tie }
            children.append(child.tie)
        }
    }

    func remove(_ child: NSManagedObjectContext) {
        children.withLock { $0.removeAll { $0.isOver || $0 === child.tie } }
    }

    /// The children, and theirs.
    var descendants: [NSManagedObjectContext] {
        let near = children.withLock { $0 }.compactMap(\.target)
        return near + near.flatMap(\.descendants)
    }
}
