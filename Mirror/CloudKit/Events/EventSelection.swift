internal import Foundation
internal import Persistence
internal import Predicates

/// A fetch request over events, carried out in memory.
struct EventSelection {
    private typealias Event = NSPersistentCloudKitContainer.Event

    private let request: NSFetchRequest<any NSFetchRequestResult>

    init(_ request: NSFetchRequest<any NSFetchRequestResult>) { self.request = request }

    func events(
        of events: [NSPersistentCloudKitContainer.Event]
    ) throws -> [NSPersistentCloudKitContainer.Event] {
        var rows = events.map { (event: $0, values: Self.values(of: $0)) }
        if let predicate = request.predicate {
            rows = rows.filter { predicate.evaluate(with: $0.values) }
        }
        for descriptor in (request.sortDescriptors ?? []).reversed() {
            rows = Self.sorted(rows, by: descriptor)
        }
        let end = request.fetchLimit > 0 ? request.fetchLimit : rows.count
        return rows.dropFirst(request.fetchOffset).prefix(end).map(\.event)
    }

    /// Stable, so that the descriptors can be taken one by one, last first.
    private static func sorted(
        _ rows: [(event: Event, values: NSDictionary)], by descriptor: NSSortDescriptor
    ) -> [(event: Event, values: NSDictionary)] {
        rows.enumerated().sorted { one, other in
            switch descriptor.compare(one.element.values, to: other.element.values) {
            case .orderedAscending: true
            case .orderedDescending: false
            case .orderedSame: one.offset < other.offset
            }
        }.map(\.element)
    }

    private static func values(of event: Event) -> NSDictionary {
        let values: [String: Any] = [
            "identifier": event.identifier, "storeIdentifier": event.storeIdentifier,
            "type": event.type.rawValue, "startDate": event.startDate,
            "endDate": event.endDate ?? NSNull(), "succeeded": event.succeeded,
        ]
        return NSDictionary(dictionary: values)
    }
}
