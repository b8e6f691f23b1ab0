import CoreData
import Foundation

/// The notes' container.
public enum NotesStack {
    /// A container with its store at `url`. Throws where the store cannot be opened.
    public static func open(at url: URL) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Notes")
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }
}
