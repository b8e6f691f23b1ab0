public import Foundation

extension NSPersistentStoreCoordinator {
    /// Posted when a store changed, by whomever. Source: Apple, NSPersistentStoreCoordinator.
    ///
    /// Delivered asynchronously, from any thread.
    public struct RemoteChangeMessage: NotificationCenter.AsyncMessage {
        public typealias Subject = NSPersistentStoreCoordinator
        /// The notification's name.
        public static var name: Notification.Name {
            Notification.Name.NSPersistentStoreRemoteChange
        }
        /// The coordinator that posted it.
        public let persistentStoreCoordinator: NSPersistentStoreCoordinator
        private let content: NotificationContent

        /// The store's identifier.
        public var storeUUID: String { content.userInfo[NSStoreUUIDKey] as? String ?? "" }
        /// Where the store is; `/dev/null` for one in memory.
        public var storeURL: URL {
            content.userInfo[NSPersistentStoreURLKey] as? URL ?? URL(fileURLWithPath: "/dev/null")
        }
        /// The store's history after the change; nil where no history is kept.
        public var historyToken: NSPersistentHistoryToken? { content.historyToken }

        /// The message that a notification carries; nil for another one's.
        public static func makeMessage(_ notification: Notification) -> RemoteChangeMessage? {
            guard notification.name == name, let subject = notification.object as? Subject
            else { return nil }
            return RemoteChangeMessage(
                persistentStoreCoordinator: subject, content: NotificationContent(notification))
        }

        /// The notification that carries a message.
        public static func makeNotification(_ message: RemoteChangeMessage) -> Notification {
            message.content.notification(name)
        }
    }
}

extension NotificationCenter.MessageIdentifier
where
    Self == NotificationCenter.BaseMessageIdentifier<
        NSPersistentStoreCoordinator.RemoteChangeMessage
    >
{
    /// Observes `NSPersistentStoreCoordinator.RemoteChangeMessage`.
    public static var remoteChange:
        NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.RemoteChangeMessage>
    { .init() }
}
