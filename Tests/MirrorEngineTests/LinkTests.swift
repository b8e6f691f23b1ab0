import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Links that nobody dropped stay, and moves arrive.
@Suite struct LinkTests {
    let service: SimulatedService
    let a: Device
    let b: Device

    init() throws {
        service = try Device.service()
        a = try Device(1, service)
        b = try Device(2, service)
    }

    private func settle(_ devices: [Device]? = nil) throws {
        try MirrorEngineTests.settle(devices ?? [a, b])
    }

    /// A note and a cover of which only one end was ever written, as real stores hold them.
    private func halfLink(_ device: Device, pointing end: String) throws -> (RowID, RowID) {
        let note = try device.insert("Note", ["title": .text("n")])
        let cover = try device.insert("Cover")
        if end == "note" {
            try device.link(note, "cover", cover)
        } else {
            try device.link(cover, "note", note)
        }
        return (note, cover)
    }

    private func expectLinked(_ devices: [Device]) throws {
        for device in devices {
            #expect(try device.target(device.only("Note"), "cover") == device.only("Cover"))
            #expect(try device.target(device.only("Cover"), "note") == device.only("Note"))
            #expect(try device.mirrored.conflicts().isEmpty)
        }
    }

    /// What a comparison of ends wrote is compared once more.
    private func seeThatAllMeet() throws {
        for _ in 0..<3 {
            try settle()
            try a.insert("Note")
        }
        try settle()
    }

    @Test(arguments: ["note", "cover"], [true, false])
    func aLinkOfWhichOneEndWasWrittenIsLostByNobody(end: String, hasHistory: Bool) throws {
        _ = try halfLink(a, pointing: end)
        if !hasHistory { try a.loseHistory() }
        try settle()
        try expectLinked([a, b])
    }

    @Test(arguments: ["note", "cover"])
    func aHalfLinkOutlivesEditsOfBothEndsElsewhere(end: String) throws {
        _ = try halfLink(a, pointing: end)
        try a.sync()
        b.intercept = { _ in throw Missing(name: "network") }
        let c = try Device(3, service)
        try c.sync()
        b.intercept = { _ in nil }
        try b.sync()
        try b.set(b.only("Note"), "title", .text("edited"))
        try c.set(c.only("Note"), "rating", .double(2))
        try settle([c, b, a])
        try expectLinked([a, b, c])
    }

    @Test(arguments: ["note", "cover"])
    func anEndThatAUserClearedTakesTheOtherWithIt(end: String) throws {
        let (note, cover) = try halfLink(a, pointing: end)
        try settle()
        try expectLinked([a, b])
        try a.link(end == "note" ? note : cover, end == "note" ? "cover" : "note", nil)
        try settle()
        for device in [a, b] {
            #expect(try device.target(device.only("Note"), "cover") == nil)
            #expect(try device.target(device.only("Cover"), "note") == nil)
        }
    }

    @Test func anEndThatAUserMovedTakesTheOthersWithIt() throws {
        let (note, first) = try halfLink(a, pointing: "cover")
        try settle()
        let second = try a.insert("Cover")
        try a.link(note, "cover", second)
        try settle()
        #expect(try a.target(note, "cover") == second && a.target(second, "note") == note)
        #expect(try a.target(first, "note") == nil)
        let noteB = try b.only("Note")
        let cover = try #require(try b.target(noteB, "cover"))
        #expect(try b.target(cover, "note") == noteB)
        #expect(try b.rows("Cover").filter { try b.target($0.id, "note") != nil }.count == 1)
    }

    /// What it costs grows with what was written, not with what there is: an end that was cleared
    /// behind the store's back, as no user does, stays so until its object is written, or until
    /// there is no history that tells what was.
    @Test func onlyEndsThatWereWrittenAreCompared() throws {
        let (note, cover) = try halfLink(a, pointing: "cover")
        let clear = { [a] in
            try a.store.write { store in
                _ = try store.connection.run("UPDATE ZCOVER SET ZNOTE = NULL")
            }
        }
        try seeThatAllMeet()
        try clear()
        let other = try a.insert("Cover")
        try a.link(a.insert("Note"), "cover", other)
        try settle()
        #expect(try a.target(other, "note") != nil)
        #expect(try a.target(cover, "note") == nil)
        try a.set(note, "title", .text("written"))
        try a.insert("Note")
        try settle()
        #expect(try a.target(cover, "note") == note)
        try a.loseHistory()
        try settle()
        try clear()
        try a.insert("Note")
        try settle()
        #expect(try a.target(cover, "note") == note)
        #expect(try a.target(other, "note") != nil)
    }

