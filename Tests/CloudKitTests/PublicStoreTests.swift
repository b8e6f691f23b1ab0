import CloudKit
import CoreData
import Foundation
import MirrorEngine
import MirrorTransport
import Testing

/// Stores of the public database: of two users, the first with two devices.
@Suite struct PublicStoreTests {
    private struct World {
        let service: LocalService
        let desk: Device
        let laptop: Device
        let phone: Device

        init() throws {
            let service = try LocalService()
            self.service = service
            let bert = try service.user("bert").address
            func device(_ name: String, _ address: RecordServiceAddress?) throws -> Device {
                try service.container(name, of: address, model: SharingWorld.model) {
                    $0.databaseScope = .public
                }
            }
            desk = try device("desk", nil)
            laptop = try device("laptop", nil)
            phone = try device("phone", bert)
        }

        func settle() async throws {
            for _ in 0..<2 {
                for device in [desk, laptop, phone] { _ = try await device.container.sync() }
            }
        }
    }

    @Test("everybody has what anybody made, with its links")
    func everybodyHasWhatAnybodyMade() async throws {
        let world = try World()
        try world.desk.write("town", in: "Folder")
        try world.phone.write("bridge", in: "Note")
        try await world.settle()
        try world.desk.edit("town", in: "Folder") { town, context in
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue("market", forKey: "text")
            note.setValue(town, forKey: "folder")
        }
        try await world.settle()
        for device in [world.desk, world.laptop, world.phone] {
            #expect(try device.texts("Folder") == ["town"])
            #expect(try device.texts("Note") == ["bridge", "market"])
            try device.edit("market") { note, _ in
                let folder = note.value(forKey: "folder") as? NSManagedObject
                #expect(folder?.value(forKey: "text") as? String == "town")
            }
            #expect(try device.container.status(of: device.store)?.isInSync == true)
        }
    }

    @Test("a store whose user the service does not tell is not in sync")
    func aRefusedUserIsToldByTheStatus() async throws {
        let service = try LocalService()
        func open(_ address: RecordServiceAddress) throws -> Device {
            try service.container("desk", of: address) { $0.databaseScope = .public }
        }
        do {
            let desk = try open(service.address)
            #expect(try await desk.container.sync())
        }
        var other = service.address
        other.credentials = Credentials(
            apiToken: other.credentials.apiToken, userToken: "of-nobody")
        let desk = try open(other)
        let error = await #expect(throws: CKError.self) { try await desk.container.sync() }
        let status = try #require(try desk.container.status(of: desk.store))
        #expect(!status.isInSync && status.lastError == error?.message)
    }

    @Test("who is not signed in has what others made, and may change nothing")
    func whoIsNotSignedInReads() async throws {
        let world = try World()
        try world.desk.write("town", in: "Folder")
        try await world.settle()
        var nobody = world.service.address
        nobody.credentials = Credentials(apiToken: nobody.credentials.apiToken)
        let guest = try world.service.container("guest", of: nobody, model: SharingWorld.model) {
            $0.databaseScope = .public
        }
        #expect(try await guest.container.sync())
        #expect(try guest.texts("Folder") == ["town"])
        #expect(!guest.container.canModifyManagedObjects(in: guest.store))
        let town = try guest.id(of: "town", in: "Folder")
        #expect(!guest.container.canUpdateRecord(forManagedObjectWith: town))
        // What is written all the same waits for a user, and what others do arrives.
        try guest.write("village", in: "Folder")
        try world.desk.write("bridge", in: "Note")
        try await world.settle()
        let error = await #expect(throws: CKError.self) { try await guest.container.sync() }
        #expect(error?.code == .notAuthenticated)
        #expect(try guest.texts("Note") == ["bridge"])
        #expect(try world.desk.texts("Folder") == ["town"])
    }

