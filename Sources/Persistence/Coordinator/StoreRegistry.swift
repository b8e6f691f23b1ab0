internal import Foundation
internal import ObjectModel
internal import Platform
internal import SQLiteStore
package import Stores

/// Makes a row store of one type.
package typealias RowStoreFactory = @Sendable (StoreParameters) throws -> any RowStore

/// The store types this program can open.
package enum StoreRegistry {
    private static let factories = Lock<[String: RowStoreFactory]>([
        NSInMemoryStoreType: { parameters in
            MemoryRowStore(
                layout: parameters.layout, platform: parameters.platform,
                keepsHistory: parameters.tracksHistory ?? false)
        },
        NSSQLiteStoreType: { parameters in
            let store = try SQLiteRowStore(
                url: parameters.file, model: parameters.model,
                configuration: parameters.configuration,
                options: parameters.sqliteOptions, platform: parameters.platform)
            if let warning = store.fileSystemWarning { warn(warning) }
            if store.isClosedToWriting {
                warn(
                    "A store with a history was opened with NSPersistentHistoryTrackingKey false "
                        + "and is read-only.")
            }
            return store
        },
        NSXMLStoreType: { parameters in
            if let rows = parameters.memoryRows { return rows }
            return try XMLRowStore(
                url: parameters.file, model: parameters.model,
                configuration: parameters.configuration,
                options: parameters.graphOptions, platform: parameters.platform)
        },
        NSBinaryStoreType: { parameters in
            if let rows = parameters.memoryRows { return rows }
            return try BinaryRowStore(
                url: parameters.file, model: parameters.model,
                configuration: parameters.configuration,
                options: parameters.graphOptions, platform: parameters.platform)
        },
    ])
    /// The classes that programs registered.
    private static let classes = Lock<[String: NSPersistentStore.Type]>([:])

    private static func warn(_ sentence: String) {
        FileHandle.standardError.write(Data("CoreData: warning: \(sentence)\n".utf8))
    }

    /// Makes a store type known, or replaces it.
    package static func register(_ type: String, _ factory: @escaping RowStoreFactory) {
        factories.withLock { $0[type] = factory }
    }

    /// Makes a program's own class known for a type, or forgets the type's class.
    static func register(_ storeClass: NSPersistentStore.Type?, for type: String) {
        classes.withLock { $0[type] = storeClass }
    }

    static func storeClass(for type: String) -> NSPersistentStore.Type? {
        classes.withLock { $0[type] }
    }

    static var types: [String] {
        let own = factories.withLock { Array($0.keys) }
        return Set(own).union(classes.withLock { $0.keys }).sorted()
    }

    static func factory(for type: String) throws -> RowStoreFactory {
        if let factory = factories.withLock({ $0[type] }) { return factory }
        throw PersistenceErrors.make(
            NSPersistentStoreInvalidTypeError,
            "Stores of type \(type) cannot be opened; use one of \(types.joined(separator: ", ")), "
                + "or register a class for the type.", ["type": type])
    }
}
