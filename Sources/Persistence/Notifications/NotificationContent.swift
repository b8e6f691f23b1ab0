internal import Foundation

/// What a notification says, for the typed messages that are made of it. Sets are made when they
/// are read.
struct NotificationContent: @unchecked Sendable {
    // @unchecked: the contents of a posted notification do not change.
    let object: Any?
    let userInfo: [AnyHashable: Any]

    init(_ notification: Notification) {
        object = notification.object
        userInfo = notification.userInfo ?? [:]
    }

    func set<Member: Hashable>(_ key: String) -> Set<Member> {
        userInfo[key] as? Set<Member> ?? []
    }

    func list<Element>(_ key: String) -> [Element] { userInfo[key] as? [Element] ?? [] }

    var historyToken: NSPersistentHistoryToken? {
        userInfo[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
    }

    var queryGeneration: NSQueryGenerationToken? {
        userInfo[NSManagedObjectContextQueryGenerationKey] as? NSQueryGenerationToken
    }

    /// The notification of that name again.
    func notification(_ name: Notification.Name) -> Notification {
        Notification(name: name, object: object, userInfo: userInfo)
    }
}
