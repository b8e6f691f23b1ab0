import CloudKit
import CoreData
import Foundation
import MirrorEngine
import Testing

/// One-to-one links between objects of several users in the public database, where each end is its
/// maker's to change: the ends that follow from others are left to who may write them.
@Suite struct PublicPartnerTests {
    /// Anna has the chairs. Of the guests' entities one decides over the link by its name, of the
    /// other the chair does.
    private struct World {
        let service: LocalService
        let anna: Device
        let bert: Device
        let carla: Device
        let guest: String
        var all: [Device] { [anna, bert, carla] }

        init(_ guest: String) throws {
            self.guest = guest
            let service = try LocalService()
            self.service = service
            let users = [try service.user("bert").address, try service.user("carla").address]
            func device(_ name: String, _ address: RecordServiceAddress?) throws -> Device {
                try service.container(name, of: address, model: World.model(guest)) {
                    $0.databaseScope = .public
                }
            }
            anna = try device("anna", nil)
            bert = try device("bert", users[0])
            carla = try device("carla", users[1])
        }

        /// Anna's chair, on which Bert has put his guest, known to all.
        static func seated(_ guest: String) async throws -> World {
            let world = try World(guest)
            try world.anna.write("chair", in: "Chair")
            try await world.settle()
            try world.seat("bea", on: "chair", at: world.bert)
            try await world.settle()
            return world
        }

        static func model(_ guest: String) -> NSManagedObjectModel {
            let (chair, person) = (NSEntityDescription(), NSEntityDescription())
            (chair.name, person.name) = ("Chair", guest)
            func link(_ name: String, _ entity: NSEntityDescription) -> NSRelationshipDescription {
                let link = NSRelationshipDescription()
                link.name = name
                link.destinationEntity = entity
                link.maxCount = 1
                link.isOptional = true
                return link
            }
            let (sits, has) = (link("chair", chair), link("sitter", person))
            (sits.inverseRelationship, has.inverseRelationship) = (has, sits)
            for entity in [chair, person] {
                let text = NSAttributeDescription()
                text.name = "text"
                text.attributeType = .stringAttributeType
                text.isOptional = true
                entity.properties = [text, entity === chair ? has : sits]
            }
            let friend = link("friend", person)
            friend.inverseRelationship = friend
            person.properties += [friend]
            let model = NSManagedObjectModel()
            model.entities = [chair, person]
            return model
        }

        /// A new guest of the device's user takes a chair.
        func seat(_ name: String, on chair: String, at device: Device) throws {
            let guest = guest
            try device.edit(chair, in: "Chair") { chair, context in
                let new = NSEntityDescription.insertNewObject(forEntityName: guest, into: context)
                new.setValue(name, forKey: "text")
                new.setValue(chair, forKey: "chair")
            }
        }

        /// A guest moves to another chair, or stands up.
        func move(_ name: String, to chair: String?, at device: Device) throws {
            try device.edit(name, in: guest) { guest, context in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Chair")
                request.predicate = NSPredicate(format: "text == %@", chair ?? "")
                guest.setValue(try? context.fetch(request).first, forKey: "chair")
            }
        }

        func befriend(_ name: String, with other: String, at device: Device) throws {
            let guest = guest
            try device.edit(name, in: guest) { object, context in
                let request = NSFetchRequest<NSManagedObject>(entityName: guest)
                request.predicate = NSPredicate(format: "text == %@", other)
                object.setValue(try? context.fetch(request).first, forKey: "friend")
            }
        }

