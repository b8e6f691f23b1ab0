import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteStore
import Stores
import Testing

/// A record that comes with a unique key that another object here has: whichever of the two is
/// taken in, what came with the record is in the other, with it, or in the log.
@Suite struct ArrivingClashTests {
    private let service: SimulatedService
    private let keys: SealingKeys
    private let zone = "com.apple.coredata.cloudkit.zone"
    private let token = AttributeValue.uuid(UUID())

    init() throws {
        service = try Device.service()
        keys = try SealingKeys([SealingKey(secret: Data(repeating: 1, count: 32))])
    }

    /// Notes have a unique key and a sealed title.
    private func device(
        _ seed: UInt64, _ keys: SealingKeys? = nil, file: URL? = nil, sealsKey: Bool = false
    ) throws -> Device {
        let model = SampleModel.make()
        let note = model.entitiesByName["Note"]
        note?.attributesByName["title"]?.allowsCloudEncryption = true
        note?.attributesByName["token"]?.allowsCloudEncryption = sealsKey
        note?.uniquenessConstraints = [["token"]]
        return try Device(seed, service, model: model, file: file, keys: keys)
    }

    /// The records of all notes, the one whose name is smallest first.
    private func notes() throws -> [Record] {
        try service.records(inZone: zone).values
            .filter { $0.recordType == "CD_Note" && !$0.deleted }
            .sorted { $0.recordName < $1.recordName }
    }

    private func write(_ record: Record, _ kind: RecordOperation.Kind = .forceUpdate) throws {
        let modify = ModifyRecords(
            operations: [RecordOperation(kind, record)], zoneID: ZoneID(zoneName: zone))
        _ = try service.handle(.modifyRecords(modify), from: "somebody")
    }

    /// Two notes on both devices, `b` without keys.
    private func twoNotes() throws -> (a: Device, b: Device) {
        let (a, b) = (try device(1, keys), try device(2))
        try a.insert("Note", ["token": token, "title": .text("of x"), "rating": .double(1)])
        try a.insert(
            "Note", ["token": .uuid(UUID()), "title": .text("of y"), "rating": .double(2)])
        try settle([a, b])
        return (a, b)
    }

    /// The note of the larger name gets the key of the other, and `fields`.
    private func giveKey(_ fields: RecordFields) throws {
        let records = try notes()
        var changed = records[1]
        changed.fields = fields
        changed.fields["CD_token"] = records[0].fields["CD_token"] ?? nil
        try write(changed)
    }

    @Test func whatCameWithTheKeyIsInTheLog() throws {
        let (_, b) = try twoNotes()
        try giveKey(["CD_rating": .double(9)])
        try settle([b])
        #expect(try notes().count == 1)
        let lines = try b.mirrored.conflicts()
        #expect(lines.filter { $0.property == "rating" }.map(\.remote) == [.double(9)])
    }

    @Test func aFieldThatIsNotKnownHereGoesOnWithTheOther() throws {
        let (_, b) = try twoNotes()
        try giveKey(["CD_later": .string("kept")])
        try settle([b])
        #expect(try notes().map { $0.fields["CD_later"] } == [.string("kept")])
    }

    @Test func aSealedValueThatCameWithTheKeyIsInTheLogOfWhoCanReadIt() throws {
        let (a, b) = try twoNotes()
        let larger = try #require(try notes()[1].fields["CD_rating"]) == .double(1) ? 1.0 : 2.0
        let row = try a.rows("Note").first { try a.value($0.id, "rating") == .double(larger) }
        try a.set(#require(row).id, "title", .text("newer"))
        try a.sync()
        try giveKey([:])
        try settle([b])
        #expect(try notes().count == 1)
        let later = try device(3, keys)
        try settle([later])
        let lines = try later.mirrored.conflicts()
        #expect(lines.filter { $0.property == "title" }.map(\.remote) == [.string("newer")])
    }

    /// The key is of the entity whose kinds both are.
    @Test(arguments: 0..<4 as Range<UInt64>)
    func aFieldOfANewObjectOfAnotherKindGoesOn(seed: UInt64) throws {
        let b = try device(2)
        try b.insert("Note", ["token": token])
        try settle([b])
        let elsewhere = try Device.service()
        let c = try device(10 + seed)
        c.service = elsewhere
        try c.insert("TodoNote", ["token": token, "rating": .double(9)])
        try c.sync()
        var record = try #require(
            try elsewhere.records(inZone: zone).values.first { $0.recordType == "CD_Note" })
        record.recordChangeTag = nil
        record.fields["CD_later"] = .string("kept")
        try write(record, .create)
        try settle([b])
        #expect(try notes().map { $0.fields["CD_later"] } == [.string("kept")])
    }

    /// Two notes with one sealed key, which a device without the keys takes for two.
    @Test func sealedValuesOfObjectsThatTurnOutToBeOneAreInTheLog() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("clash-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("b.sqlite")
        for (seed, title) in [(1, "one"), (2, "two")] as [(UInt64, String)] {
            let elsewhere = try Device.service()
            let device = try device(seed, keys, sealsKey: true)
            device.service = elsewhere
            try device.insert("Note", ["token": token, "title": .text(title)])
            try device.sync()
            var record = try #require(
                try elsewhere.records(inZone: zone).values.first { $0.recordType == "CD_Note" })
            record.recordChangeTag = nil
            if seed == 1 { try settle([self.device(9)]) }
            try write(record, .create)
        }
        do {
            let b = try device(3, file: file, sealsKey: true)
            try settle([b])
            #expect(try b.rows("Note").count == 2)
        }
        let b = try device(4, keys, file: file, sealsKey: true)
        try settle([b])
        let title = try b.value(b.only("Note"), "title")
        let other = title == .text("one") ? "two" : "one"
        #expect(title == .text("one") || title == .text("two"))
        let lines = try b.mirrored.conflicts()
        #expect(lines.filter { $0.property == "title" }.map(\.remote) == [.string(other)])
    }
}
