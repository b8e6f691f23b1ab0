public import Foundation
internal import MirrorEngine

extension NSPersistentCloudKitContainer {
    /// What the mirror did. Raw values are Apple's.
    public enum EventType: Int, Sendable {
        case setup = 0
        case `import` = 1
        case export = 2
    }

    /// One step of mirroring. Source: Apple, NSPersistentCloudKitContainer.Event.
    ///
    /// Difference from Apple: an event is posted and kept when it has ended, so `endDate` is never
    /// nil.
    public final class Event: NSObject, Sendable {
        public let identifier: UUID
        /// The identifier of the mirrored store.
        public let storeIdentifier: String
        public let type: EventType
        public let startDate: Date
        public let endDate: Date?
        public let succeeded: Bool
        /// A `CKError` where the event failed.
        public let error: (any Error)?
        /// The round it was part of, as the service's access log names it too; nil for none. Not
        /// Apple's.
        public let roundIdentifier: String?

        init(_ event: MirrorEvent, of store: String, error: CKError? = nil) {
            identifier = event.identifier
            storeIdentifier = store
            type = EventType(rawValue: Int(event.kind.rawValue)) ?? .setup
            startDate = event.started
            endDate = event.ended
            succeeded = event.succeeded
            roundIdentifier = event.round
            self.error = error ?? event.error.map { CKError(.internalError, $0) }
        }

        public override var description: String {
            "\(type) from \(startDate)"
                + (error.map { ", failed: \($0.localizedDescription)" } ?? "")
        }
    }

    /// Posted by the container for each event; `userInfo` has it under
    /// `eventNotificationUserInfoKey`. Posted on a thread of the mirror.
    public static let eventChangedNotification = NSNotification.Name(
        "NSPersistentCloudKitContainerEventChangedNotification")
    public static let eventNotificationUserInfoKey = "event"
}
