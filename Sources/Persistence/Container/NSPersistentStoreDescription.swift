public import Foundation

/// How a container's store is to be opened. Source: Apple, NSPersistentStoreDescription.
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// A store type such as `NSSQLiteStoreType`.
    open var type = NSSQLiteStoreType
    open var configuration: String?
    open var url: URL?
    /// Whether the store is opened on another queue while loading returns at once.
    open var shouldAddStoreAsynchronously = false
    open private(set) var options: [String: NSObject] = [
        NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
        NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
    ]

    public required override init() { super.init() }

    /// A SQLite store at `url`.
    public required init(url: URL) {
        self.url = url
        super.init()
    }

    open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

    open var isReadOnly: Bool {
        get { flag(NSReadOnlyPersistentStoreOption) }
        set { options[NSReadOnlyPersistentStoreOption] = NSNumber(value: newValue) }
    }

    open var shouldMigrateStoreAutomatically: Bool {
        get { flag(NSMigratePersistentStoresAutomaticallyOption) }
        set { options[NSMigratePersistentStoresAutomaticallyOption] = NSNumber(value: newValue) }
    }

    open var shouldInferMappingModelAutomatically: Bool {
        get { flag(NSInferMappingModelAutomaticallyOption) }
        set { options[NSInferMappingModelAutomaticallyOption] = NSNumber(value: newValue) }
    }

    /// How long to wait for a busy store, in seconds. Where it is not set, 240 is answered, as
    /// Apple does, and the store waits 10.
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
        set { options[NSPersistentStoreTimeoutOption] = NSNumber(value: newValue) }
    }

    open var sqlitePragmas: [String: NSObject] {
        (options[NSSQLitePragmasOption] as? NSDictionary) as? [String: NSObject] ?? [:]
    }

    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        var pragmas = sqlitePragmas
        pragmas[name] = value
        options[NSSQLitePragmasOption] = NSDictionary(dictionary: pragmas)
    }

    private func flag(_ key: String) -> Bool { (options[key] as? NSNumber)?.boolValue ?? false }

    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Self()
        copy.type = type
        copy.configuration = configuration
        copy.url = url
        copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
        copy.options = options
        return copy
    }
}
