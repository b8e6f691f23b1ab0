public import Foundation

extension NSPersistentCloudKitContainer {
    /// Posted for each step of mirroring when it begins and when it has ended, beside
    /// `eventChangedNotification`.
    /// Source: Apple, NSPersistentCloudKitContainer.EventChangedMessage.
    ///
    /// Delivered asynchronously, from a thread of the mirror.
    public struct EventChangedMessage: NotificationCenter.AsyncMessage {
        public typealias Subject = NSPersistentCloudKitContainer
        /// The notification's name.
        public static var name: Notification.Name { Subject.eventChangedNotification }
        /// What the mirror did.
        public let event: Event
        private let container: NSPersistentCloudKitContainer

        init(_ event: Event, of container: NSPersistentCloudKitContainer) {
            self.event = event
            self.container = container
        }

        /// The message that a notification carries; nil for another one's.
        public static func makeMessage(_ notification: Notification) -> EventChangedMessage? {
            guard notification.name == name, let subject = notification.object as? Subject,
                let event = notification.userInfo?[Subject.eventNotificationUserInfoKey] as? Event
            else { return nil }
            return EventChangedMessage(event, of: subject)
        }

        /// The notification that carries a message.
        public static func makeNotification(_ message: EventChangedMessage) -> Notification {
            Notification(
                name: name, object: message.container,
                userInfo: [Subject.eventNotificationUserInfoKey: message.event])
        }
    }
}

extension NotificationCenter.MessageIdentifier
where
    Self == NotificationCenter.BaseMessageIdentifier<
        NSPersistentCloudKitContainer.EventChangedMessage
    >
{
    /// Observes `NSPersistentCloudKitContainer.EventChangedMessage`.
    public static var eventChanged:
        NotificationCenter.BaseMessageIdentifier<
            NSPersistentCloudKitContainer.EventChangedMessage
        >
    { .init() }
}
