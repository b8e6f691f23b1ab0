import CloudKit
import CoreData
import Foundation
import MirrorEngine
import RecordWire
import Testing

/// What one user's device makes of two other users' objects with one unique key, in the public
/// database: the names of records that are theirs to drop, and keys that are theirs to change.
@Suite struct LeftNameTests {
    private let service: LocalService
    private let anna: Device
    private let bert: Device
    private let carla: Device

    /// Bert and Carla have a version of the app that knows of no unique key.
    init() throws {
        service = try LocalService()
        let users = [try service.user("bert").address, try service.user("carla").address]
        let (strict, loose) = (TagModel.make(isUnique: true), TagModel.make(isUnique: false))
        anna = try service.container("anna", model: strict) { $0.databaseScope = .public }
        bert = try service.container("bert", of: users[0], model: loose) {
            $0.databaseScope = .public
        }
        carla = try service.container("carla", of: users[1], model: loose) {
            $0.databaseScope = .public
        }
    }

    /// A tag, and a note that has it in both ways.
    private func make(_ color: String, _ word: String = "word", on device: Device) throws {
        let context = device.container.newBackgroundContext()
        try context.performAndWait {
            let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            tag.setValue(word, forKey: "text")
            tag.setValue(color, forKey: "color")
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue(color, forKey: "text")
            note.setValue(tag, forKey: "tag")
            note.setValue(NSSet(object: tag), forKey: "more")
            try context.saveInOrder()
        }
    }

    /// Each tag as its word and color, sorted.
    private func tags(on device: Device) throws -> [String] {
        let context = device.container.newBackgroundContext()
        return try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).map {
                "\($0.value(forKey: "text") ?? "-") \($0.value(forKey: "color") ?? "-")"
            }.sorted()
        }
    }

    /// The colors of a note's one tag, and of all that it has more.
    private struct Colors: Equatable {
        var tag: String?
        var more: [String] = []
    }

    private func colors(of note: String, on device: Device) throws -> Colors {
        let context = device.container.newBackgroundContext()
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: "text == %@", note)
            let found = try #require(try context.fetch(request).first)
            let more = found.value(forKeyPath: "more.color") as? Set<String> ?? []
            return Colors(
                tag: found.value(forKeyPath: "tag.color") as? String, more: more.sorted())
        }
    }

    private func settle() async throws {
        for _ in 0..<3 {
            for device in [anna, bert, carla] { _ = try await device.container.sync() }
        }
    }

    private func expectInSync(_ devices: [Device]) throws {
        for device in devices {
            let status = try #require(try device.container.status(of: device.store))
            #expect(status.isInSync, "\(status.refusals) \(status.pending)")
        }
    }

    /// Anna takes Bert's tag, which is older, and Carla's for one. The names are theirs to drop.
    private func meet() async throws {
        for (device, color) in [(bert, "red"), (carla, "green")] {
            try make(color, on: device)
            _ = try await device.container.sync()
        }
        try await settle()
        #expect(try tags(on: anna) == ["word red"])
        #expect(try colors(of: "green", on: anna) == Colors(tag: "red", more: ["red"]))
    }

    /// Changes a note's tag on the device of who made it.
    private func change(
        _ note: String, on device: Device,
        _ change: @escaping (NSManagedObject, NSManagedObjectContext) -> Void
    ) throws {
        try device.edit(note) { note, context in
            if let tag = note.value(forKey: "tag") as? NSManagedObject { change(tag, context) }
        }
    }

    @Test("a pair of a name that others are to drop is theirs to drop, too")
    func pairsOfTheNameAreLeft() async throws {
        try await meet()
        try expectInSync([anna])
    }

    @Test("what is no twin any more is an object of its own again, with all that leads to it")
    func anotherKeyMakesTwoAgain() async throws {
        try await meet()
        try change("green", on: carla) { tag, _ in tag.setValue("other", forKey: "text") }
        try await settle()
        #expect(try tags(on: anna) == ["other green", "word red"])
        #expect(try colors(of: "green", on: anna).tag == "green")
        #expect(try colors(of: "green", on: anna).more.contains("green"))
        #expect(try colors(of: "red", on: anna) == Colors(tag: "red", more: ["red"]))
        try change("green", on: carla) { tag, _ in tag.setValue("blue", forKey: "color") }
        try await settle()
        #expect(try tags(on: anna) == ["other blue", "word red"])
        try expectInSync([anna])
    }

    @Test("a twin stays when the one goes that took it in")
    func theTwinOutlivesTheOther() async throws {
        try await meet()
        try change("red", on: bert) { tag, context in context.delete(tag) }
        try await settle()
        #expect(try tags(on: anna) == ["word green"])
        #expect(try colors(of: "green", on: anna) == Colors(tag: "green", more: ["green"]))
        #expect(try colors(of: "red", on: anna) == Colors())
        try expectInSync([anna])
    }

    @Test("a twin stays when the one that took it in gets another key")
    func theOtherGetsAnotherKey() async throws {
        try await meet()
        try change("red", on: bert) { tag, _ in tag.setValue("other", forKey: "text") }
        try await settle()
        #expect(try tags(on: anna) == ["other red", "word green"])
        #expect(try colors(of: "green", on: anna).tag == "green")
        try expectInSync([anna])
    }

    @Test("a key that its user may not give makes no twin of a third one's object")
    func aRefusedKeyGivesWay() async throws {
        try make("green", "one", on: carla)
        try await settle()
        try anna.edit("one", in: "Tag") { tag, _ in tag.setValue("word", forKey: "text") }
        _ = try await anna.container.sync()
        #expect(try tags(on: anna) == ["word green"])
        try make("red", on: bert)
        try await settle()
        for device in [anna, bert, carla] {
            #expect(try tags(on: device) == ["one green", "word red"])
            #expect(try colors(of: "red", on: device) == Colors(tag: "red", more: ["red"]))
            #expect(try colors(of: "green", on: device) == Colors(tag: "green", more: ["green"]))
        }
        try expectInSync([anna, bert, carla])
        let store = try #require(anna.container.mirroredStore(of: anna.store))
        let line = try #require(try store.conflicts().last)
        #expect(line.property == "text" && line.winner == "remote")
        #expect(line.local == .string("word") && line.remote == .string("one"))
    }

    @Test("a key that was not sent yet makes no twin of a third one's object either")
    func aKeyThatWasNotSentGivesWay() async throws {
        try make("green", "one", on: carla)
        try await settle()
        try anna.edit("one", in: "Tag") { tag, _ in tag.setValue("word", forKey: "text") }
        try make("red", on: bert)
        _ = try await bert.container.sync()
        try await settle()
        for device in [anna, bert, carla] {
            #expect(try tags(on: device) == ["one green", "word red"])
            #expect(try colors(of: "red", on: device) == Colors(tag: "red", more: ["red"]))
        }
        try expectInSync([anna, bert, carla])
    }

    @Test("what was refused to one user is not held back from the next")
    func theNextUserMay() async throws {
        try make("green", on: carla)
        try await settle()
        let model = TagModel.make(isUnique: true)
        func tablet(of user: Device) throws -> Device {
            try service.container("tablet", of: user.address, model: model) {
                $0.databaseScope = .public
            }
        }
        var first: Device? = try tablet(of: anna)
        _ = try await first?.container.sync()
        try first?.edit("word", in: "Tag") { tag, _ in tag.setValue("blue", forKey: "color") }
        #expect(try await first?.container.sync() == false)
        first = nil
        let next = try tablet(of: carla)
        _ = try await next.container.sync()
        try expectInSync([next])
        try await settle()
        #expect(try tags(on: carla) == ["word blue"])
    }
}