    @Test("a purge deletes what the user made, and leaves what others made where it is")
    func aPurgeLeavesWhatOthersMade() async throws {
        let world = try World()
        try world.desk.write("town", in: "Folder")
        try world.desk.write("market", in: "Note")
        try await world.settle()
        try world.phone.edit("town", in: "Folder") { town, context in
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue("bridge", forKey: "text")
            note.setValue(town, forKey: "folder")
        }
        try await world.settle()
        let (container, store) = (world.desk.container, world.desk.store)
        let zone = try #require(container.recordID(for: world.desk.id(of: "bridge"))).zoneID
        _ = try await container.purgeObjectsAndRecordsInZone(with: zone, in: store)
        for _ in 0..<2 {
            for device in [world.desk, world.laptop, world.phone] {
                #expect(try device.texts("Note").contains("bridge"))
            }
            try await world.settle()
        }
        for device in [world.desk, world.laptop, world.phone] {
            #expect(try device.texts("Note") == ["bridge"])
            #expect(try device.texts("Folder") == [])
            try device.edit("bridge") { note, _ in #expect(note.value(forKey: "folder") == nil) }
            let status = try #require(try device.container.status(of: device.store))
            #expect(status.isInSync && status.refusals.isEmpty, "\(status.refusals)")
        }
    }

    @Test("a deletion arrives, as it does not at Apple's")
    func aDeletionArrives() async throws {
        let world = try World()
        try world.desk.write("town", in: "Folder")
        try world.desk.write("village", in: "Folder")
        try await world.settle()
        try world.laptop.edit("town", in: "Folder") { town, context in context.delete(town) }
        try await world.settle()
        for device in [world.desk, world.laptop, world.phone] {
            #expect(try device.texts("Folder") == ["village"])
        }
    }

    @Test("an edit of what another made is refused, stays here, and travels nowhere")
    func onlyOnesOwnIsChanged() async throws {
        let world = try World()
        try world.desk.write("town", in: "Folder")
        try await world.settle()
        let town = try world.phone.edit("town", in: "Folder") { town, _ in
            town.setValue("Bert's town", forKey: "text")
        }
        #expect(world.phone.container.canUpdateRecord(forManagedObjectWith: town) == false)
        try await world.settle()
        #expect(try world.phone.texts("Folder") == ["Bert's town"])
        #expect(try world.desk.texts("Folder") == ["town"])
        let status = try #require(try world.phone.container.status(of: world.phone.store))
        #expect(status.isInSync == false)
        let own = try world.laptop.id(of: "town", in: "Folder")
        #expect(world.laptop.container.canUpdateRecord(forManagedObjectWith: own))
        #expect(world.phone.container.canModifyManagedObjects(in: world.phone.store))
        // What is new goes on.
        try world.phone.write("bridge", in: "Note")
        try await world.settle()
        #expect(try world.desk.texts("Note") == ["bridge"])
    }

    @Test("an edit of both devices of one user is merged as in a database of one's own")
    func bothDevicesOfOneUserMerge() async throws {
        let world = try World()
        try world.desk.write("town", in: "Folder")
        try await world.settle()
        try world.desk.edit("town", in: "Folder") {
            $0.setValue("city", forKey: "text"); _ = $1
        }
        try world.laptop.edit("town", in: "Folder") {
            $0.setValue("port", forKey: "text"); _ = $1
        }
        try await world.settle()
        let winner = try world.desk.texts("Folder")
        #expect(winner.count == 1 && winner != ["town"])
        #expect(try world.laptop.texts("Folder") == winner)
        #expect(try world.phone.texts("Folder") == winner)
    }

    @Test("a store of one database is not taken for one of the other")
    func aStoreKeepsItsDatabase() async throws {
        let world = try World()
        try world.desk.write("town", in: "Folder")
        try await world.settle()
        let options = NSPersistentCloudKitContainerOptions(
            containerIdentifier: NSPersistentCloudKitContainer.defaultContainerIdentifier)
        options.recordService = world.service.address
        options.zoneName = CKRecordZone.ID.defaultZoneName
        try world.desk.container.startMirroring(world.desk.store, with: options)
        let error = await #expect(throws: CKError.self) {
            try await world.desk.container.sync()
        }
        #expect(error?.message.contains("public") == true)
    }

    @Test("what is in the public database is not shared once more")
    func nothingIsSharedOnceMore() async throws {
        let world = try World()
        try world.desk.write("town", in: "Folder")
        try await world.settle()
        let town = try world.desk.id(of: "town", in: "Folder")
        let object = world.desk.container.viewContext.object(with: town)
        let error = await #expect(throws: CKError.self) {
            _ = try await world.desk.container.share([object], to: nil)
        }
        #expect(error?.code == .invalidArguments)
    }
}
