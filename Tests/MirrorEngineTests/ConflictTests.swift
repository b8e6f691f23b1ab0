import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Both devices edit before either syncs; `a` syncs first.
@Suite struct ConflictTests {
    /// What one note's title comes to when both change it, and what the log says.
    @Test(arguments: [
        ("local", "from b", "local"), ("remote", "from a", "remote"),
        ("overwrite", "from b", "local"), ("rollback", "from a", "remote"),
        ("max", "from b", "merged"), ("min", "from a", "merged"),
    ])
    func theRuleDecides(rule: String, title: String, winner: String) throws {
        let world = try World(policy: MergePolicy(standard: #require(MergeRule(name: rule))))
        try world.editBoth("title", .text("from a"), .text("from b"))
        try world.settle()
        #expect(try world.a.value(world.a.only("Note"), "title") == .text(title))
        #expect(try world.b.value(world.b.only("Note"), "title") == .text(title))
        let log = try world.b.mirrored.conflicts()
        #expect(log.map(\.property) == ["title"] && log.map(\.winner) == [winner])
        #expect(log.first?.local == .string("from b") && log.first?.remote == .string("from a"))
    }

    /// The log may have a million others; here one of them cannot be read.
    @Test func aValueIsPutBackWithoutALookAtOtherLines() throws {
        let world = try World()
        try world.editBoth("title", .text("from a"), .text("from b"))
        try world.editBoth("rating", .double(1), .double(2))
        try world.settle()
        let line = try #require(
            try world.b.mirrored.conflicts().first { $0.property == "title" })
        try world.b.store.write { transaction in
            _ = try transaction.connection.run(
                "UPDATE ADIPTYCHCONFLICT SET ZLOCAL = x'FF' WHERE ZPROPERTY = 'rating'")
        }
        #expect(throws: MirrorError.self) { try world.b.mirrored.conflicts() }
        try world.b.mirrored.resolve(conflict: line.id, taking: .remote)
        #expect(try world.b.value(world.noteB, "title") == .text("from a"))
    }

    @Test func differentFieldsAreNoConflict() throws {
        let world = try World()
        try world.a.set(world.noteA, "title", .text("A"))
        try world.b.set(world.noteB, "rating", .double(5))
        try world.settle()
        #expect(try world.a.value(world.noteA, "rating") == .double(5))
        #expect(try world.b.value(world.noteB, "title") == .text("A"))
        #expect(try world.b.mirrored.conflicts().isEmpty)
    }

    @Test func eachOfManyConflictsInOneObjectIsDecidedAndLogged() throws {
        let world = try World(policy: MergePolicy(standard: .remote))
        let edits: [(String, AttributeValue, AttributeValue)] = [
            ("title", .text("from a"), .text("from b")), ("rating", .double(1), .double(2)),
            ("price", .decimal(1), .decimal(2)), ("edited", .date(1), .date(2)),
        ]
        for (name, one, other) in edits { try world.editBoth(name, one, other) }
        try world.settle()
        for (name, one, _) in edits {
            #expect(try world.a.value(world.noteA, name) == one)
            #expect(try world.b.value(world.noteB, name) == one)
        }
        let log = try world.b.mirrored.conflicts()
        #expect(log.map(\.property).sorted() == edits.map(\.0).sorted())
        #expect(log.allSatisfy { $0.winner == "remote" })
    }

    @Test func equalEditsAreNoConflictAndEqualCountsAddUp() throws {
        let world = try World()
        try world.editBoth("title", .text("same"), .text("same"))
        try world.editBoth("views", .integer(3), .integer(3))
        try world.settle()
        #expect(try world.a.value(world.noteA, "views") == .integer(6))
        #expect(try world.a.mirrored.conflicts().isEmpty)
        #expect(try world.b.mirrored.conflicts().map(\.property) == ["views"])
    }

    /// A decision that waits must not hold up the deletion of its object.
    @Test(arguments: [true, false])
    func anObjectThatWaitsForADecisionCanBeDeleted(isReset: Bool) throws {
        let world = try World(policy: MergePolicy(standard: .error))
        try world.editBoth("title", .text("from a"), .text("from b"))
        try world.settle()
        #expect(try world.b.mirrored.conflicts(waitingOnly: true).count == 1)
        try world.b.delete(world.noteB)
        if isReset { #expect(try world.b.mirrored.reset()) }
        try world.settle()
        #expect(try world.b.mirrored.conflicts(waitingOnly: true).isEmpty)
        #expect(try world.a.rows("Note").isEmpty && world.b.rows("Note").isEmpty)
        #expect(try world.b.mirrored.conflicts().map(\.winner) == ["local"])
    }

    @Test func theErrorRuleWaitsAndTheRestGoesOn() throws {
        let world = try World(policy: MergePolicy(standard: .error))
        try world.editBoth("title", .text("from a"), .text("from b"))
        try world.b.insert("Tag", ["label": .text("goes on")])
        try world.settle()
        #expect(try world.b.value(world.noteB, "title") == .text("from b"))
        #expect(try world.a.value(world.noteA, "title") == .text("from a"))
        #expect(try world.a.rows("Tag").count == 1)
        let waiting = try world.b.mirrored.conflicts(waitingOnly: true)
        #expect(waiting.count == 1)
        try world.b.mirrored.resolve(conflict: #require(waiting.first?.id), taking: .local)
        try world.settle()
        #expect(try world.a.value(world.noteA, "title") == .text("from b"))
        #expect(try world.b.mirrored.status()?.isInSync == true)
    }

    @Test(arguments: ConflictSide.allCases)
    func aDiscardedValueCanBePutBack(side: ConflictSide) throws {
        let world = try World(policy: MergePolicy(standard: .remote))
        try world.editBoth("edited", .date(1.000001), .date(2.000002))
        try world.settle()
        let entry = try #require(try world.b.mirrored.conflicts().first)
        try world.b.mirrored.resolve(conflict: entry.id, taking: side)
        try world.settle()
        let expected: AttributeValue =
            switch side {
            case .base: .null
            case .local: .date(2.000002)
            case .remote: .date(1.000001)
            }
        #expect(try world.a.value(world.noteA, "edited") == expected)
    }

    /// Whoever edited later wins, whoever syncs first.
    @Test(arguments: [true, false], [true, false])
    func theLatestEditWins(isBLater: Bool, syncsBFirst: Bool) throws {
        let world = try World(policy: MergePolicy(standard: .latest))
        let (early, late) = isBLater ? (world.a, world.b) : (world.b, world.a)
        try early.set(early.only("Note"), "title", .text("early"))
        late.clock.advance(seconds: 60)
        try late.set(late.only("Note"), "title", .text("late"))
        if syncsBFirst { try world.b.sync() }
        try world.settle()
        #expect(try world.a.value(world.noteA, "title") == .text("late"))
        #expect(try world.b.value(world.noteB, "title") == .text("late"))
    }

    @Test func aDecisionIsAnEditOfItsTime() throws {
        let policy = MergePolicy(standard: .latest)
        let world = try World(policy: policy)
        let c = try Device(3, world.service, policy: policy)
        try c.sync()
        try world.a.set(world.noteA, "title", .text("ann"))
        world.b.clock.advance(seconds: 60)
        try world.b.set(world.noteB, "title", .text("ben"))
        try world.b.sync()
        try world.a.sync()
        c.clock.advance(seconds: 3_600)
        try c.set(c.only("Note"), "title", .text("cem"))
        world.a.clock.advance(seconds: 7_200)
        let conflict = try #require(try world.a.mirrored.conflicts().first)
        try world.a.mirrored.resolve(conflict: conflict.id, taking: .local)
        try world.a.sync()
        try c.sync()
        try world.settle()
        try c.sync()
        for device in [world.a, world.b, c] {
            #expect(try device.value(device.only("Note"), "title") == .text("ann"))
        }
    }

    @Test func anEditOfWhatWasSeenIsLaterWhateverTheClocksSay() throws {
        let world = try World(policy: MergePolicy(standard: .latest))
        world.a.clock.advance(seconds: 3_600)
        try world.a.set(world.noteA, "title", .text("from a clock an hour ahead"))
        try world.settle()
        try world.b.set(world.noteB, "title", .text("after having seen it"))
        try world.a.set(world.noteA, "rating", .double(1))
        try world.settle()
        #expect(try world.a.value(world.noteA, "title") == .text("after having seen it"))
    }

    /// Rules of an entity's properties are those of its heirs: counts add up, times are kept.
    @Test func heirsMergeByTheRulesOfTheirParent() throws {
        var policy = MergePolicy()
        policy.set(.counter, entity: "Note", property: "rating")
        policy.set(.latest, entity: "Note", property: "title")
        let service = try Device.service()
        let a = try Device(1, service, policy: policy)
        let b = try Device(2, service, policy: policy)
        let one = try a.insert("TodoNote", ["title": .text("old"), "rating": .double(10)])
        try MirrorEngineTests.settle([a, b])
        let other = try b.only("TodoNote")
        try b.set(other, "title", .text("early"))
        try b.set(other, "rating", .double(15))
        a.clock.advance(seconds: 60)
        try a.set(one, "title", .text("late"))
        try a.set(one, "rating", .double(12))
        try MirrorEngineTests.settle([a, b])
        for device in [a, b] {
            #expect(try device.value(device.only("TodoNote"), "title") == .text("late"))
            #expect(try device.value(device.only("TodoNote"), "rating") == .double(17))
        }
    }

    @Test func aClosureAnswersForOneProperty() throws {
        var policy = MergePolicy()
        policy.set(
            .custom { question in
                guard case .string(let local)? = question.local,
                    case .string(let remote)? = question.remote
                else { return question.remote }
                return .string([local, remote].sorted().joined(separator: "+"))
            }, entity: "Note", property: "title")
        let world = try World(policy: policy)
        try world.editBoth("title", .text("x"), .text("y"))
        try world.settle()
        #expect(try world.a.value(world.noteA, "title") == .text("x+y"))
    }

    @Test func textsMergeByLines() throws {
        var policy = MergePolicy()
        policy.set(.text, entity: "Note", property: "title")
        let world = try World(policy: policy, title: "one\ntwo\nthree\nfour")
        try world.editBoth("title", .text("ONE\ntwo\nthree\nfour"), .text("one\ntwo\nthree\nFOUR"))
        try world.settle()
        #expect(try world.a.value(world.noteA, "title") == .text("ONE\ntwo\nthree\nFOUR"))
    }

    @Test(arguments: DeletionRule.allCases)
    func deletionAgainstEdit(rule: DeletionRule) throws {
        for editorSyncsFirst in [true, false] {
            let world = try World(policy: MergePolicy(deletion: rule))
            try world.a.delete(world.noteA)
            try world.b.set(world.noteB, "title", .text("edited"))
            if editorSyncsFirst { try world.b.sync() }
            try world.settle()
            let count = rule == .keepEdited ? 1 : 0
            #expect(try world.a.rows("Note").count == count)
            #expect(try world.b.rows("Note").count == count)
            let log = try world.a.mirrored.conflicts() + world.b.mirrored.conflicts()
            #expect(log.contains { $0.property == "title" && $0.rule == rule.rawValue })
        }
    }

    @Test func aPairAddedHereAndOneRemovedThereBothHold() throws {
        let world = try World()
        let tags = try ["x", "y"].map { try world.a.insert("Tag", ["label": .text($0)]) }
        try world.a.pair(world.noteA, "tags", with: tags[0])
        try world.settle()
        try world.a.pair(world.noteA, "tags", with: tags[0], adding: false)
        let other = try #require(
            try world.b.rows("Tag").map(\.id).first { tag in
                try world.b.members(world.noteB, "tags") != [tag]
            })
        try world.b.pair(world.noteB, "tags", with: other)
        try world.settle()
        #expect(try world.a.members(world.noteA, "tags") == [tags[1]])
        #expect(try world.b.members(world.noteB, "tags") == [other])
    }

    @Test func oneNaturalKeyMadeTwiceBecomesOneObject() throws {
        let world = try World(model: SampleModel.make(uniqueLabels: true))
        for (device, note) in [(world.a, world.noteA), (world.b, world.noteB)] {
            let tag = try device.insert("Tag", ["label": .text("funny")])
            try device.pair(note, "tags", with: tag)
        }
        try world.settle()
        for (device, note) in [(world.a, world.noteA), (world.b, world.noteB)] {
            #expect(try device.rows("Tag").count == 1)
            #expect(try device.members(note, "tags") == [device.only("Tag")])
        }
        let zone = world.a.mirrored.settings.zoneName
        let tags = try world.service.records(inZone: zone).values.filter {
            $0.recordType == "CD_Tag"
        }
        #expect(tags.count == 1)
    }

    @Test func twoPartnersForOneObjectEndInOneThatAnswers() throws {
        let world = try World()
        let cover = try world.a.insert("Cover")
        let second = try world.a.insert("Note")
        try world.settle()
        let coverB = try world.b.only("Cover")
        let secondB = try #require(try world.b.rows("Note").map(\.id).first { $0 != world.noteB })
        try world.a.link(world.noteA, "cover", cover)
        try world.a.link(cover, "note", world.noteA)
        try world.b.link(secondB, "cover", coverB)
        try world.b.link(coverB, "note", secondB)
        try world.settle()
        for device in [world.a, world.b] {
            let owners = try device.rows("Note").map(\.id).filter {
                try device.target($0, "cover") != nil
            }
            #expect(owners.count == 1)
            #expect(try device.target(device.only("Cover"), "note") == owners.first)
        }
        _ = second
    }

    @Test func aPartnerThatLostIsLoggedAndCanBePutBack() throws {
        let world = try World()
        for (device, note) in [(world.a, world.noteA), (world.b, world.noteB)] {
            let image: AttributeValue = .data(Data(device === world.a ? "a".utf8 : "b".utf8))
            let cover = try device.insert("Cover", ["image": image])
            try device.link(note, "cover", cover)
            try device.link(cover, "note", note)
        }
        try world.settle()
        let first = try world.partners()
        let lost =
            try world.b.mirrored.conflicts().filter { $0.rule == "oneToOne" }
            + world.a.mirrored.conflicts().filter { $0.rule == "oneToOne" }
        #expect(!lost.isEmpty && lost.allSatisfy { $0.local != nil && $0.winner == "remote" })
        let line = try #require(
            try world.b.mirrored.conflicts().last { $0.rule == "oneToOne" && $0.entity == "Cover" })
        try world.b.mirrored.resolve(conflict: line.id, taking: .local)
        try world.settle()
        let second = try world.partners()
        #expect(first.count == 1 && second.count == 1 && first != second)
        #expect(try world.b.mirrored.status()?.isInSync == true)
    }

    @Test func orderedMembersPutAtOnePlaceHaveOneOrderEverywhere() throws {
        let world = try World()
        try world.a.insert("Folder")
        try world.settle()
        for (device, title) in [(world.a, "a"), (world.b, "b")] {
            let note = try device.insert("Note", ["title": .text(title)])
            try device.link(note, "folder", device.only("Folder"), order: 2048)
        }
        try world.settle()
        let orders = try [world.a, world.b].map { device in
            try device.members(device.only("Folder"), "notes").map { try device.value($0, "title") }
        }
        #expect(orders[0].count == 2 && orders[0] == orders[1])
    }
}

/// Two devices that both have one note.
private struct World {
    let service: SimulatedService
    let a: Device
    let b: Device
    let noteA: RowID
    let noteB: RowID

    init(
        model: NSManagedObjectModel = SampleModel.make(), policy: MergePolicy = MergePolicy(),
        title: String = "old"
    ) throws {
        service = try Device.service()
        a = try Device(1, service, model: model, policy: policy)
        b = try Device(2, service, model: model, policy: policy)
        noteA = try a.insert("Note", ["title": .text(title), "views": .integer(0)])
        try a.sync()
        try b.sync()
        noteB = try b.only("Note")
    }

    func editBoth(_ name: String, _ one: AttributeValue, _ other: AttributeValue) throws {
        try a.set(noteA, name, one)
        try b.set(noteB, name, other)
    }

    /// The images of covers that have a note; both devices must tell the same, and the note
    /// must point back.
    func partners() throws -> [AttributeValue?] {
        let found = try [a, b].map { device in
            let note = try device.only("Note")
            let covers = try device.rows("Cover").map(\.id).filter {
                try device.target($0, "note") == note
            }
            #expect(try covers.first == device.target(note, "cover"))
            return try covers.map { try device.value($0, "image") }
        }
        #expect(found[0] == found[1])
        return found[0]
    }

    func settle() throws { try MirrorEngineTests.settle([a, b]) }

}
