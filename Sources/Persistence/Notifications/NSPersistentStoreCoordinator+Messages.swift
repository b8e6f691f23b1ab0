public import Foundation

extension NSPersistentStoreCoordinator {
    /// Posted when stores were opened or closed. Source: Apple, NSPersistentStoreCoordinator.
    ///
    /// Delivered on the main actor, for what is posted on the main queue.
    public struct StoresDidChangeMessage: NotificationCenter.MainActorMessage {
        public typealias Subject = NSPersistentStoreCoordinator
        /// The notification's name.
        public static var name: Notification.Name {
            Notification.Name.NSPersistentStoreCoordinatorStoresDidChange
        }
        /// The coordinator that posted it.
        public let persistentStoreCoordinator: NSPersistentStoreCoordinator
        private let content: NotificationContent

        /// The stores that were opened.
        public var addedStores: [NSPersistentStore] { content.list(NSAddedPersistentStoresKey) }
        /// The stores that were closed.
        public var removedStores: [NSPersistentStore] { content.list(NSRemovedPersistentStoresKey) }
        /// A store that took the place of another; nil where none did.
        public var uuidChangedStores: (oldValue: NSPersistentStore, newValue: NSPersistentStore)? {
            let stores: [NSPersistentStore] = content.list(NSUUIDChangedPersistentStoresKey)
            return stores.count > 1 ? (stores[0], stores[1]) : nil
        }

        /// The message that a notification carries; nil for another one's.
        @MainActor public static func makeMessage(_ notification: Notification)
            -> StoresDidChangeMessage?
        {
            guard notification.name == name, let subject = notification.object as? Subject
            else { return nil }
            return StoresDidChangeMessage(
                persistentStoreCoordinator: subject, content: NotificationContent(notification))
        }

        /// The notification that carries a message.
        @MainActor public static func makeNotification(_ message: StoresDidChangeMessage)
            -> Notification
        {
            message.content.notification(name)
        }
    }
}

extension NotificationCenter.MessageIdentifier
where
    Self == NotificationCenter.BaseMessageIdentifier<
        NSPersistentStoreCoordinator.StoresDidChangeMessage
    >
{
    /// Observes `NSPersistentStoreCoordinator.StoresDidChangeMessage`.
    public static var storesDidChange:
        NotificationCenter.BaseMessageIdentifier<
            NSPersistentStoreCoordinator.StoresDidChangeMessage
        >
    { .init() }
}

extension NSPersistentStoreCoordinator {
    /// Posted when stores were opened or closed. Source: Apple, NSPersistentStoreCoordinator.
    ///
    /// Delivered asynchronously, from any thread.
    public struct StoresDidChangeAsyncMessage: NotificationCenter.AsyncMessage {
        public typealias Subject = NSPersistentStoreCoordinator
        /// The notification's name.
        public static var name: Notification.Name {
            Notification.Name.NSPersistentStoreCoordinatorStoresDidChange
        }
        /// The coordinator that posted it.
        public let persistentStoreCoordinator: NSPersistentStoreCoordinator
        private let content: NotificationContent

        /// The stores that were opened.
        public var addedStores: [NSPersistentStore] { content.list(NSAddedPersistentStoresKey) }
        /// The stores that were closed.
        public var removedStores: [NSPersistentStore] { content.list(NSRemovedPersistentStoresKey) }
        /// A store that took the place of another; nil where none did.
        public var uuidChangedStores: (oldValue: NSPersistentStore, newValue: NSPersistentStore)? {
            let stores: [NSPersistentStore] = content.list(NSUUIDChangedPersistentStoresKey)
            return stores.count > 1 ? (stores[0], stores[1]) : nil
        }

        /// The message that a notification carries; nil for another one's.
        public static func makeMessage(_ notification: Notification) -> StoresDidChangeAsyncMessage?
        {
            guard notification.name == name, let subject = notification.object as? Subject
            else { return nil }
            return StoresDidChangeAsyncMessage(
                persistentStoreCoordinator: subject, content: NotificationContent(notification))
        }

        /// The notification that carries a message.
        public static func makeNotification(_ message: StoresDidChangeAsyncMessage) -> Notification
        {
            message.content.notification(name)
        }
    }
}

extension NotificationCenter.MessageIdentifier
where
    Self == NotificationCenter.BaseMessageIdentifier<
        NSPersistentStoreCoordinator.StoresDidChangeAsyncMessage
    >
{
    /// Observes `NSPersistentStoreCoordinator.StoresDidChangeAsyncMessage`.
    public static var storesDidChangeAsync:
        NotificationCenter.BaseMessageIdentifier<
            NSPersistentStoreCoordinator.StoresDidChangeAsyncMessage
        >
    { .init() }
}
