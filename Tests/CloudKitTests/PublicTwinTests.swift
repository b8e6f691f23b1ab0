import CloudKit
import CoreData
import Foundation
import MirrorEngine
import RecordWire
import Testing

/// Unique keys in the public database, where what another made is theirs to change.
@Suite struct PublicTwinTests {
    private let service: LocalService
    private let anna: Device
    private let bert: Device
    private let carla: Device

    init() throws {
        service = try LocalService()
        let (second, third) = (try service.user("bert").address, try service.user("carla").address)
        let (model, service) = (TagModel.make(), service)
        func device(_ name: String, _ address: RecordServiceAddress?) throws -> Device {
            try service.container(name, of: address, model: model) { $0.databaseScope = .public }
        }
        anna = try device("anna", nil)
        bert = try device("bert", second)
        carla = try device("carla", third)
    }

    private func make(_ color: String, on device: Device) throws {
        let context = device.container.newBackgroundContext()
        try context.performAndWait {
            let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            tag.setValue("word", forKey: "text")
            tag.setValue(color, forKey: "color")
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue("note of \(color)", forKey: "text")
            note.setValue(tag, forKey: "tag")
            try context.saveInOrder()
        }
    }

    private func color(on device: Device) throws -> String? {
        try value("color", of: "word", in: "Tag", on: device) as? String
    }

    private func value(
        _ key: String, of text: String, in entity: String, on device: Device
    ) throws -> Any? {
        let context = device.container.newBackgroundContext()
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: "text == %@", text)
            return try context.fetch(request).first?.value(forKeyPath: key)
        }
    }

    private func settle(_ devices: [Device]) async throws {
        for _ in 0..<3 {
            for device in devices { _ = try await device.container.sync() }
        }
    }

    private func expectInSync(_ devices: [Device]) throws {
        for device in devices {
            let status = try #require(try device.container.status(of: device.store))
            #expect(status.isInSync, "\(status.refusals) \(status.pending)")
        }
    }

    @Test("whoever makes what another has made has that one's, and nothing is refused for good")
    func theOnesThatCameLaterGiveWay() async throws {
        let all = [anna, bert, carla]
        for (device, color) in zip(all, ["red", "green", "blue"]) {
            try make(color, on: device)
        }
        try await settle(all)
        for device in all {
            #expect(try device.texts("Tag") == ["word"])
            #expect(try color(on: device) == "red")
            #expect(try device.texts("Note").count == 3)
            for color in ["red", "green", "blue"] {
                let word = try value("tag.text", of: "note of \(color)", in: "Note", on: device)
                #expect(word as? String == "word")
            }
        }
        try expectInSync(all)
        // What was lost is in the log of who lost it.
        for (device, color) in [(bert, "green"), (carla, "blue")] {
            let store = try #require(device.container.mirroredStore(of: device.store))
            let line = try #require(
                try store.conflicts().last { $0.property == "color" && $0.winner == "remote" })
            #expect(line.local == .string(color) && line.remote == .string("red"))
        }
    }

    @Test("who only looks on is in sync, though the others never come back to tidy up")
    func whoLooksOnIsInSync() async throws {
        // An app that knows of no unique key makes another one.
        let loose = try service.container(
            "loose", of: bert.address, model: TagModel.make(isUnique: false)
        ) { $0.databaseScope = .public }
        for (device, color) in [(anna, "red"), (loose, "green")] {
            try make(color, on: device)
            _ = try await device.container.sync()
        }
        try await settle([carla])
        #expect(try carla.texts("Tag") == ["word"] && color(on: carla) == "red")
        let word = try value("tag.text", of: "note of green", in: "Note", on: carla)
        #expect(word as? String == "word")
        try expectInSync([carla])
    }

    @Test("an edit of one's own of what another made is refused as before, and stays")
    func anEditOfOnesOwnStays() async throws {
        let both = [anna, bert]
        for (device, color) in zip(both, ["red", "green"]) { try make(color, on: device) }
        try await settle(both)
        try bert.edit("word", in: "Tag") { tag, _ in tag.setValue("white", forKey: "color") }
        try await settle(both)
        #expect(try color(on: bert) == "white" && color(on: anna) == "red")
        let status = try #require(try bert.container.status(of: bert.store))
        #expect(!status.isInSync && status.refusedEdits.count == 1)
    }
}
