import CloudKit
import CoreData
import Foundation
import MirrorEngine
import MirrorTransport

/// What docs/SWIFT.md shows in pieces.
final class Book: NSManagedObject {}

/// A list that follows its context, and tells how long it is now.
actor BookList {
    private let told: AsyncStream<Int>.Continuation

    init(_ told: AsyncStream<Int>.Continuation) { self.told = told }

    func follow(_ context: NSManagedObjectContext) async throws {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        for try await update in context.updates(of: request) {
            await show(update.objectIDs, changed: update.updatedObjectIDs)
        }
    }

    private func show(_ ids: [NSManagedObjectID], changed: Set<NSManagedObjectID>) async {
        told.yield(ids.count)
    }
}

/// Where a container's record service is.
func nameService(_ service: URL, _ credentials: Credentials, _ authority: URL) {
    NSPersistentCloudKitContainer.recordService = RecordServiceAddress(
        url: service, credentials: credentials, authorityFile: authority)
}

/// What a store may take of the network.
func frugalOptions() -> NSPersistentCloudKitContainerOptions {
    let options = NSPersistentCloudKitContainerOptions(containerIdentifier: "iCloud.org.example")
    options.schedule.network.hours = [DailyHours(fromMinute: 22 * 60, toMinute: 6 * 60)]
    options.schedule.network.metered = .smallRounds(recordsMax: 50)
    options.schedule.network.bytesPerDayMax = 200_000_000
    return options
}

/// What `diptych model port` leaves of a selector, a key path and a cast.
func portedRequest(_ general: NSFetchRequest<any NSFetchRequestResult>) -> NSFetchRequest<Book> {
    let request = general.returning(Book.self)
    request.sortDescriptors = [
        NSSortDescriptor(key: "title", ascending: true, comparison: .localizedStandard)
    ]
    return request
}

/// A session whose attributes travel sealed where the model wants it.
func sealedSession(
    _ store: NSPersistentStore, _ destination: MirrorDestination, _ channel: CurlChannel,
    _ file: URL, _ passphrase: String
) throws -> MirrorSession {
    // Or SealingKeys([SealingKey(secret: bytes)]), of an app that keeps the key itself.
    let keys = try KeyFile(Data(contentsOf: file)).open(passphrase: passphrase)
    let session = try MirrorSession(
        mirroring: store, to: destination, through: channel, keys: keys)
    return session
}
