package import Foundation
package import ObjectModel
package import Platform
package import SQLiteStore
package import Stores

/// How a store is to be opened.
package struct StoreParameters: @unchecked Sendable {
    // @unchecked: options are read-only values.
    package var type: String
    package var url: URL?
    package var model: NSManagedObjectModel
    package var configuration: String?
    package var options: [AnyHashable: Any]?
    package var platform: Environment
    /// Who may read and write a file that is made; nil for what new files have.
    package var access: FileAccess?
    /// What a copy of another store goes on with.
    package var former: FormerRows?

    package init(type: String, model: NSManagedObjectModel, platform: Environment = .system) {
        self.type = type
        self.model = model
        self.platform = platform
    }

    package var isReadOnly: Bool { flag(NSReadOnlyPersistentStoreOption) ?? false }

    /// What an app asks for; nil where it says nothing.
    package var tracksHistory: Bool? { flag(NSPersistentHistoryTrackingKey) }

    /// The file; nil for a store in memory, which `/dev/null` asks for too.
    package var file: URL? { url?.isNullDevice == true ? nil : url }

    /// The rows of an XML or binary store at `/dev/null`; nil elsewhere.
    var memoryRows: MemoryRowStore? {
        guard url?.isNullDevice == true else { return nil }
        return MemoryRowStore(
            layout: layout, platform: platform, keepsHistory: false)
    }

    /// The layout of a store in memory.
    var layout: ModelLayout {
        ModelLayout(model: model, configuration: configuration, numbers: former?.numbers)
    }

    /// The options of a SQLite store.
    package var sqliteOptions: SQLiteStoreOptions {
        var made = SQLiteStoreOptions()
        made.making.access = access
        made.making.entityNumbers = former?.numbers
        made.isReadOnly = isReadOnly
        made.tracksHistory = tracksHistory
        made.ignoresVersioning = flag(NSIgnorePersistentStoreVersioningOption) ?? false
        let pragmas = options?[NSSQLitePragmasOption] as? [String: Any] ?? [:]
        made.pragmas = pragmas.mapValues { "\($0)" }
        made.analyzesOnOpening = flag(NSSQLiteAnalyzeOption) ?? false
        made.vacuumsOnOpening = flag(NSSQLiteManualVacuumOption) ?? false
        if flag(StagedMigration.handlerOption) == true {
            made.origin.processName = HistoryOrigin.stages
        }
        if let seconds = OptionValues.seconds(options?[NSPersistentStoreTimeoutOption]),
            !seconds.isNaN
        {
            made.busyMilliseconds = Int32(min(max(seconds * 1000, 0), 1e9))
        }
        return made
    }

    /// Refuses what cannot be meant.
    func check() throws {
        let builtIn = [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType]
        if let url, builtIn.contains(type), !url.isFileURL {
            throw PersistenceErrors.make(
                NSPersistentStoreOpenError,
                "A store's URL names a file; make it with URL(fileURLWithPath:).", ["url": url])
        }
        if let mistake = options.flatMap(OptionValues.mistake) {
            throw PersistenceErrors.make(NSPersistentStoreOpenError, mistake)
        }
    }

    /// The options of an XML or binary store.
    package var graphOptions: GraphFileOptions {
        var made = GraphFileOptions()
        made.access = access
        made.former = former
        made.isReadOnly = isReadOnly
        made.ignoresVersioning = flag(NSIgnorePersistentStoreVersioningOption) ?? false
        made.leavesOutDerived = flag(Self.leavesOutDerivedOption) ?? false
        return made
    }

    /// The option that opens an XML or binary store of a model with derived attributes, which such
    /// a file does not keep.
    package static let leavesOutDerivedOption = "DiptychLeavesOutDerivedAttributes"

    package func flag(_ key: String) -> Bool? { OptionValues.flag(options?[key]) }
}
