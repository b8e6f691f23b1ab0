/// Which generation a context reads from. Used on the context's queue only.
final class GenerationPin {
    private enum State {
        /// The present generation, once something is read.
        case current
        case held(QueryGeneration)
        /// No store of the coordinator holds states: all are read as they are.
        case unheld
    }

    private var state: State
    private var isSuspended = false

    /// Nil for the generation that is present when something is read.
    init(_ generation: QueryGeneration?) { state = generation.map { .held($0) } ?? .current }

    /// The generation to read from; nil for the stores as they are.
    func generation(of coordinator: NSPersistentStoreCoordinator) throws -> QueryGeneration? {
        guard !isSuspended else { return nil }
        switch state {
        case .held(let generation): return generation
        case .unheld: return nil
        case .current:
            let fresh = try QueryGeneration(of: coordinator)
            state = fresh.isHeld ? .held(fresh) : .unheld
            return fresh.isHeld ? fresh : nil
        }
    }

    /// Reads from the stores as they are, until `advance`.
    func suspend() { isSuspended = true }

    /// The next read pins to what is present then.
    func advance() {
        isSuspended = false
        state = .current
    }

    var token: NSQueryGenerationToken? {
        switch state {
        case .current: .current
        case .held(let generation): NSQueryGenerationToken(generation)
        case .unheld: nil
        }
    }
}
