public import Foundation

extension NSManagedObjectContext {
    /// Posted after a context took in the changes of another. Source: Apple,
    /// NSManagedObjectContext.
    ///
    /// Delivered on the main actor, for what is posted on the main queue.
    public struct DidMergeChangesMessage: NotificationCenter.MainActorMessage {
        public typealias Subject = NSManagedObjectContext
        /// The notification's name.
        public static var name: Notification.Name { didMergeChangesObjectIDsNotification }
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
            -> DidMergeChangesMessage?
        {
            guard notification.name == name, let subject = notification.object as? Subject
            else { return nil }
            return DidMergeChangesMessage(
                context: subject, content: NotificationContent(notification))
        }

        /// The notification that carries a message.
        @MainActor public static func makeNotification(_ message: DidMergeChangesMessage)
            -> Notification
        {
            message.content.notification(name)
        }
    }
}

extension NotificationCenter.MessageIdentifier
where
    Self == NotificationCenter.BaseMessageIdentifier<
        NSManagedObjectContext.DidMergeChangesMessage
    >
{
    /// Observes `NSManagedObjectContext.DidMergeChangesMessage`.
    public static var didMergeChanges:
        NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesMessage>
    { .init() }
}

extension NSManagedObjectContext {
    /// Posted after a context took in the changes of another. Source: Apple,
    /// NSManagedObjectContext.
    ///
    /// Delivered asynchronously, from any thread.
    public struct DidMergeChangesAsyncMessage: NotificationCenter.AsyncMessage {
        public typealias Subject = NSManagedObjectContext
        /// The notification's name.
        public static var name: Notification.Name { didMergeChangesObjectIDsNotification }
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
        public static func makeMessage(_ notification: Notification) -> DidMergeChangesAsyncMessage?
        {
            guard notification.name == name, let subject = notification.object as? Subject
            else { return nil }
            return DidMergeChangesAsyncMessage(
                context: subject, content: NotificationContent(notification))
        }

        /// The notification that carries a message.
        public static func makeNotification(_ message: DidMergeChangesAsyncMessage) -> Notification
        {
            message.content.notification(name)
        }
    }
}

extension NotificationCenter.MessageIdentifier
where
    Self == NotificationCenter.BaseMessageIdentifier<
        NSManagedObjectContext.DidMergeChangesAsyncMessage
    >
{
    /// Observes `NSManagedObjectContext.DidMergeChangesAsyncMessage`.
    public static var didMergeChangesAsync:
        NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesAsyncMessage>
    { .init() }
}
