import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import Stores
import Testing

/// Incomplete graphs can be hidden until what they lead to is here.
@Suite struct HoldingTests {
    let service: SimulatedService
    let device: Device
    private let zone = ZoneID(zoneName: "com.apple.coredata.cloudkit.zone")

    init() throws {
        service = try Device.service()
        device = try Device(1, service) { $0.hidesIncompleteGraphs = true }
        try device.sync()
    }

    private func record(_ name: String, _ entity: String, _ links: [String: String] = [:]) -> Record
    {
        var record = Record(
            recordName: name, recordType: "CD_\(entity)", recordChangeTag: "1.\(name.count)")
        record.fields["CD_entityName"] = .string(entity)
        for (field, target) in links { record.fields["CD_\(field)"] = .string(target) }
        return record
    }

    private func page(_ records: [Record], _ token: String?, _ isLast: Bool) -> ZoneChangesReply {
        var page = ZoneChangesReply(zoneID: zone)
        page.records = records
        page.moreComing = !isLast
        page.syncToken = token
        return page
    }

    private func apply(_ records: [Record], isLast: Bool = false) throws {
        let zone = try device.mirrored.prepare(container: "test")
        let request = PageRequest(token: zone.token, toldWriteIDs: true, marks: zone.marks)
        let outcome = try device.mirrored.apply(page(records, zone.token, isLast), to: request)
        #expect(outcome != nil)
    }

    private func count(_ entity: String) throws -> Int { try device.rows(entity).count }

    @Test func anObjectWaitsForWhatItLeadsTo() throws {
        try apply([record("n", "Note", ["folder": "f"])])
        #expect(try count("Note") == 0)
        let kept = try #require(try device.mirrored.status()).keptForLater
        #expect(kept.map(\.recordName) == ["n"] && kept.map(\.reason) == [.incompleteGraph])
        try apply([record("f", "Folder")])
        #expect(try count("Note") == 1)
        #expect(try device.target(device.only("Note"), "folder") == device.only("Folder"))
        #expect(try device.mirrored.status()?.keptForLater.isEmpty == true)
    }

    @Test func chainsAndCirclesComeTogether() throws {
        try apply([record("c", "Cover", ["note": "n"])])
        try apply([record("n", "Note", ["cover": "c", "folder": "f"])])
        #expect(try count("Cover") == 0 && count("Note") == 0)
        try apply([record("f", "Folder")])
        #expect(try count("Cover") == 1 && count("Note") == 1)
        #expect(try device.target(device.only("Note"), "cover") == device.only("Cover"))
        #expect(try device.target(device.only("Cover"), "note") == device.only("Note"))
    }

    @Test func theEndOfTheZoneShowsWhatIsLeft() throws {
        try apply([record("n", "Note", ["folder": "f"])])
        try apply([record("other", "Note")], isLast: true)
        #expect(try count("Note") == 2)
        #expect(try device.mirrored.status()?.keptForLater.isEmpty == true)
        // The link waits, as it does where nothing is hidden.
        try apply([record("f", "Folder")], isLast: true)
        let linked = try device.rows("Note").filter { try device.target($0.id, "folder") != nil }
        #expect(linked.count == 1)
    }

    @Test func whatIsDeletedOrChangedWhileItIsHeldIsNotShownAsItWas() throws {
        try apply([
            record("n", "Note", ["folder": "f"]), record("m", "Note", ["folder": "f"]),
        ])
        var deletion = record("n", "Note")
        deletion.deleted = true
        deletion.recordChangeTag = "2"
        var edit = record("m", "Note", ["folder": "g"])
        edit.recordChangeTag = "3"
        try apply([deletion, edit])
        try apply([record("f", "Folder")])
        #expect(try count("Note") == 0)
        try apply([record("g", "Folder")])
        #expect(try count("Note") == 1)
    }

    @Test func objectsThatAreHereStayAndNothingIsHiddenUnlessAsked() throws {
        try apply([record("n", "Note")], isLast: true)
        var edit = record("n", "Note", ["folder": "f"])
        edit.recordChangeTag = "5"
        try apply([edit])
        #expect(try count("Note") == 1)
        let plain = try Device(2, service)
        let zone = try plain.mirrored.prepare(container: "test")
        _ = try plain.mirrored.apply(
            page([record("n", "Note", ["folder": "f"])], zone.token, false),
            to: PageRequest(token: zone.token, toldWriteIDs: true, marks: zone.marks))
        #expect(try plain.rows("Note").count == 1)
    }
}