        func friends(_ device: Device) throws -> [String: String] {
            let context = device.container.newBackgroundContext()
            let guest = guest
            return try context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: guest)
                return try context.fetch(request).reduce(into: [:]) { found, object in
                    found[object.value(forKey: "text") as? String ?? "-"] =
                        object.value(forKeyPath: "friend.text") as? String
                }
            }
        }

        /// Who sits where by the guests, and by the chairs.
        func seats(_ device: Device) throws -> [String: String] {
            let context = device.container.newBackgroundContext()
            let guest = guest
            return try context.performAndWait {
                var found: [String: String] = [:]
                for (entity, link) in [(guest, "chair"), ("Chair", "sitter")] {
                    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                    for object in try context.fetch(request) {
                        let other = object.value(forKeyPath: "\(link).text") as? String
                        found[object.value(forKey: "text") as? String ?? "-"] = other
                    }
                }
                return found
            }
        }

        func settle() async throws {
            for _ in 0..<3 {
                for device in all { _ = try await device.container.sync() }
            }
        }

        func expect(
            _ seats: [String: String], at location: SourceLocation = #_sourceLocation
        ) throws {
            for device in all {
                #expect(try self.seats(device) == seats, sourceLocation: location)
                let status = try #require(try device.container.status(of: device.store))
                #expect(
                    status.isInSync && status.refusals.isEmpty,
                    "\(status.refusals) \(status.pending)", sourceLocation: location)
            }
        }

        /// Who comes last has the same, and nothing that waits.
        func expectOfNewcomer(
            _ seats: [String: String], at location: SourceLocation = #_sourceLocation
        ) async throws {
            let dora = try service.container(
                "dora", of: service.user("dora").address, model: World.model(guest)
            ) { $0.databaseScope = .public }
            for _ in 0..<2 { _ = try await dora.container.sync() }
            #expect(try self.seats(dora) == seats, sourceLocation: location)
            let status = try #require(try dora.container.status(of: dora.store))
            #expect(
                status.isInSync && status.refusals.isEmpty, "\(status.refusals) \(status.pending)",
                sourceLocation: location)
        }

        func lines(_ device: Device) throws -> [ConflictEntry] {
            let store = try #require(device.container.mirroredStore(of: device.store))
            return try store.conflicts().filter { $0.rule == "oneToOne" }
        }
    }

    /// By the names of the guests' entity: "Boy" comes before "Chair", "Guest" after it.
    private static let guests = ["Boy", "Guest"]

    @Test(
        "of two users who take one chair the one whose guest was made first keeps it",
        arguments: guests)
    func oneOfTwoClaimsIsLetGo(guest: String) async throws {
        let world = try World(guest)
        try world.anna.write("chair", in: "Chair")
        try await world.settle()
        try world.seat("bea", on: "chair", at: world.bert)
        try world.seat("cem", on: "chair", at: world.carla)
        try await world.settle()
        try world.expect(["bea": "chair", "chair": "bea"])
        // What was let go is in the log of whose it was, once.
        let cem = try #require(
            world.carla.container.recordID(for: world.carla.id(of: "cem", in: guest)))
        let lines = try world.lines(world.carla).filter { $0.recordName == cem.recordName }
        #expect(lines.map(\.winner) == ["remote"])
        // Nothing comes of further rounds.
        let counts = try world.all.map { try world.lines($0).count }
        try await world.settle()
        try world.expect(["bea": "chair", "chair": "bea"])
        #expect(try world.all.map { try world.lines($0).count } == counts)
    }

    @Test(
        "the same where whoever comes later is first to sync with the chair's owner",
        arguments: guests)
    func theOwnersOrderDoesNotMatter(guest: String) async throws {
        let world = try World(guest)
        try world.anna.write("chair", in: "Chair")
        try await world.settle()
        try world.seat("bea", on: "chair", at: world.bert)
        try world.seat("cem", on: "chair", at: world.carla)
        for device in [world.carla, world.anna, world.bert] {
            _ = try await device.container.sync()
        }
        try await world.settle()
        // Where the chair's end decides, it was given away before Bert's came.
        let kept = guest == "Guest" ? "cem" : "bea"
        try world.expect([kept: "chair", "chair": kept])
        try await world.expectOfNewcomer([kept: "chair", "chair": kept])
    }

    @Test("who stands up frees the chair, and the next one has it", arguments: guests)
    func aClearedClaimFrees(guest: String) async throws {
        let world = try await World.seated(guest)
        try world.expect(["bea": "chair", "chair": "bea"])
        try world.move("bea", to: nil, at: world.bert)
        try await world.settle()
        try world.expect([:])
        try world.seat("cem", on: "chair", at: world.carla)
        try await world.settle()
        try world.expect(["cem": "chair", "chair": "cem"])
        try await world.expectOfNewcomer(["cem": "chair", "chair": "cem"])
    }

    @Test("a guest moves between two chairs of another user's", arguments: guests)
    func aClaimMoves(guest: String) async throws {
        let world = try World(guest)
        try world.anna.write("chair", in: "Chair")
        try world.anna.write("stool", in: "Chair")
        try await world.settle()
        try world.seat("bea", on: "chair", at: world.bert)
        try await world.settle()
        try world.move("bea", to: "stool", at: world.bert)
        try await world.settle()
        try world.expect(["bea": "stool", "stool": "bea"])
        // The chair is free for another one.
        try world.seat("cem", on: "chair", at: world.carla)
        try await world.settle()
        try world.expect(["bea": "stool", "stool": "bea", "cem": "chair", "chair": "cem"])
        try await world.expectOfNewcomer([
            "bea": "stool", "stool": "bea", "cem": "chair", "chair": "cem",
        ])
    }

    @Test(
        "the chair's owner asks somebody to stand up, and puts another one there",
        arguments: guests)
    func theOwnerClears(guest: String) async throws {
        let world = try await World.seated(guest)
        try world.move("bea", to: nil, at: world.anna)
        try await world.settle()
        try world.expect([:])
        try await world.expectOfNewcomer([:])
    }

    @Test("a guest who goes leaves the chair free", arguments: guests)
    func aDeletedGuestLeaves(guest: String) async throws {
        let world = try await World.seated(guest)
        try world.bert.edit("bea", in: guest) { bea, context in context.delete(bea) }
        try await world.settle()
        try world.expect([:])
        try await world.expectOfNewcomer([:])
    }

    @Test("a chair that goes leaves the guest", arguments: guests)
    func aDeletedChairLeaves(guest: String) async throws {
        let world = try await World.seated(guest)
        try world.anna.edit("chair", in: "Chair") { chair, context in context.delete(chair) }
        try await world.settle()
        try world.expect([:])
        try await world.expectOfNewcomer([:])
    }

    @Test(
        "who takes a chair that another sits on, knowing it, loses it by the same rule",
        arguments: guests)
    func aTakenChairStays(guest: String) async throws {
        let world = try await World.seated(guest)
        try world.seat("cem", on: "chair", at: world.carla)
        try await world.settle()
        try world.expect(["bea": "chair", "chair": "bea"])
        try await world.expectOfNewcomer(["bea": "chair", "chair": "bea"])
        #expect(try world.lines(world.carla).count == 1)
    }

    /// Where a claim meets one that its partner made, each device decides by the same records.
    @Test(
        "claims that make a chain of three users' objects end alike",
        arguments: [["ann", "bea", "cem"], ["bea", "cem", "ann"], ["cem", "ann", "bea"]])
    func aChainOfClaimsEndsAlike(chain: [String]) async throws {
        let world = try World("Guest")
        let devices = ["ann": world.anna, "bea": world.bert, "cem": world.carla]
        for name in devices.keys.sorted() {
            let device = try #require(devices[name])
            try device.write(name, in: "Guest")
        }
        try await world.settle()
        for (name, other) in zip(chain, chain.dropFirst()) {
            try world.befriend(name, with: other, at: try #require(devices[name]))
        }
        try await world.settle()
        let friends = try world.friends(world.anna)
        #expect(friends.count == 2 && friends.allSatisfy { friends[$0.value] == $0.key })
        for device in world.all {
            #expect(try world.friends(device) == friends)
            let status = try #require(try device.container.status(of: device.store))
            #expect(status.isInSync && status.refusals.isEmpty, "\(status.refusals)")
        }
    }
}
