public import Foundation
internal import MirrorEngine
internal import ObjectModel
public import Persistence

/// What an event request brought. Source: Apple, NSPersistentCloudKitContainerEventResult.
public final class NSPersistentCloudKitContainerEventResult: NSPersistentStoreResult {
    /// In what form. Raw values are Apple's.
    public enum ResultType: Int, Sendable {
        case events = 0
        case countEvents = 1
    }

    public let resultType: ResultType
    /// `[NSPersistentCloudKitContainer.Event]`, or their number.
    public let result: Any?

    init(_ events: [NSPersistentCloudKitContainer.Event], as type: ResultType) {
        resultType = type
        result = type == .events ? events : events.count
    }
}

/// Asks for the events of a container's stores, oldest first. Source: Apple,
/// NSPersistentCloudKitContainerEventRequest.
///
/// Run with `context.execute(_:)`. The newest thousand events of a store are kept. Cost: all events
/// of the asked stores are read.
public final class NSPersistentCloudKitContainerEventRequest: NSPersistentStoreRequest,
    PersistentStoreRequestPerforming
{
    private enum Bound {
        case date(Date)
        case event(UUID?)
        case matching(NSFetchRequest<any NSFetchRequestResult>)
    }

    /// In what form the events are wanted.
    public var resultType = NSPersistentCloudKitContainerEventResult.ResultType.events
    private let bound: Bound

    private init(_ bound: Bound) { self.bound = bound }

    /// Events that began after a moment.
    public static func fetchEvents(after date: Date) -> NSPersistentCloudKitContainerEventRequest {
        NSPersistentCloudKitContainerEventRequest(.date(date))
    }

    /// Events after another one; all of them for nil.
    public static func fetchEvents(
        after event: NSPersistentCloudKitContainer.Event?
    ) -> NSPersistentCloudKitContainerEventRequest {
        NSPersistentCloudKitContainerEventRequest(.event(event?.identifier))
    }

    /// Events that a request made by `fetchForEvents()` finds: its predicate, sort descriptors,
    /// offset and limit go by the properties of `Event`.
    public static func fetchEvents(
        matchingFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>
    ) -> NSPersistentCloudKitContainerEventRequest {
        NSPersistentCloudKitContainerEventRequest(.matching(fetchRequest))
    }

    /// A request to be given a predicate over events.
    public static func fetchForEvents() -> NSFetchRequest<any NSFetchRequestResult> {
        NSFetchRequest(entityName: "NSCKEvent")
    }

    /// The events of the stores under mirroring.
    public func perform(
        on coordinator: NSPersistentStoreCoordinator
    ) throws -> NSPersistentStoreResult {
        var events: [NSPersistentCloudKitContainer.Event] = []
        for store in affectedStores ?? coordinator.persistentStores {
            guard let mirrored = try MirroredStore.known(of: store) else { continue }
            events += try mirrored.events().map { .init($0, of: store.identifier) }
        }
        return NSPersistentCloudKitContainerEventResult(try chosen(of: events), as: resultType)
    }

    private func chosen(
        of events: [NSPersistentCloudKitContainer.Event]
    ) throws -> [NSPersistentCloudKitContainer.Event] {
        switch bound {
        case .date(let date): return events.filter { $0.startDate > date }
        case .event(nil): return events
        case .event(let identifier):
            guard let index = events.firstIndex(where: { $0.identifier == identifier }) else {
                return events
            }
            return Array(events[(index + 1)...])
        case .matching(let request): return try EventSelection(request).events(of: events)
        }
    }
}
