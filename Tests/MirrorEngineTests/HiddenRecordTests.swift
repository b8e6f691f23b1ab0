import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import Stores
import Testing

/// Records of the public database that a role hides from a device which knew them: the zone is read
/// once more from its start, and does not show them.
@Suite struct HiddenRecordTests {
    let service: SimulatedService
    let a: Device
    let b: Device

    init() throws {
        service = try Device.service()
        a = try Device(1, service)
        b = try Device(2, service) { $0.scope.isPublic = true }
        let note = try a.insert("Note", ["title": .text("old")])
        try a.pair(note, "tags", with: a.insert("Tag", ["label": .text("t")]))
        try settle([a, b])
        #expect(try b.rows("Note").count == 1)
    }

    /// Whether records are of a note, or pairs of one.
    private func isOfNote(_ record: Record) -> Bool {
        record.recordType == "CD_Note" || record.recordType == "CDMR"
    }

    /// Ends the token of `b` once, and shows it no notes from then on.
    private func hideNotes() {
        var isTold = false
        b.intercept = { [service] request in
            if case .modifyRecords(let modify) = request { return refuse(modify) }
            guard case .zoneChanges = request else { return nil }
            if !isTold {
                isTold = true
                var page = ZoneChangesReply(zoneID: ZoneID(zoneName: "z"))
                page.failure = RecordError(.changeTokenExpired, "A role was lost.")
                return .zoneChanges([page])
            }
            guard case .zoneChanges(var pages) = try service.handle(request, from: "b") else {
                return nil
            }
            for index in pages.indices { pages[index].records.removeAll(where: isOfNote) }
            return .zoneChanges(pages)
        }
    }

    /// What is hidden is not to be written either; nothing else is sent here.
    private func refuse(_ modify: ModifyRecords) -> RecordResponse? {
        .records(
            RecordsReply(
                results: modify.operations.map {
                    RecordResult.failure(
                        RecordError(
                            .accessDenied, "A role does not allow it.",
                            recordName: $0.record.recordName))
                }))
    }

    /// Ends the token of `b` once more, and shows it all.
    private func showNotes() {
        var isTold = false
        b.intercept = { request in
            guard case .zoneChanges = request, !isTold else { return nil }
            isTold = true
            var page = ZoneChangesReply(zoneID: ZoneID(zoneName: "z"))
            page.failure = RecordError(.changeTokenExpired, "A role was given.")
            return .zoneChanges([page])
        }
    }

    @Test func whatIsHiddenIsNeitherDeletedNorSentAgain() throws {
        hideNotes()
        let result = try b.sync()
        #expect(result.error == nil && b.sendings == 0)
        let status = try #require(try b.mirrored.status())
        #expect(status.isInSync && status.refusals.isEmpty)
        #expect(try b.value(b.only("Note"), "title") == .text("old"))
        #expect(try b.members(b.only("Note"), "tags").count == 1)
        // What is edited meanwhile comes when the role does.
        try a.set(a.only("Note"), "title", .text("new"))
        try settle([a, b])
        #expect(try b.value(b.only("Note"), "title") == .text("old"))
        showNotes()
        try settle([b, a])
        #expect(try b.value(b.only("Note"), "title") == .text("new"))
        #expect(try a.rows("Note").count == 1 && a.rows("Tag").count == 1)
    }

    @Test func aDeletionOfWhatIsHiddenWaits() throws {
        hideNotes()
        try b.pair(b.only("Note"), "tags", with: b.only("Tag"), adding: false)
        try b.delete(b.only("Note"))
        try settle([b, b])
        #expect(try b.mirrored.refusedDeletions().count == 1)
        showNotes()
        b.clock.advance(seconds: 3_601)
        try settle([b, a])
        #expect(try b.rows("Note").isEmpty && a.rows("Note").isEmpty)
        #expect(try a.rows("Tag").count == 1)
    }

    @Test func anEditOfWhatIsHiddenWaits() throws {
        hideNotes()
        try b.set(b.only("Note"), "title", .text("mine"))
        try settle([b, b])
        #expect(try b.mirrored.status()?.refusals.count == 1)
        showNotes()
        b.clock.advance(seconds: 3_601)
        try settle([b, a])
        #expect(try a.value(a.only("Note"), "title") == .text("mine"))
    }
}
