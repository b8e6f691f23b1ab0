import CloudKit
import CoreData
import Foundation
import MirrorEngine
import Platform
import RecordServer
import RecordWire
import Testing

/// What a store's options say reaches its mirror.
@Suite struct OptionsTests {
    private static let sealedModel: NSManagedObjectModel = {
        let model = LocalService.model.copy() as? NSManagedObjectModel ?? NSManagedObjectModel()
        let text = model.entitiesByName["Note"]?.attributesByName["text"]
        text?.allowsCloudEncryption = true
        return model
    }()

    private func keys() throws -> SealingKeys {
        try SealingKeys([SealingKey(secret: Data(repeating: 7, count: 32))])
    }

    /// Sets the text of the only note.
    private func change(_ device: Device, to text: String) throws {
        let context = device.container.newBackgroundContext()
        try context.performAndWait {
            let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
            notes.first?.setValue(text, forKey: "text")
            try context.saveInOrder()
        }
    }

    // MARK: Keys

    @Test func whoHasTheKeysReadsWhatTheServiceCannot() async throws {
        let service = try LocalService()
        let keys = try keys()
        let desk = try service.container("desk", model: Self.sealedModel) { $0.sealingKeys = keys }
        let phone = try service.container("phone", model: Self.sealedModel) {
            $0.sealingKeys = keys
        }
        let stranger = try service.container("stranger", model: Self.sealedModel)
        let id = try desk.write("secret", stars: 2)
        for device in [desk, phone, stranger] { #expect(try await device.container.sync()) }
        #expect(try phone.texts() == ["secret"])
        #expect(try stranger.texts() != ["secret"])
        let record = try #require(desk.container.record(for: id))
        #expect(record["CD_text"] is Data)
    }

    @Test func keysComeOutOfAFile() throws {
        let service = try LocalService()
        let file = service.folder.appendingPathComponent("Notes.keys")
        try KeyFile(wrapping: keys(), passphrase: "open").data.write(to: file)
        let options = NSPersistentCloudKitContainerOptions(containerIdentifier: "iCloud.a")
        #expect(throws: MirrorError.self) {
            try options.openSealingKeys(in: file, passphrase: "shut")
        }
        #expect(options.sealingKeys == nil)
        try options.openSealingKeys(in: file, passphrase: "open")
        #expect(try options.sealingKeys == keys())
    }

    // MARK: Rules

