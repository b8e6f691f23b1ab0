import CoreData
import Foundation
import MirrorEngine
import MirrorTransport
import RecordWire

/// Notes the pages of a book in one device's library, then syncs the library with a service.
func note(
    pages: Int, of title: String, device: String, store: URL, modelFile: URL,
    service: URL, authority: URL?, credentials: Credentials
) async throws -> SyncSummary {
    // The stack, as in any Core Data app. The model is the .xcdatamodel that Xcode edits.
    let model = try NSManagedObjectModel.load(from: modelFile)
    let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: store)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }

    // Fetch, insert, save.
    let context = container.newBackgroundContext()
    try await context.perform {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: "title == %@", title)
        let book =
            try context.fetch(request).first
            ?? NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
        book.setValue(title, forKey: "title")
        book.setValue(pages, forKey: "pages")
        try context.save()
    }

    // One round with the record service. The device's name must be its own.
    let target = RecordTarget(container: "iCloud.local.diptych", deviceID: device)
    var channel = ChannelConfiguration(
        serviceURL: service, target: target, credentials: credentials)
    channel.authorityFile = authority
    let session = try MirrorSession(
        mirroring: container.persistentStoreCoordinator.persistentStores[0],
        to: MirrorDestination(service: service.absoluteString, container: target.container),
        through: CurlChannel(configuration: channel), policy: MergePolicy(standard: .remote))
    let summary = try await session.sync()

    print("sent \(summary.exported), applied \(summary.imported), merged \(summary.merged)")
    for conflict in try session.store.conflicts() {
        print("\(conflict.entity).\(conflict.property): \(conflict.winner) was kept")
    }
    return summary
}
