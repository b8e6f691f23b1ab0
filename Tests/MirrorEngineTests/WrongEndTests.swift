import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import Stores
import Testing

/// Links and pairs whose ends are of other entities than their relationship's.
@Suite struct WrongEndTests {
    let pair: WatchedPair
    var a: Device { pair.a }
    var b: Device { pair.b }
    var stranger: Stranger { pair.stranger }

    init() throws {
        pair = try WatchedPair()
        // Makes the zone.
        try pair.a.sync()
    }

    /// Each is the first of its entity, so that all have the same number in their tables.
    private func writeOneOfEach() throws {
        try stranger.write(
            Record("n", "Note", ["CD_title": .string("n")]),
            Record("f", "Folder", ["CD_name": .string("f")]),
            Record("t", "Tag", ["CD_label": .string("t")]))
    }

    @Test(arguments: ["n:f", "f:t", "t:n", "n:n"])
    func aPairWithAWrongEndLinksNothingAndIsTold(names: String) throws {
        try writeOneOfEach()
        try stranger.write(Record(pair: "p", "Note:Tag", "tags:notes", names))
        for device in [a, b] {
            for _ in 0..<2 { #expect(try device.sync().error == nil) }
            #expect(try device.members(device.only("Note"), "tags").isEmpty)
            #expect(try device.members(device.only("Tag"), "notes").isEmpty)
            let status = try #require(try device.mirrored.status())
            #expect(status.refusals.map(\.recordName) == ["p"] && !status.isInSync)
            try device.set(device.only("Note"), "title", .text("later"))
            #expect(try device.sync().error == nil)
        }
        #expect(try stranger.pairs().map(\.recordName) == ["p"])
        try stranger.delete("p", type: "CDMR")
        for device in [a, b] {
            #expect(try device.sync().error == nil)
            #expect(try device.mirrored.status()?.isInSync == true)
        }
    }

    /// The same of an end that comes after the pair, and of a relationship without inverse.
    @Test(arguments: [("Tag:Note", "pinned:", "t:f"), ("Note:Tag", "tags:notes", "n:f")])
    func aPairThatWaitedForAWrongEndLinksNothing(
        entities: String, relationships: String, names: String
    ) throws {
        try stranger.write(Record(pair: "p", entities, relationships, names))
        #expect(try a.sync().error == nil)
        #expect(try a.mirrored.status()?.refusals.isEmpty == true)
        try writeOneOfEach()
        #expect(try a.sync().error == nil)
        #expect(try a.members(a.only("Note"), "tags").isEmpty)
        #expect(try a.members(a.only("Tag"), "pinned").isEmpty)
        #expect(try a.mirrored.status()?.refusals.map(\.recordName) == ["p"])
        #expect(try stranger.pairs().map(\.recordName) == ["p"])
    }

    /// An object that is restored gets no member that does not fit either.
    @Test func anObjectThatIsRestoredGetsNoWrongMember() throws {
        try writeOneOfEach()
        try stranger.write(Record(pair: "p", "Note:Tag", "tags:notes", "n:f"))
        #expect(try a.sync().error == nil)
        try stranger.delete("n", type: "CD_Note")
        try a.set(a.only("Note"), "title", .text("edited"))
        #expect(try a.sync().error == nil)
        #expect(try a.rows("Note").isEmpty)
        let line = try #require(try a.mirrored.conflicts().first { $0.property == "title" })
        let restored = try a.mirrored.restore(objectOfConflict: line.id)
        #expect(restored.linksLost == 1)
        #expect(try a.members(a.only("Note"), "tags").isEmpty)
        #expect(try a.sync().error == nil)
        #expect(try stranger.pairs().isEmpty)
    }

    /// People have to-dos; of all notes one has a title.
    private static func treeModel(isWide: Bool = false) -> NSManagedObjectModel {
        let model = SampleModel.make()
        let person = SampleModel.entity(
            "Person", [SampleModel.attribute("name", .stringAttributeType)])
        if let todo = model.entitiesByName["TodoNote"] {
            SampleModel.connect(person, "todos", many: true, todo, "people", many: true)
            let end = isWide ? model.entitiesByName["Note"] ?? todo : todo
            SampleModel.connect(person, "first", many: false, end, "firstOf", many: true)
        }
        model.entitiesByName["Note"]?.uniquenessConstraints = [["title"]]
        model.entities += [person]
        return model
    }

    /// A link that leads to a note waits until the model lets it.
    @Test func aLinkThatTheNextModelLetsLeadThereIsFollowed() throws {
        let world = try VersionedWorld(
            from: Self.treeModel(), to: Self.treeModel(isWide: true), service: pair.service)
        let device = try world.device()
        try stranger.write(
            Record("n", "Note", ["CD_title": .string("n")]),
            Record("p", "Person", ["CD_name": .string("p"), "CD_first": .string("n")]))
        #expect(try device.sync().error == nil)
        #expect(try device.target(device.only("Person"), "first") == nil)
        let updated = try world.updated(device)
        #expect(try updated.sync().error == nil)
        #expect(try updated.target(updated.only("Person"), "first") == updated.only("Note"))
        let kept = try #require(try stranger.record("p"))
        #expect(kept.fields["CD_first"] == .some(.string("n")))
    }

    /// A device on which the to-do `t` was absorbed by the note `a`.
    private func absorbing() throws -> Device {
        let device = try Device(3, pair.service, model: Self.treeModel())
        try stranger.write(
            Record("a", "Note", ["CD_title": .string("x")]),
            Record("t", "TodoNote", root: "Note", ["CD_title": .string("x")]),
            Record("p", "Person", ["CD_name": .string("p")]))
        try device.sync()
        #expect(try device.rows("TodoNote").isEmpty && device.rows("Note").count == 1)
        return device
    }

    /// What absorbed the end of a pair may be of another entity: the pair is let go, and logged.
    @Test func aPairOfWhatAnotherEntityAbsorbedIsLetGo() throws {
        let device = try absorbing()
        try stranger.write(Record(pair: "q", "Person:TodoNote", "todos:people", "p:t"))
        for _ in 0..<2 { #expect(try device.sync().error == nil) }
        #expect(try device.members(device.only("Person"), "todos").isEmpty)
        #expect(try stranger.pairs().isEmpty)
        let log = try device.mirrored.conflicts().filter { $0.property == "todos" }
        #expect(log.map(\.rule) == ["unique"] && log.map(\.recordName) == ["p"])
        #expect(try device.mirrored.status()?.refusals.isEmpty == true)
    }

    /// The same of a link.
    @Test func aLinkToWhatAnotherEntityAbsorbedIsLetGo() throws {
        let device = try absorbing()
        try stranger.write(
            Record("p", "Person", ["CD_name": .string("p"), "CD_first": .string("t")]))
        for _ in 0..<2 { #expect(try device.sync().error == nil) }
        #expect(try device.target(device.only("Person"), "first") == nil)
        #expect(try stranger.record("p")?.fields["CD_first"] ?? nil == nil)
        let log = try device.mirrored.conflicts().filter { $0.property == "first" }
        #expect(log.map(\.rule) == ["unique"] && log.map(\.recordName) == ["p"])
    }

    /// A link that leads to no folder waits: nobody here cleared it.
    @Test(arguments: [true, false])
    func aLinkToAWrongEntityIsNotTakenForOneThatWasCleared(comesLater: Bool) throws {
        let note = Record("n", "Note", ["CD_title": .string("n"), "CD_folder": .string("t")])
        let tag = Record("t", "Tag", ["CD_label": .string("t")])
        try stranger.write(comesLater ? note : tag)
        #expect(try a.sync().error == nil)
        try stranger.write(comesLater ? tag : note)
        #expect(try a.sync().error == nil)
        #expect(try a.target(a.only("Note"), "folder") == nil)
        try a.set(a.only("Note"), "title", .text("edited"))
        #expect(try a.sync().error == nil)
        let kept = try #require(try stranger.record("n"))
        #expect(kept.fields["CD_folder"] == .some(.string("t")))
        try stranger.write(
            Record("f", "Folder", ["CD_name": .string("f")]),
            Record("n", "Note", ["CD_title": .string("n"), "CD_folder": .string("f")]))
        for device in [a, b] {
            let result = try device.sync()
            #expect(result.error == nil && result.exported == 0)
            #expect(try device.target(device.only("Note"), "folder") == device.only("Folder"))
            #expect(try device.mirrored.conflicts().isEmpty)
        }
    }

    /// A link that is set here takes the place of one that waits: what clears it clears it.
    @Test func aLinkThatIsSetAndClearedWhileAnotherWaitsIsCleared() throws {
        try stranger.write(
            Record("n", "Note", ["CD_title": .string("n"), "CD_folder": .string("later")]))
        #expect(try a.sync().error == nil)
        let folder = try a.insert("Folder", ["name": .text("f")])
        try a.link(a.only("Note"), "folder", folder, order: 1024)
        #expect(try a.sync().error == nil)
        try a.link(a.only("Note"), "folder", nil)
        #expect(try a.sync().error == nil)
        #expect(try stranger.record("n")?.fields["CD_folder"] ?? nil == nil)
        try stranger.write(Record("later", "Folder", ["CD_name": .string("later")]))
        for device in [a, b] {
            #expect(try device.sync().error == nil)
            #expect(try device.target(device.only("Note"), "folder") == nil)
        }
    }
}
