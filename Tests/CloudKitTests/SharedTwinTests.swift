import CloudKit
import CoreData
import Foundation
import Testing

/// Unique keys that a participant of a share and its owner both use.
@Suite struct SharedTwinTests {
    private func label(_ note: String, _ text: String, on device: Device) throws {
        try device.edit(note) { note, context in
            let label = NSEntityDescription.insertNewObject(forEntityName: "Label", into: context)
            label.setValue(text, forKey: "text")
            note.mutableSetValue(forKey: "labels").add(label)
        }
    }

    /// Whoever guesses a key would else read what the owner hung on it.
    @Test func aGuessedKeyBringsNothingOfTheOwnersIntoTheShare() async throws {
        let world = try SharingWorld(hasUniqueLabels: true)
        try await world.open()
        try label("diary", "secret", on: world.desk)
        try await world.settle()
        try label("map", "secret", on: world.phone)
        for _ in 0..<2 { try await world.settle() }
        for device in [world.phone, world.tablet] {
            #expect(try device.texts("Note") == ["map", "tickets"])
        }
        for device in [world.desk, world.laptop] {
            #expect(try device.texts("Label") == ["secret", "urgent"])
            try device.edit("map") { map, _ in
                let labels = map.value(forKey: "labels") as? Set<NSManagedObject>
                #expect(labels?.map { $0.value(forKey: "text") as? String } == ["secret"])
            }
        }
        // Nor does what is linked or edited later, on whichever device.
        try world.laptop.edit("secret", in: "Label") { label, context in
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue("letter", forKey: "text")
            label.mutableSetValue(forKey: "notes").add(note)
        }
        try world.desk.edit("map") { map, _ in map.setValue("map of the coast", forKey: "text") }
        for _ in 0..<2 { try await world.settle() }
        for device in [world.phone, world.tablet] {
            #expect(try device.texts("Note") == ["map of the coast", "tickets"])
        }
        for device in [world.desk, world.laptop] {
            #expect(
                try device.texts("Note") == ["diary", "letter", "map of the coast", "tickets"])
        }
    }

    /// The service heard of the guest's first.
    @Test func norDoesAKeyOfWhatTheOwnerHasNotSentYet() async throws {
        let world = try SharingWorld(hasUniqueLabels: true)
        try await world.open()
        try await world.settle()
        try label("diary", "secret", on: world.desk)
        try label("map", "secret", on: world.phone)
        _ = try await world.phone.container.sync()
        for _ in 0..<2 { try await world.settle() }
        try expectNothingWasBroughtIn(world)
    }

    /// What the guest made is older than what the owner keeps.
    @Test func norDoesAKeyThatAGuestsOlderObjectIsGiven() async throws {
        let world = try SharingWorld(hasUniqueLabels: true)
        try await world.open()
        try label("map", "plain", on: world.phone)
        try await world.settle()
        try label("diary", "secret", on: world.desk)
        try await world.settle()
        try world.phone.edit("plain", in: "Label") { label, _ in
            label.setValue("secret", forKey: "text")
        }
        for _ in 0..<2 { try await world.settle() }
        try expectNothingWasBroughtIn(world)
    }

    private func expectNothingWasBroughtIn(_ world: SharingWorld) throws {
        for device in [world.phone, world.tablet] {
            #expect(try !device.texts("Note").contains("diary"))
        }
        for device in [world.desk, world.laptop] {
            #expect(try device.texts("Note") == ["diary", "map", "tickets"])
            #expect(try device.texts("Label") == ["secret", "urgent"])
        }
    }
}
