public import Foundation

/// How a container's store is to be opened. Source: Apple, NSPersistentStoreDescription. Queue: one
/// at a time; set it up before it is given to a container, which reads it while loading.
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// A store type such as `NSSQLiteStoreType`.
    open var type = NSSQLiteStoreType
    /// The configuration of the model whose entities the store takes; nil for all.
    open var configuration: String?
    /// The store's file; nil, or `/dev/null`, for a store in memory.
    open var url: URL?
    /// Whether the store is opened on another queue while loading returns at once.
    open var shouldAddStoreAsynchronously = false
    /// What the store is opened with: what was set here, and migration as `shouldMigrate…` says.
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

    /// Sets an option such as `NSPersistentHistoryTrackingKey`; nil takes it away.
    open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

    /// Whether the store is opened for reading only. Saves of its objects fail with 134030 then.
    open var isReadOnly: Bool {
        get { flag(NSReadOnlyPersistentStoreOption) }
        set { options[NSReadOnlyPersistentStoreOption] = NSNumber(value: newValue) }
    }

    /// Whether a store of another model version is migrated when it is opened; true unless it is
    /// set.
    open var shouldMigrateStoreAutomatically: Bool {
        get { flag(NSMigratePersistentStoresAutomaticallyOption) }
        set { options[NSMigratePersistentStoresAutomaticallyOption] = NSNumber(value: newValue) }
    }

    /// Whether such a migration may work its mapping out where the program has none; true unless it
    /// is set.
    open var shouldInferMappingModelAutomatically: Bool {
        get { flag(NSInferMappingModelAutomaticallyOption) }
        set { options[NSInferMappingModelAutomaticallyOption] = NSNumber(value: newValue) }
    }

    /// How long to wait for a busy store, in seconds. Where it is not set, 240 is answered, as
    /// Apple does, and the store waits 10.
    open var timeout: TimeInterval {
        get { OptionValues.seconds(options[NSPersistentStoreTimeoutOption]) ?? 240 }
        set { options[NSPersistentStoreTimeoutOption] = NSNumber(value: newValue) }
    }

    /// What `setValue(_:forPragmaNamed:)` set.
    open var sqlitePragmas: [String: NSObject] {
        (options[NSSQLitePragmasOption] as? NSDictionary) as? [String: NSObject] ?? [:]
    }

    /// Sets a pragma for each opening, such as `journal_mode` or `synchronous`. One that could hurt
    /// the file or other processes is refused with 134070 when the store is opened; Apple hands all
    /// on.
    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        var pragmas = sqlitePragmas
        pragmas[name] = value
        options[NSSQLitePragmasOption] = NSDictionary(dictionary: pragmas)
    }

    private func flag(_ key: String) -> Bool { OptionValues.flag(options[key]) ?? false }

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
