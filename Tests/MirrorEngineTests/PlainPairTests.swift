import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Pairs that were recorded by the plain names of a version of the model, before names were keys:
/// they are the same pairs after a renaming.
@Suite struct PlainPairTests {
    let world: VersionedWorld
    let new: Device

    init() throws {
        world = try VersionedWorld(to: Self.renamed())
        new = try world.device(isLater: true)
        try new.insert(
            "Zettel", ["headline": .text("t"), "stars": .integer(3), "mood": .text("calm")])
        try new.insert("Tag", ["label": .text("x")])
        try world.settle(new)
    }

    /// By its plain names the other end comes first.
    private static func renamed() -> NSManagedObjectModel {
        let model = SampleModel.makeLater()
        let note = model.entitiesByName["Note"]
        note?.renamingIdentifier = "Note"
        note?.name = "Zettel"
        return model
    }

    /// A record as it was written under `entities` and `relationships`.
    private func write(
        _ name: String, _ entities: String, _ relationships: String, _ records: [String]
    ) throws {
        var record = Record(recordName: name, recordType: "CDMR")
        record.fields = [
            "CD_entityNames": .string(entities), "CD_relationships": .string(relationships),
            "CD_recordNames": .string(records.joined(separator: ":")),
        ]
        let zone = ZoneID(zoneName: new.mirrored.settings.zoneName)
        _ = try world.service.handle(
            .modifyRecords(
                ModifyRecords(operations: [RecordOperation(.create, record)], zoneID: zone)),
            from: "stranger")
    }

    private var pairs: [Record] {
        get throws {
            try world.service.records(inZone: new.mirrored.settings.zoneName).values
                .filter { $0.recordType == "CDMR" && !$0.deleted }
        }
    }

    private func expectPairAndTakeItOut(_ device: Device, _ property: String) throws {
        let (note, tag) = (try device.only("Zettel"), try device.only("Tag"))
        #expect(try device.members(note, property) == [tag])
        #expect(try device.sync().exported == 0)
        try device.set(note, "views", .integer(7))
        try device.sync()
        #expect(try pairs.count == 1)
        try device.pair(note, property, with: tag, adding: false)
        #expect(try device.sync().exported == 1)
        #expect(try pairs.isEmpty)
        #expect(try device.mirrored.status()?.keptForLater.isEmpty == true)
    }

    @Test(arguments: [true, false]) func aRecordOfPlainNamesIsRead(_ isTurned: Bool) throws {
        let note = try world.record("CD_Note").recordName
        let tag = try world.record("CD_Tag").recordName
        if isTurned {
            try write("p", "Tag:Zettel", "notes:labels", [tag, note])
        } else {
            try write("p", "Zettel:Tag", "labels:notes", [note, tag])
        }
        try new.sync()
        try expectPairAndTakeItOut(new, "labels")
    }

    @Test func namesThatNobodyKnowsWait() throws {
        let note = try world.record("CD_Note").recordName
        for (place, names) in [("Zettel:Tag", "odd:notes"), ("Zettel", "labels"), (":", ":")]
            .enumerated()
        {
            try write("p\(place)", names.0, names.1, [note, note])
        }
        try new.sync()
        #expect(try new.members(new.only("Zettel"), "labels").isEmpty)
        #expect(try new.mirrored.status()?.keptForLater.count == 3)
    }

    // MARK: What an older version of the library wrote down

    /// Gives the ledger's only pair the plain names of the device's model.
    private func makePlain(_ device: Device, forgetsModel: Bool) throws {
        try device.store.write { transaction in
            try transaction.connection.run(
                "UPDATE ANSCKMIRROREDRELATIONSHIP SET ZCDENTITYNAME = 'Tag:Zettel', "
                    + "ZRELATEDENTITYNAME = 'Zettel', ZRELATIONSHIPNAME = 'notes:labels', "
                    + "ZRECORDNAME = ZRELATEDRECORDNAME, ZRELATEDRECORDNAME = ZRECORDNAME")
            guard forgetsModel else { return }
            try transaction.connection.run(
                "DELETE FROM ANSCKMETADATAENTRY WHERE ZKEY = 'DiptychModelCatalog'")
        }
    }

    @Test func linesOfPlainNamesAreTheSamePairs() throws {
        try new.pair(new.only("Zettel"), "labels", with: new.only("Tag"))
        try world.settle(new)
        try makePlain(new, forgetsModel: true)
        try expectPairAndTakeItOut(new, "labels")
    }

    @Test(arguments: [true, false]) func theyAreAfterAnotherRenaming(_ isMapped: Bool) throws {
        try new.pair(new.only("Zettel"), "labels", with: new.only("Tag"))
        try world.settle(new)
        try makePlain(new, forgetsModel: false)
        let third = Self.renamed()
        if let note = third.entitiesByName["Zettel"] {
            SampleModel.rename("labels", to: "marks", in: note)
        }
        let next =
            isMapped ? try world.mapped(new, to: third) : try world.updated(new, to: third)
        try expectPairAndTakeItOut(next, "marks")
    }
}
