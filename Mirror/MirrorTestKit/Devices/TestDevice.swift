internal import Foundation
public import MirrorEngine
internal import ObjectModel
public import Persistence
internal import Platform
internal import Predicates
internal import RecordWire

/// One device of a test: a context on which the app's own code works, and the mirror of its store.
///
/// The app's classes, `willSave` and validation take part. One thread at a time.
public final class TestDevice {
    /// What a round came to.
    public struct Round: Sendable {
        /// Records that the service took, and records that came.
        public let sent: Int
        public let fetched: Int
        /// Objects in which both sides' edits met.
        public let merged: Int
        /// Why the round ended early, in a sentence; nil where it did not.
        public let failure: String?
    }

    public let name: String
    private let device: ManagedDevice
    private let network: StoryNetwork
    private let clock: VirtualClock

    init(_ device: ManagedDevice, network: StoryNetwork, clock: VirtualClock) {
        name = device.name
        self.device = device
        self.network = network
        self.clock = clock
    }

    /// Where the app edits; a private queue's. After `restart` it is another one.
    public var context: NSManagedObjectContext { device.context }

    /// The store under mirroring: its status, conflict log and events.
    public var store: MirroredStore { device.mirrored }

    /// Whether the device reaches the service; true at first.
    public var isOnline: Bool {
        get { !network.weather(of: name).isOffline }
        set { network.change(name) { $0.isOffline = !newValue } }
    }

    /// Of the next request that carries records, the answer is lost: the service has taken it.
    public func loseNextAnswer() { network.change(name) { $0.losesAnswer = true } }

    /// The next request that carries records is lost on its way.
    public func loseNextRequest() { network.change(name) { $0.losesRequest = true } }

    /// The process dies and starts again: what was not saved is gone, and so are the objects.
    /// Throws what opening a store throws.
    public func restart() throws { try device.restart() }

    /// Runs `body` on the context's queue, and saves. Throws what `body` or the save throws; the
    /// context is rolled back then.
    public func edit(_ body: (NSManagedObjectContext) throws -> Void) throws {
        try device.edit(body)
    }

    /// All objects of an entity that match, sorted by `key` where it is given. Throws what the
    /// fetch throws.
    public func objects(
        _ entity: String, where format: String? = nil, sortedBy key: String? = nil
    ) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = try format.map { try NSPredicate.parse($0) }
        if let key { request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)] }
        return try context.performAndWait { try context.fetch(request) }
    }

    /// Runs one round, over whatever weather there is. Throws what the store throws.
    @discardableResult
    public func sync() throws -> Round {
        let driver = RoundDriver(network: network, clock: clock)
        let result = try driver.run(device)
        return Round(
            sent: result?.exported ?? 0, fetched: result?.imported.received ?? 0,
            merged: result?.imported.merged ?? 0,
            failure: result.map { $0.error?.message } ?? "The device sends requests without end.")
    }
}
