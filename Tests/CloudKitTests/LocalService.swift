import CloudKit
import CoreData
import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordService

/// A record service in this process, reached over TLS, with one user.
final class LocalService: Sendable {
    let folder: URL
    let address: RecordServiceAddress
    /// What its access log says.
    let answered = Lock<[AccessLogEntry]>([])
    private let server: RecordServer
    private let service: RecordService

    /// `assetBytesMax`: bytes of the largest asset that it takes; nil for as many as any service.
    init(assetBytesMax: Int64? = nil) throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("CloudKitTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var limits = ServiceLimits()
        if let assetBytesMax { limits.assets.bytesMax = assetBytesMax }
        service = try RecordService(platform: .system, limits: limits)
        let container = NSPersistentCloudKitContainer.defaultContainerIdentifier
        try service.accounts.createContainer(container)
        let user = try service.accounts.createUser(label: "reader").userRecordName
        let credentials = Credentials(
            apiToken: try service.accounts.issueAPIToken(container: container, label: "test")
                .secret,
            userToken: try service.accounts.issueUserToken(userRecordName: user, label: "test")
                .secret)
        var configuration = ServerConfiguration(
            tls: .automatic(folder: folder.appendingPathComponent("tls"), hosts: []))
        configuration.port = 0
        configuration.accessLog = { [answered] entry in answered.withLock { $0.append(entry) } }
        server = RecordServer(service: service, configuration: configuration)
        let url = try server.start()
        address = RecordServiceAddress(
            url: url, credentials: credentials, authorityFile: server.authorityFile)
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// The way of another user to the service, and that user's name.
    func user(_ label: String) throws -> (address: RecordServiceAddress, name: String) {
        let name = try service.accounts.createUser(label: label).userRecordName
        var other = address
        other.credentials = Credentials(
            apiToken: address.credentials.apiToken,
            userToken: try service.accounts.issueUserToken(userRecordName: name, label: label)
                .secret)
        return (other, name)
    }

    /// A model of notes with tags.
    static let model: NSManagedObjectModel = {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            return attribute
        }
        let note = NSEntityDescription()
        note.name = "Note"
        note.properties = [
            attribute("text", .stringAttributeType), attribute("stars", .integer32AttributeType),
            attribute("written", .dateAttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [note]
        return model
    }()

    /// A device's container. Its mirror runs by itself only where asked.
    func container(
        _ name: String, runsByItself: Bool = false, of user: RecordServiceAddress? = nil,
        model: NSManagedObjectModel = LocalService.model,
        options adjust: (NSPersistentCloudKitContainerOptions) throws -> Void = { _ in }
    ) throws -> Device {
        try Device(
            url: folder.appendingPathComponent("\(name).sqlite"), address: user ?? address,
            runsByItself: runsByItself, model: model, adjust: adjust)
    }
}

/// One device: a container with one mirrored store.
final class Device {
    let container: NSPersistentCloudKitContainer
    let address: RecordServiceAddress?
    /// What the load's callback was told.
    private(set) var failure: (any Error)?
    private var observer: (any NSObjectProtocol)?
    let events = Lock<[NSPersistentCloudKitContainer.Event]>([])

    init(
        url: URL, address: RecordServiceAddress?, runsByItself: Bool,
        model: NSManagedObjectModel = LocalService.model,
        adjust: (NSPersistentCloudKitContainerOptions) throws -> Void = { _ in }
    ) throws {
        self.address = address
        container = NSPersistentCloudKitContainer(name: "Notes", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url)
        let options = NSPersistentCloudKitContainerOptions(
            containerIdentifier: NSPersistentCloudKitContainer.defaultContainerIdentifier)
        options.recordService = address
        try adjust(options)
        description.cloudKitContainerOptions = options
        container.persistentStoreDescriptions = [description]
        if !runsByItself { container.runner = IdleRunner() }
        let events = events
        observer = NotificationCenter.default.addObserver(
            forName: NSPersistentCloudKitContainer.eventChangedNotification, object: container,
            queue: nil
        ) { note in
            let key = NSPersistentCloudKitContainer.eventNotificationUserInfoKey
            guard let event = note.userInfo?[key] as? NSPersistentCloudKitContainer.Event else {
                return
            }
            events.withLock { $0.append(event) }
        }
        container.loadPersistentStores { [weak self] _, error in self?.failure = error }
    }

    deinit { observer.map(NotificationCenter.default.removeObserver) }

    var store: NSPersistentStore { container.persistentStoreCoordinator.persistentStores[0] }

    @discardableResult
    func write(_ text: String, stars: Int = 0) throws -> NSManagedObjectID {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue(text, forKey: "text")
            note.setValue(stars, forKey: "stars")
            try context.saveInOrder()
            return note.objectID
        }
    }

    func texts() throws -> [String] {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            return try context.fetch(request).compactMap { $0.value(forKey: "text") as? String }
                .sorted()
        }
    }

    func fetchEvents(
        _ request: NSPersistentCloudKitContainerEventRequest
    ) throws -> [NSPersistentCloudKitContainer.Event] {
        let context = container.newBackgroundContext()
        let result = try context.performAndWait { try context.execute(request) }
        return (result as? NSPersistentCloudKitContainerEventResult)?.result
            as? [NSPersistentCloudKitContainer.Event] ?? []
    }
}

/// Runs nothing: rounds are run by hand.
struct IdleRunner: TaskRunner {
    func run(_ work: @escaping @Sendable () async -> Void) -> any RunningTask { Nothing() }

    private struct Nothing: RunningTask {
        func cancel() {}
    }
}

/// Whether a condition comes true. So long that only one that never does ends it.
func eventually(_ condition: () throws -> Bool) async rethrows -> Bool {
    for _ in 0..<60_000 {
        if try condition() { return true }
        try? await Task.sleep(for: .milliseconds(10))
    }
    return try condition()
}
