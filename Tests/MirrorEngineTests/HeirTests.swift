import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import Stores
import Testing

/// What was linked with an object that another device let become one with a second one leads to
/// the one that stayed.
@Suite struct HeirTests {
    /// A device b made a tag first and did not send it; a made the same one, sent it, and links
    /// objects with it that nobody else has heard of.
    private struct Stage {
        let a: Device
        let b: Device
        let tag: RowID
        let note: RowID

        init(
            _ dialect: ServiceDialect = .extended, deletion: DeletionRule = .deleteWins
        ) throws {
            let service = try Device.service(dialect)
            let model = SampleModel.make(uniqueLabels: true)
            let sample = try #require(model.entitiesByName["Tag"])
            let main = NSRelationshipDescription()
            main.name = "main"
            main.destinationEntity = sample
            main.maxCount = 1
            model.entitiesByName["Cover"]?.properties.append(main)
            let policy = MergePolicy(deletion: deletion)
            a = try Device(1, service, model: model, policy: policy)
            b = try Device(2, service, model: model, policy: policy)
            try b.insert("Tag", ["label": .text("t")])
            a.clock.advance(seconds: 60)
            tag = try a.insert("Tag", ["label": .text("t")])
            note = try a.insert("Note", ["title": .text("n0")])
            try a.pair(note, "tags", with: tag)
            try a.sync()
        }

        func settle() throws {
            for _ in 0..<4 { for device in [b, a] { #expect(try device.sync().error == nil) } }
        }
    }

    @Test(
        arguments: [ServiceDialect.extended, .plain], [DeletionRule.deleteWins, .keepEdited])
    func unsentLinksLeadToTheOneThatStayed(
        dialect: ServiceDialect, deletion: DeletionRule
    ) throws {
        let stage = try Stage(dialect, deletion: deletion)
        let (a, b) = (stage.a, stage.b)
        let note = try a.insert("Note", ["title": .text("n1")])
        try a.pair(note, "tags", with: stage.tag)
        try a.pair(stage.tag, "pinned", with: note)
        let cover = try a.insert("Cover")
        try a.link(cover, "main", stage.tag)
        try stage.settle()
        for device in [a, b] {
            let tag = try device.only("Tag")
            #expect(try device.rows("Tag").count == 1)
            for note in try device.rows("Note") {
                #expect(try device.members(note.id, "tags") == [tag])
            }
            #expect(try device.members(tag, "pinned").count == 1)
            #expect(try device.target(device.only("Cover"), "main") == tag)
        }
        #expect(try a.mirrored.conflicts().isEmpty)
        #expect(try a.mirrored.status()?.isInSync == true)
    }

    /// Nobody has the key any more: what was linked is lost, and in the log.
    @Test func withoutAnHeirTheLinksAreLogged() throws {
        let stage = try Stage()
        try stage.settle()
        let (a, b) = (stage.a, stage.b)
        try b.delete(b.only("Tag"))
        try b.sync()
        let note = try a.insert("Note", ["title": .text("n1")])
        try a.pair(note, "tags", with: a.only("Tag"))
        try stage.settle()
        #expect(try a.rows("Tag").isEmpty && b.rows("Tag").isEmpty)
        #expect(try !a.mirrored.conflicts().isEmpty)
    }
}
