public import Foundation
internal import MirrorEngine
internal import Persistence
internal import RecordWire

extension NSPersistentCloudKitContainer {
    /// What the mirror did. Raw values are Apple's.
    public enum EventType: Int, Sendable {
        case setup = 0
        case `import` = 1
        case export = 2
    }

    /// One step of mirroring: all that a round imports is one, and all that it exports. Source:
    /// Apple, NSPersistentCloudKitContainer.Event.
    ///
    /// It is posted when it begins, with no `endDate`, and once more when it has ended. Both have
    /// its `identifier`.
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
            self.error = error ?? Self.error(of: event)
        }

        /// One that runs, or one of which nothing came to be written.
        init(
            _ begun: RoundEvents.Begun, of store: String, ended: Date? = nil,
            error: CKError? = nil
        ) {
            identifier = begun.identifier
            storeIdentifier = store
            type = EventType(rawValue: Int(begun.kind.rawValue)) ?? .setup
            startDate = begun.started
            endDate = ended
            succeeded = ended != nil && error == nil
            roundIdentifier = RoundIdentifier.current
            self.error = error
        }

        private static func error(of event: MirrorEvent) -> CKError? {
            let code = event.errorCode.flatMap(CKError.Code.init(rawValue:))
            return event.error.map { CKError(code ?? .internalError, $0) }
        }

        public override var description: String {
            "\(type) from \(startDate)"
                + (error.map { ", failed: \($0.localizedDescription)" } ?? "")
        }
    }

    /// Posted by the container when an event begins and when it has ended; `userInfo` has it under
    /// `eventNotificationUserInfoKey`. Posted on a thread of the mirror.
    public static let eventChangedNotification = NSNotification.Name(
        "NSPersistentCloudKitContainerEventChangedNotification")
    public static let eventNotificationUserInfoKey = "event"

    /// Posted by the container when something of a store has waited to be sent for longer than any
    /// healthy sync takes: once, and anew after nothing waited. `userInfo` has the store's
    /// identifier under `NSStoreUUIDKey` and the `Date` under `stalledSinceUserInfoKey`;
    /// `status(of:)` says why. Not Apple's. Posted on a thread of the mirror.
    public static let stalledNotification = NSNotification.Name(
        "NSPersistentCloudKitContainerStalledNotification")
    public static let stalledSinceUserInfoKey = "since"

    final func postStall(of store: String, since: Date) {
        NotificationCenter.default.post(
            name: Self.stalledNotification, object: self,
            userInfo: [NSStoreUUIDKey: store, Self.stalledSinceUserInfoKey: since])
    }
}
