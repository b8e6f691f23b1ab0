internal import Foundation

// Reading from one generation of the stores.
extension NSManagedObjectContext {
    /// The generation the context reads from: nil where it reads the stores as they are,
    /// `.current` until it reads for the first time. Nil for a child, which reads what its parent
    /// sees, and where no store holds generations. On the context's queue.
    public final var queryGenerationToken: NSQueryGenerationToken? {
        parent == nil ? pin?.token : nil
    }

    /// Makes the context read from one generation of the stores: fetches, faults and relationships
    /// show that state, whatever others save.
    ///
    /// `.current` pins it to what is present at its next read; the token of another context to what
    /// that one sees; nil ends it. Objects that are here keep their values until they are
    /// refreshed. A save, also one that fails at the store, `reset` and merging move the context on
    /// to `.current`; so does an automatic merge. Saves compare with the stores as they are. A row
    /// that was saved after the generation cannot be read: its fault stays one, and says so.
    ///
    /// Throws 134060 for a child context, and for a token of another coordinator; 134070 for a
    /// generation that is not held any more. Cost: a reading transaction of each store, at the next
    /// read. On the context's queue. Apple traps for a child context.
    public final func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
        guard parent == nil else { throw PersistenceErrors.childGeneration }
        guard let token = generation, !token.isCurrent else {
            pin = generation.map { _ in GenerationPin(nil) }
            readAhead.forgetRows()
            return
        }
        guard let held = token.generation, !held.isOver else {
            throw PersistenceErrors.expiredGeneration
        }
        guard let coordinator = persistentStoreCoordinator, held.isOf(coordinator) else {
            throw PersistenceErrors.foreignGeneration
        }
        pin = GenerationPin(held)
        readAhead.forgetRows()
    }
}

extension PersistenceErrors {
    static var childGeneration: NSError {
        make(
            NSCoreDataError,
            "A child context reads what its parent sees; set the generation of the context at the "
                + "end of its parents.")
    }

    static var foreignGeneration: NSError {
        make(
            NSCoreDataError,
            "The generation is one of another coordinator's stores; use a token of this one's "
                + "contexts, or .current.")
    }

    static var expiredGeneration: NSError {
        make(
            NSPersistentStoreOperationError,
            "The generation is not held any more; set .current and refresh the objects.")
    }

    /// A row that is there, but not in the generation that is read.
    static var notInGeneration: NSError {
        make(
            NSPersistentStoreOperationError,
            "The object is not part of the context's query generation, which is older; set "
                + "another, or merge the save that made it.")
    }
}
