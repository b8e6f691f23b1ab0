public import Foundation

extension NSManagedObjectContext {
    /// Posted before a context saves. Source: Apple, NSManagedObjectContext.
    ///
    /// Delivered on the main actor, for what is posted on the main queue.
    public struct WillSaveMessage: NotificationCenter.MainActorMessage {
        public typealias Subject = NSManagedObjectContext
        /// The notification's name.
        public static var name: Notification.Name { willSaveObjectsNotification }
        /// The context that posted it.
        public let context: NSManagedObjectContext
        private let content: NotificationContent

        /// The message that a notification carries; nil for another one's.
        @MainActor public static func makeMessage(_ notification: Notification) -> WillSaveMessage?
        {
            guard notification.name == name, let subject = notification.object as? Subject
            else { return nil }
            return WillSaveMessage(
                context: subject, content: NotificationContent(notification))
        }

        /// The notification that carries a message.
        @MainActor public static func makeNotification(_ message: WillSaveMessage) -> Notification {
            message.content.notification(name)
        }
    }
}

extension NotificationCenter.MessageIdentifier
where
    Self == NotificationCenter.BaseMessageIdentifier<
        NSManagedObjectContext.WillSaveMessage
    >
{
    /// Observes `NSManagedObjectContext.WillSaveMessage`.
    public static var willSave:
        NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.WillSaveMessage>
    { .init() }
}

extension NSManagedObjectContext {
    /// Posted after a context saved. Source: Apple, NSManagedObjectContext.
    ///
    /// Delivered on the main actor, for what is posted on the main queue.
    public struct DidSaveMessage: NotificationCenter.MainActorMessage {
        public typealias Subject = NSManagedObjectContext
        /// The notification's name.
        public static var name: Notification.Name { didSaveObjectsNotification }
        /// The context that posted it.
        public let context: NSManagedObjectContext
        private let content: NotificationContent

        /// The new objects.
        public var inserted: Set<NSManagedObject> { content.set(NSInsertedObjectsKey) }
        /// The changed objects.
        public var updated: Set<NSManagedObject> { content.set(NSUpdatedObjectsKey) }
        /// The deleted objects.
        public var deleted: Set<NSManagedObject> { content.set(NSDeletedObjectsKey) }
        /// The store's history after the save; nil where no history is kept.
        public var historyToken: NSPersistentHistoryToken? { content.historyToken }
        /// The generation of rows that the context reads; nil where the notification names none.
        public var queryGeneration: NSQueryGenerationToken? { content.queryGeneration }

        /// The message that a notification carries; nil for another one's.
        @MainActor public static func makeMessage(_ notification: Notification) -> DidSaveMessage? {
            guard notification.name == name, let subject = notification.object as? Subject
            else { return nil }
            return DidSaveMessage(
                context: subject, content: NotificationContent(notification))
        }

        /// The notification that carries a message.
        @MainActor public static func makeNotification(_ message: DidSaveMessage) -> Notification {
            message.content.notification(name)
        }
    }
}

extension NotificationCenter.MessageIdentifier
where
    Self == NotificationCenter.BaseMessageIdentifier<
        NSManagedObjectContext.DidSaveMessage
    >
{
    /// Observes `NSManagedObjectContext.DidSaveMessage`.
    public static var didSave:
        NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveMessage>
    { .init() }
}

extension NSManagedObjectContext {
    /// Posted when objects of a context changed. Source: Apple, NSManagedObjectContext.
    ///
    /// Delivered on the main actor, for what is posted on the main queue.
    public struct ObjectsDidChangeMessage: NotificationCenter.MainActorMessage {
        public typealias Subject = NSManagedObjectContext
        /// The notification's name.
        public static var name: Notification.Name { didChangeObjectsNotification }
        /// The context that posted it.
        public let context: NSManagedObjectContext
        private let content: NotificationContent

        /// The new objects.
        public var inserted: Set<NSManagedObject> { content.set(NSInsertedObjectsKey) }
        /// The changed objects.
        public var updated: Set<NSManagedObject> { content.set(NSUpdatedObjectsKey) }
        /// The deleted objects.
        public var deleted: Set<NSManagedObject> { content.set(NSDeletedObjectsKey) }
        /// The objects that were read anew.
        public var refreshed: Set<NSManagedObject> { content.set(NSRefreshedObjectsKey) }
        /// The objects that are good for nothing any more.
        public var invalidated: Set<NSManagedObject> { content.set(NSInvalidatedObjectsKey) }
        /// Whether all objects are good for nothing any more; nil where that is not said.
        public var invalidatedAll: Bool? {
            content.userInfo[NSInvalidatedAllObjectsKey].map { _ in true }
        }

        /// The message that a notification carries; nil for another one's.
        @MainActor public static func makeMessage(_ notification: Notification)
            -> ObjectsDidChangeMessage?
        {
            guard notification.name == name, let subject = notification.object as? Subject
            else { return nil }
            return ObjectsDidChangeMessage(
                context: subject, content: NotificationContent(notification))
        }

        /// The notification that carries a message.
        @MainActor public static func makeNotification(_ message: ObjectsDidChangeMessage)
            -> Notification
        {
            message.content.notification(name)
        }
    }
}

extension NotificationCenter.MessageIdentifier
where
    Self == NotificationCenter.BaseMessageIdentifier<
        NSManagedObjectContext.ObjectsDidChangeMessage
    >
{
    /// Observes `NSManagedObjectContext.ObjectsDidChangeMessage`.
    public static var objectsDidChange:
        NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.ObjectsDidChangeMessage>
    { .init() }
}