    @Test func aClosureDecidesWhatBothChanged() async throws {
        let service = try LocalService()
        func open(_ name: String) throws -> Device {
            try service.container(name) { options in
                let longer = MergeRule.custom { question in
                    guard case .string(let own)? = question.local,
                        case .string(let other)? = question.remote
                    else { return question.local }
                    return .string(own.count > other.count ? own : other)
                }
                options.mergePolicy.set(longer, entity: "Note", property: "text")
            }
        }
        let (desk, phone) = (try open("desk"), try open("phone"))
        try desk.write("old")
        for device in [desk, phone] { #expect(try await device.container.sync()) }
        try change(desk, to: "much longer")
        try change(phone, to: "short")
        for device in [desk, phone, desk] { #expect(try await device.container.sync()) }
        #expect(try desk.texts() == ["much longer"] && phone.texts() == ["much longer"])
        let log = try #require(phone.container.mirroredStore(of: phone.store)).conflicts()
        #expect(log.map(\.rule) == ["custom"])
    }

    @Test(arguments: [MergeRule.text, .set])
    func textsAndSetsKeepWhatEitherSidePutIn(rule: MergeRule) async throws {
        let service = try LocalService()
        func open(_ name: String) throws -> Device {
            try service.container(name) { options in
                options.mergePolicy.set(rule, entity: "Note", property: "text")
            }
        }
        let (desk, phone) = (try open("desk"), try open("phone"))
        try desk.write("one\n")
        for device in [desk, phone] { #expect(try await device.container.sync()) }
        try change(desk, to: "one\ntwo\n")
        try change(phone, to: "zero\none\n")
        for device in [desk, phone, desk] { #expect(try await device.container.sync()) }
        let text = try #require(try desk.texts().first)
        #expect(Set(text.split(separator: "\n")) == ["zero", "one", "two"])
        #expect(try phone.texts() == [text])
    }

    // MARK: The rest

    @Test func everyOptionReachesTheMirrorAndACopyOfTheDescription() throws {
        let service = try LocalService()
        let keys = try keys()
        let desk = try service.container("desk") { options in
            options.hidesIncompleteGraphs = true
            options.zoneName = "notes"
            options.sealingKeys = keys
            options.mergePolicy.deletion = .keepEdited
            options.schedule.intervalSeconds = 5
            options.schedule.network.bytesPerSecondMax = 1_000_000
        }
        #expect(desk.failure == nil)
        let mirrored = try #require(desk.container.mirroredStore(of: desk.store))
        #expect(mirrored.settings.hidesIncompleteGraphs)
        #expect(mirrored.settings.zoneName == "notes")
        #expect(mirrored.settings.policy.deletion == .keepEdited)
        let given = try #require(desk.container.persistentStoreDescriptions.first)
        let copy = try #require(given.copy() as? NSPersistentStoreDescription)
        let kept = try #require(
            copy.cloudKitContainerOptions?.copy() as? NSPersistentCloudKitContainerOptions)
        #expect(kept.hidesIncompleteGraphs && kept.zoneName == "notes")
        #expect(kept.sealingKeys == keys && kept.mergePolicy.deletion == .keepEdited)
        #expect(kept.schedule.intervalSeconds == 5)
        #expect(kept.schedule.network.bytesPerSecondMax == 1_000_000)
        #expect(kept.recordService?.url == service.address.url)
    }

    @Test func aStoreIsMirroredAndLeftAloneWithoutBeingLoadedAnew() async throws {
        let service = try LocalService()
        let (desk, phone) = (try service.container("desk"), try service.container("phone"))
        try desk.write("one")
        for device in [desk, phone] { #expect(try await device.container.sync()) }
        let store = desk.store
        desk.container.stopMirroring(store)
        #expect(try desk.container.status(of: store) == nil)
        try desk.write("two")
        // Nothing is mirrored, so nothing is known to be equal.
        #expect(try await !desk.container.sync())
        #expect(try await phone.container.sync())
        #expect(try phone.texts() == ["one"])
        let options = NSPersistentCloudKitContainerOptions(
            containerIdentifier: NSPersistentCloudKitContainer.defaultContainerIdentifier)
        options.databaseScope = .shared
        #expect(throws: CKError.self) {
            try desk.container.startMirroring(store, with: options)
        }
        options.databaseScope = .private
        options.recordService = service.address
        try desk.container.startMirroring(store, with: options)
        #expect(desk.store === store)
        for device in [desk, phone] { #expect(try await device.container.sync()) }
        #expect(try phone.texts() == ["one", "two"])
    }

    /// That nobody can say what is shared with the user is told, after the others' rounds.
    @Test func aStoreThatWaitsForAShareHoldsUpNoOther() async throws {
        let service = try LocalService()
        let (desk, phone) = (try service.container("desk"), try service.container("phone"))
        try desk.write("one")
        let shared = try desk.container.persistentStoreCoordinator.addPersistentStore(
            type: .sqlite, at: service.folder.appendingPathComponent("shared.sqlite"))
        let options = NSPersistentCloudKitContainerOptions(
            containerIdentifier: NSPersistentCloudKitContainer.defaultContainerIdentifier)
        options.databaseScope = .shared
        options.recordService = RecordServiceAddress(
            url: try #require(URL(string: "https://127.0.0.1:1")),
            credentials: service.address.credentials)
        try desk.container.startMirroring(shared, with: options)
        let error = await #expect(throws: CKError.self) { try await desk.container.sync() }
        #expect(error?.code == .networkUnavailable || error?.code == .networkFailure)
        let store = try #require(
            desk.container.persistentStoreCoordinator.persistentStores
                .first { $0 !== shared })
        #expect(try desk.container.status(of: store)?.isInSync == true)
        #expect(try await phone.container.sync())
        #expect(try phone.texts() == ["one"])
    }

    @Test func aMeteredNetworkHoldsRoundsUpUntilItIsNone() async throws {
        let service = try LocalService()
        NSPersistentCloudKitContainer.networkIsMetered = true
        defer { NSPersistentCloudKitContainer.networkIsMetered = false }
        let desk = try service.container("desk", runsByItself: true) { options in
            options.schedule.network.metered = .nothing
            options.schedule.intervalSeconds = 0.05
        }
        try desk.write("one")
        #expect(
            try await eventually {
                try desk.container.status(of: desk.store)?.hold?.reason == .metered
            })
        #expect(desk.events.withLock { $0.allSatisfy { $0.type == .setup } })
        NSPersistentCloudKitContainer.networkIsMetered = false
        #expect(
            try await eventually { try desk.container.status(of: desk.store)?.isInSync == true })
        #expect(try desk.container.status(of: desk.store)?.hold == nil)
    }

    // MARK: Progress and names

    @Test func aSyncTellsItsProgressAndIsCancelledByIt() async throws {
        let service = try LocalService()
        let desk = try service.container("desk")
        for number in 0..<5 { try desk.write("\(number)") }
        let progress = Progress(totalUnitCount: 0)
        #expect(try await desk.container.sync(reporting: progress))
        #expect(progress.totalUnitCount == 1 && progress.isFinished)
        #expect(desk.container.progress(of: desk.store) == nil)
        try desk.write("more")
        let cancelled = Progress(totalUnitCount: 0)
        cancelled.cancel()
        let error = await #expect(throws: CKError.self) {
            try await desk.container.sync(reporting: cancelled)
        }
        #expect(error?.code == .operationCancelled)
        #expect(try desk.container.status(of: desk.store)?.pending.inserts == 1)
    }

    @Test func eventsAndTheServicesLogNameTheRound() async throws {
        let service = try LocalService()
        let desk = try service.container("desk")
        try desk.write("one")
        #expect(try await desk.container.sync())
        let export = desk.events.withLock { $0.first { $0.type == .export } }
        let name = try #require(export?.roundIdentifier)
        let kept = try desk.fetchEvents(.fetchEvents(after: Date.distantPast))
        #expect(kept.contains { $0.roundIdentifier == name && $0.type == .export })
        let answered = service.answered.withLock { $0 }
        #expect(answered.contains { $0.path.hasSuffix("records/modify") && $0.round == name })
    }
}
