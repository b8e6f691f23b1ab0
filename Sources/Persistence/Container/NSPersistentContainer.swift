public import Foundation
public import ObjectModel

/// A model, its coordinator and a main-queue context, put together. Source: Apple,
/// NSPersistentContainer. Queue: any thread; `viewContext` is the main thread's.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
    // @unchecked: descriptions are set up before the stores are loaded; the rest never changes.
    /// As given to the initializer: the name of the model looked for, and of the first
    /// description's file.
    public final let name: String
    private final let coordinator: NSPersistentStoreCoordinator
    private final let mainContext: NSManagedObjectContext
    /// The model that all its contexts work with.
    open var managedObjectModel: NSManagedObjectModel { coordinator.managedObjectModel }
    /// The coordinator of the container's stores; empty before `loadPersistentStores`.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator { coordinator }
    /// The context of the main queue.
    open var viewContext: NSManagedObjectContext { mainContext }
    /// The stores to load: at first one SQLite store `<name>.sqlite` in the default directory.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription]

    /// A container for a model that is at hand.
    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        self.name = name
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        mainContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        let file = Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
        persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
        super.init()
        mainContext.persistentStoreCoordinator = coordinator
    }

    /// A container for the model file of that name among the program's resources. Traps when there
    /// is none.
    public convenience init(name: String) {
        guard let model = ModelSearch.model(named: name) else {
            ProgrammingMistake.noModel(named: name)
        }
        self.init(name: name, managedObjectModel: model)
    }

    /// Where stores are kept: `$XDG_DATA_HOME` or `~/.local/share`, then the program's name.
    open class func defaultDirectoryURL() -> URL {
        let environment = ProcessInfo.processInfo.environment
        let home = FileManager.default.homeDirectoryForCurrentUser
        let base =
            environment["XDG_DATA_HOME"].flatMap {
                $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil
            }
            ?? home.appendingPathComponent(".local/share")
        return base.appendingPathComponent(ProcessInfo.processInfo.processName)
    }

    /// Opens the described stores, making directories and files as needed; the block is called for
    /// each.
    open func loadPersistentStores(
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        for description in persistentStoreDescriptions {
            if let directory = description.url?.deletingLastPathComponent(),
                description.type != NSInMemoryStoreType, !description.isReadOnly
            {
                do {
                    try FileManager.default.createDirectory(
                        at: directory, withIntermediateDirectories: true)
                } catch {
                    block(description, error)
                    continue
                }
            }
            persistentStoreCoordinator.addPersistentStore(
                with: description, completionHandler: block)
        }
    }

    /// A new context with a queue of its own.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs `block` later with a new background context.
    open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { block(context) }
    }

    /// Runs `block` with a new background context and returns what it returns. Throws what `block`
    /// throws. Cost: a context, whose objects end with it; nothing is saved by itself.
    public final func performBackgroundTask<T, Failure: Error>(
        _ block: @escaping (NSManagedObjectContext) throws(Failure) -> T
    ) async throws(Failure) -> T {
        let context = newBackgroundContext()
        return try await context.perform(schedule: .enqueued) { () throws(Failure) -> T in
            try block(context)
        }
    }
}