    /// Only the end that decides was written: whoever it led to lets go, whoever it leads to
    /// answers.
    @Test func whoIsClaimedNoMoreLetsGo() throws {
        let (note, _) = try halfLink(a, pointing: "cover")
        let other = try a.insert("Note", ["title": .text("other")])
        try seeThatAllMeet()
        let stranger = Stranger(service, beside: a)
        let names = try [a.only("Cover"), other].map {
            try #require(try a.mirrored.recordName(of: $0))
        }
        var claim = try #require(try stranger.record(names[0]))
        claim.fields["CD_note"] = .string(names[1])
        try stranger.write(claim)
        try settle()
        for device in [a, b] {
            let cover = try device.only("Cover")
            let linked = try device.rows("Note").filter {
                try device.target($0.id, "cover") == cover
            }
            #expect(try linked.map { try device.value($0.id, "title") } == [.text("other")])
            #expect(try device.target(cover, "note") == linked.first?.id)
        }
        #expect(try a.target(note, "cover") == nil)
    }

    /// A link that waits for its object is one: whoever it led to before lets go, in case it never
    /// comes, and it is there when it does.
    @Test func whoIsClaimedNoMoreLetsGoThoughTheOtherIsNotHere() throws {
        _ = try halfLink(a, pointing: "cover")
        try settle()
        let stranger = Stranger(service, beside: a)
        let name = try #require(try a.mirrored.recordName(of: a.only("Cover")))
        var claim = try #require(try stranger.record(name))
        let target = "FFFFFFFF-0000-4000-8000-000000000001"
        claim.fields["CD_note"] = .string(target)
        try stranger.write(claim)
        try settle()
        for device in [a, b] {
            #expect(try device.target(device.only("Note"), "cover") == nil)
            #expect(try device.target(device.only("Cover"), "note") == nil)
        }
        let log = try a.mirrored.conflicts() + b.mirrored.conflicts()
        #expect(log.contains { $0.rule == "oneToOne" && $0.property == "cover" })
        try stranger.write(
            Record(target, "Note", ["CD_title": .string("late"), "CD_cover": .string(name)]))
        try settle()
        for device in [a, b] {
            let note = try #require(try device.target(device.only("Cover"), "note"))
            #expect(try device.value(note, "title") == .text("late"))
            #expect(try device.target(note, "cover") == device.only("Cover"))
        }
    }

