internal import Foundation

/// Whether uses of contexts and objects outside their queues stop the program, as the environment
/// variable asks for; looked at once.
enum QueueGuard {
    static let isOn: Bool = {
        let text = ProcessInfo.processInfo.environment["com.apple.CoreData.ConcurrencyDebug"]
        return text.flatMap(Int.init).map { $0 > 0 } ?? false
    }()
}

extension NSManagedObjectContext {
    /// Stops the program unless it runs on the context's queue. Contexts of the confinement type
    /// have none.
    final func checkQueue() {
        guard concurrencyType != .confinementConcurrencyType, !queue.isCurrent else { return }
        ProgrammingMistake.wrongQueue(name)
    }
}

extension NSManagedObject {
    /// Stops the program unless it runs on the queue of the object's context.
    final func checkQueue() { context?.checkQueue() }
}
