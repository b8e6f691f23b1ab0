internal import Foundation

/// Posts each notification of this module as typed messages too, since Foundation does not join
/// the two off Apple's platforms.
///
/// Messages for the main actor are posted where the notification is posted on the main queue;
/// others at once. A message that a program posts reaches observers of messages only.
enum MessageForwarding {
    /// Observes the notifications, once in a process; a look costs nothing afterwards.
    static let begun: Bool = {
        // Marks the main queue, which other threads than the main one may run.
        _ = ContextQueue(isMain: true)
        forward(NSManagedObjectContext.WillSaveMessage.self)
        forward(NSManagedObjectContext.DidSaveMessage.self)
        forward(NSManagedObjectContext.ObjectsDidChangeMessage.self)
        forward(NSManagedObjectContext.DidSaveObjectIDsMessage.self)
        forward(NSManagedObjectContext.DidSaveObjectIDsAsyncMessage.self)
        forward(NSManagedObjectContext.DidMergeChangesMessage.self)
        forward(NSManagedObjectContext.DidMergeChangesAsyncMessage.self)
        forward(NSPersistentStoreCoordinator.StoresDidChangeMessage.self)
        forward(NSPersistentStoreCoordinator.StoresDidChangeAsyncMessage.self)
        forward(NSPersistentStoreCoordinator.RemoteChangeMessage.self)
        return true
    }()

    private static func forward<Message: MainMessage>(_: Message.Type) {
        observe(Message.name) { notification in
            guard ContextQueue.isOnMain else { return }
            let content = UncheckedTransfer(notification)
            MainActor.assumeIsolated {
                guard let message = Message.makeMessage(content.value),
                    let subject = content.value.object as? Message.Subject
                else { return }
                NotificationCenter.default.post(message, subject: subject)
            }
        }
    }

    private static func forward<Message: AnywhereMessage>(_: Message.Type) {
        observe(Message.name) { notification in
            guard let message = Message.makeMessage(notification),
                let subject = notification.object as? Message.Subject
            else { return }
            NotificationCenter.default.post(message, subject: subject)
        }
    }

    private static func observe(
        _ name: Notification.Name, _ work: @escaping @Sendable (Notification) -> Void
    ) {
        _ = NotificationCenter.default.addObserver(
            forName: name, object: nil, queue: nil, using: work)
    }
}

/// A message of the main actor that a notification carries.
protocol MainMessage: NotificationCenter.MainActorMessage where Subject: AnyObject {
    static var name: Notification.Name { get }
    @MainActor static func makeMessage(_ notification: Notification) -> Self?
}

/// A message of any thread that a notification carries.
protocol AnywhereMessage: NotificationCenter.AsyncMessage where Subject: AnyObject {
    static var name: Notification.Name { get }
    static func makeMessage(_ notification: Notification) -> Self?
}

extension NSManagedObjectContext.WillSaveMessage: MainMessage {}
extension NSManagedObjectContext.DidSaveMessage: MainMessage {}
extension NSManagedObjectContext.ObjectsDidChangeMessage: MainMessage {}
extension NSManagedObjectContext.DidSaveObjectIDsMessage: MainMessage {}
extension NSManagedObjectContext.DidSaveObjectIDsAsyncMessage: AnywhereMessage {}
extension NSManagedObjectContext.DidMergeChangesMessage: MainMessage {}
extension NSManagedObjectContext.DidMergeChangesAsyncMessage: AnywhereMessage {}
extension NSPersistentStoreCoordinator.StoresDidChangeMessage: MainMessage {}
extension NSPersistentStoreCoordinator.StoresDidChangeAsyncMessage: AnywhereMessage {}
extension NSPersistentStoreCoordinator.RemoteChangeMessage: AnywhereMessage {}