    @Test func ofTwoHalfLinksToOneObjectOneStaysAndOneIsLogged() throws {
        let cover = try a.insert("Cover")
        for title in ["x", "y"] {
            try a.link(a.insert("Note", ["title": .text(title)]), "cover", cover)
        }
        try settle()
        let kept = try [a, b].map { device in
            let note = try #require(try device.target(device.only("Cover"), "note"))
            #expect(try device.target(note, "cover") == device.only("Cover"))
            #expect(
                try device.rows("Note").filter { try device.target($0.id, "cover") != nil }.count
                    == 1)
            return try device.value(note, "title")
        }
        #expect(kept[0] == kept[1])
        let log = try a.mirrored.conflicts() + b.mirrored.conflicts()
        #expect(log.contains { $0.rule == "oneToOne" && $0.local != nil })
    }

    @Test func aSpouseNamedByOneSideOnlyIsAnsweredEverywhere() throws {
        let person = SampleModel.entity(
            "Person", [SampleModel.attribute("name", .stringAttributeType)])
        let spouse = NSRelationshipDescription()
        spouse.name = "spouse"
        spouse.maxCount = 1
        spouse.destinationEntity = person
        spouse.inverseRelationship = spouse
        person.properties += [spouse]
        let model = NSManagedObjectModel()
        model.entities = [person]
        let (a, b) = (try Device(1, service, model: model), try Device(2, service, model: model))
        let one = try a.insert("Person", ["name": .text("one")])
        let two = try a.insert("Person", ["name": .text("two")])
        try a.link(one, "spouse", two)
        try settle([a, b])
        #expect(try a.target(two, "spouse") == one && a.target(one, "spouse") == two)
        let rows = try b.rows("Person").map(\.id)
        #expect(try b.target(rows[0], "spouse") == rows[1])
        #expect(try b.target(rows[1], "spouse") == rows[0])
        try b.link(rows[0], "spouse", nil)
        try settle([a, b])
        #expect(try a.target(one, "spouse") == nil && a.target(two, "spouse") == nil)
    }

    @Test func aMemberWithTwoOwnersIsInTheLogAndCanBePutBack() throws {
        let note = try a.insert("Note")
        for label in ["x", "y"] { try a.insert("Tag", ["label": .text(label)]) }
        try settle()
        func tag(_ device: Device, _ label: String) throws -> RowID {
            try #require(
                try device.rows("Tag").first { try device.value($0.id, "label") == .text(label) }
            ).id
        }
        try a.pair(tag(a, "x"), "pinned", with: note)
        try b.pair(tag(b, "y"), "pinned", with: b.only("Note"))
        try settle()
        func owner(_ device: Device) throws -> AttributeValue? {
            let owners = try device.rows("Tag").map(\.id)
                .filter { try !device.members($0, "pinned").isEmpty }
            #expect(owners.count == 1)
            return try owners.first.flatMap { try device.value($0, "label") }
        }
        let kept = try owner(a)
        #expect(try owner(b) == kept)
        let device = try b.mirrored.conflicts().isEmpty ? a : b
        let line = try #require(try device.mirrored.conflicts().first)
        #expect(line.property == "pinned" && line.rule == "oneOwner" && line.local != nil)
        try device.mirrored.resolve(conflict: line.id, taking: .local)
        try settle()
        #expect(try owner(a) != kept && owner(b) != kept)
    }

    // MARK: Order

    private func titles(_ device: Device) throws -> [AttributeValue?] {
        try device.members(device.only("Folder"), "notes").map { try device.value($0, "title") }
    }

    private func fillFolder() throws -> (RowID, [RowID]) {
        let folder = try a.insert("Folder")
        let notes = try (1...5).map { index in
            let note = try a.insert("Note", ["title": .text("\(index)")])
            try a.link(note, "folder", folder, order: Int64(index) * 1024)
            return note
        }
        try settle()
        return (folder, notes)
    }

    @Test func aMoveInAnOrderedOneToManyArrivesEverywhere() throws {
        let (folder, notes) = try fillFolder()
        try a.reorder(folder, "notes", [notes[4], notes[0], notes[2], notes[1], notes[3]])
        #expect(try a.sync().exported > 0)
        try settle()
        let expected: [AttributeValue?] = ["5", "1", "3", "2", "4"].map { .text($0) }
        #expect(try titles(a) == expected && titles(b) == expected)
        #expect(try b.mirrored.conflicts().isEmpty)
    }

    @Test func aMoveWhileAnEditOfTheMemberIsUnderWayIsSentToo() throws {
        let (folder, notes) = try fillFolder()
        try a.set(notes[4], "rating", .double(1))
        var moved = false
        a.intercept = { [a, service] request in
            guard case .modifyRecords = request, !moved else { return nil }
            moved = true
            let response = try service.handle(request, from: try a.mirrored.deviceID())
            try a.reorder(folder, "notes", [notes[4]] + notes[..<4])
            return response
        }
        try settle()
        #expect(try titles(a).first == .text("5") && titles(b) == titles(a))
    }

    @Test func concurrentMovesEndInOneOrder() throws {
        let (folder, notes) = try fillFolder()
        try a.reorder(folder, "notes", notes.reversed())
        let there = try b.members(b.only("Folder"), "notes")
        try b.reorder(b.only("Folder"), "notes", Array(there[1...]) + [there[0]])
        try settle()
        #expect(try titles(a) == titles(b))
        #expect(try Set(titles(a)).count == 5)
    }

    /// A link that was cleared with its target is no edit: where another moved it, it is moved.
    @Test func aMoveOutlivesTheDeletionOfTheFormerTarget() throws {
        let old = try a.insert("Folder", ["name": .text("old")])
        try a.insert("Folder", ["name": .text("new")])
        let note = try a.insert("Note", ["title": .text("n")])
        try a.link(note, "folder", old, order: 1024)
        let c = try Device(3, service)
        try settle([a, b, c])
        let there = try folder(b, "new")
        try b.link(b.only("Note"), "folder", there, order: 1024)
        try a.delete(old)
        try a.sync()
        // It hears of the deletion and cannot tell of what it cleared.
        c.intercept = { request in
            guard case .modifyRecords = request else { return nil }
            throw Missing(name: "network")
        }
        _ = try? c.sync()
        #expect(try c.target(c.only("Note"), "folder") == nil)
        c.intercept = { _ in nil }
        try settle([c, b, a])
        for device in [a, b, c] {
            #expect(try device.target(device.only("Note"), "folder") == folder(device, "new"))
        }
    }

    private func folder(_ device: Device, _ name: String) throws -> RowID {
        try #require(
            try device.rows("Folder").first { try device.value($0.id, "name") == .text(name) }
        ).id
    }
}
