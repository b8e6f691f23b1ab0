public import Foundation

extension NSManagedObjectContext {
    /// Posted after a context saved, with IDs. Source: Apple, NSManagedObjectContext.
    ///
    /// Delivered on the main actor, for what is posted on the main queue.
    public struct DidSaveObjectIDsMessage: NotificationCenter.MainActorMessage {
        public typealias Subject = NSManagedObjectContext
        /// The notification's name.
        public static var name: Notification.Name { didSaveObjectIDsNotification }
        /// The context that posted it.
        public let context: NSManagedObjectContext
        private let content: NotificationContent

        /// The IDs of the new objects.
        public var insertedIDs: Set<NSManagedObjectID> { content.set(NSInsertedObjectIDsKey) }
        /// The IDs of the changed objects.
        public var updatedIDs: Set<NSManagedObjectID> { content.set(NSUpdatedObjectIDsKey) }
        /// The IDs of the deleted objects.
        public var deletedIDs: Set<NSManagedObjectID> { content.set(NSDeletedObjectIDsKey) }
        /// The IDs of the objects that were read anew.
        public var refreshedIDs: Set<NSManagedObjectID> { content.set(NSRefreshedObjectIDsKey) }
        /// The IDs of the objects that are good for nothing any more.
        public var invalidatedIDs: Set<NSManagedObjectID> { content.set(NSInvalidatedObjectIDsKey) }
        /// The store's history after the save; nil where no history is kept.
        public var historyToken: NSPersistentHistoryToken? { content.historyToken }
        /// The generation of rows that the context reads; nil where the notification names none.
        public var queryGeneration: NSQueryGenerationToken? { content.queryGeneration }

        /// The message that a notification carries; nil for another one's.
        @MainActor public static func makeMessage(_ notification: Notification)
            -> DidSaveObjectIDsMessage?
        {
            guard notification.name == name, let subject = notification.object as? Subject
            else { return nil }
            return DidSaveObjectIDsMessage(
                context: subject, content: NotificationContent(notification))
        }

        /// The notification that carries a message.
        @MainActor public static func makeNotification(_ message: DidSaveObjectIDsMessage)
            -> Notification
        {
            message.content.notification(name)
        }
    }
}

extension NotificationCenter.MessageIdentifier
where
    Self == NotificationCenter.BaseMessageIdentifier<
        NSManagedObjectContext.DidSaveObjectIDsMessage
    >
{
    /// Observes `NSManagedObjectContext.DidSaveObjectIDsMessage`.
    public static var didSaveObjectIDs:
        NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsMessage>
    { .init() }
}

extension NSManagedObjectContext {
    /// Posted after a context saved, with IDs. Source: Apple, NSManagedObjectContext.
    ///
    /// Delivered asynchronously, from any thread.
    public struct DidSaveObjectIDsAsyncMessage: NotificationCenter.AsyncMessage {
        public typealias Subject = NSManagedObjectContext
        /// The notification's name.
        public static var name: Notification.Name { didSaveObjectIDsNotification }
        /// The context that posted it.
        public let context: NSManagedObjectContext
        private let content: NotificationContent

        /// The IDs of the new objects.
        public var insertedIDs: Set<NSManagedObjectID> { content.set(NSInsertedObjectIDsKey) }
        /// The IDs of the changed objects.
        public var updatedIDs: Set<NSManagedObjectID> { content.set(NSUpdatedObjectIDsKey) }
        /// The IDs of the deleted objects.
        public var deletedIDs: Set<NSManagedObjectID> { content.set(NSDeletedObjectIDsKey) }
        /// The IDs of the objects that were read anew.
        public var refreshedIDs: Set<NSManagedObjectID> { content.set(NSRefreshedObjectIDsKey) }
        /// The IDs of the objects that are good for nothing any more.
        public var invalidatedIDs: Set<NSManagedObjectID> { content.set(NSInvalidatedObjectIDsKey) }
        /// The store's history after the save; nil where no history is kept.
        public var historyToken: NSPersistentHistoryToken? { content.historyToken }
        /// The generation of rows that the context reads; nil where the notification names none.
        public var queryGeneration: NSQueryGenerationToken? { content.queryGeneration }

        /// The message that a notification carries; nil for another one's.
        public static func makeMessage(_ notification: Notification)
            -> DidSaveObjectIDsAsyncMessage?
        {
            guard notification.name == name, let subject = notification.object as? Subject
            else { return nil }
            return DidSaveObjectIDsAsyncMessage(
                context: subject, content: NotificationContent(notification))
        }

        /// The notification that carries a message.
        public static func makeNotification(_ message: DidSaveObjectIDsAsyncMessage) -> Notification
        {
            message.content.notification(name)
        }
    }
}

extension NotificationCenter.MessageIdentifier
where
    Self == NotificationCenter.BaseMessageIdentifier<
        NSManagedObjectContext.DidSaveObjectIDsAsyncMessage
    >
{
    /// Observes `NSManagedObjectContext.DidSaveObjectIDsAsyncMessage`.
    public static var didSaveObjectIDsAsync:
        NotificationCenter.BaseMessageIdentifier<
            NSManagedObjectContext.DidSaveObjectIDsAsyncMessage
        >
    { .init() }
}
