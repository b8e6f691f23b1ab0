import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import Platform
import RecordService
import RecordWire
import SQLiteStore
import Stores
import Testing

/// Large values travel as assets, and are merged as any other.
@Suite struct AssetTests {
    let service: SimulatedService
    let zone = "com.apple.coredata.cloudkit.zone"

    init() throws { try self.init(.extended) }

    init(_ dialect: ServiceDialect) throws { service = try Device.service(dialect) }

    private func device(
        _ seed: UInt64, policy: MergePolicy = MergePolicy(), above bytes: Int = 100
    ) throws -> Device {
        try Device(seed, service, policy: policy, assetsAbove: bytes)
    }

    private func text(_ word: String) -> AttributeValue {
        .text(String(repeating: "\(word) ", count: 100))
    }

    private func title(_ device: Device) throws -> AttributeValue? {
        try device.value(device.only("Note"), "title")
    }

    private func record() throws -> Record {
        try #require(
            try service.records(inZone: zone).values.first { $0.recordType == "CD_Note" })
    }

    /// A note with a large title on two devices.
    private func pair(policy: MergePolicy = MergePolicy()) throws -> (Device, Device) {
        let (a, b) = (try device(1, policy: policy), try device(2, policy: policy))
        try a.insert("Note", ["title": text("old"), "views": .integer(1)])
        try settle([a, b])
        return (a, b)
    }

    // MARK: On the way

    @Test func aLargeValueIsAnAssetFieldAndASmallOneIsNot() throws {
        let (a, b) = try pair()
        #expect(try title(b) == text("old"))
        var record = try record()
        guard case .asset(let asset)?? = record.fields["CD_title_ckAsset"] else {
            Issue.record("The title is no asset: \(record.fields)")
            return
        }
        #expect(asset.size == 400 && record.fields["CD_title"] == nil)
        #expect(record.fields["CD_views"] == .int64(1))
        try b.set(b.only("Note"), "title", .text("small"))
        try settle([b, a])
        record = try self.record()
        #expect(record.fields["CD_title"] == .string("small"))
        #expect(record.fields["CD_title_ckAsset"] == nil)
        #expect(try title(a) == .text("small"))
        try b.set(b.only("Note"), "title", .null)
        try settle([b, a])
        #expect(try title(a) == .null)
        #expect(a.uploads.count == 1 && b.downloads == 1)
    }

    /// However many wait, each request asks for as many as any service takes.
    @Test func recordsThatWaitForAssetsAreLookedUpInParts() throws {
        let (a, b) = (try device(1), try device(2))
        for index in 0..<230 { try a.insert("Note", ["title": text("note \(index)")]) }
        try settle([a])
        b.interceptDownload = { _ in throw Missing(name: "asset") }
        _ = try? b.sync()
        #expect(try b.rows("Note").isEmpty)
        b.interceptDownload = { _ in }
        try b.sync()
        #expect(try b.rows("Note").count == 230)
        let asked = b.requests.compactMap { request -> Int? in
            if case .lookupRecords(let lookup) = request { lookup.recordNames.count } else { nil }
        }
        #expect(asked.allSatisfy { $0 <= 200 } && asked.contains(200) && asked.contains(30))
    }

    /// The first by name, of which a round looks up one, never has its asset.
    @Test func recordsWhoseAssetsNeverComeStandBeforeNoOthers() throws {
        let a = try device(1)
        let b = try Device(2, service, assetsAbove: 100) { $0.batchRecordsMax = 1 }
        for word in ["first", "second"] { try a.insert("Note", ["title": text(word)]) }
        try settle([a])
        b.interceptDownload = { _ in throw Missing(name: "asset") }
        _ = try? b.sync()
        let first = try #require(try b.mirrored.status()?.keptForLater.map(\.recordName).min())
        let record = try #require(try service.records(inZone: zone)[first])
        guard case .asset(let lost)?? = record.fields["CD_title_ckAsset"] else {
            throw Missing(name: "asset field")
        }
        b.interceptDownload = { download in
            if download.asset.fileChecksum == lost.fileChecksum { throw Missing(name: "asset") }
        }
        for _ in 0..<40 { try b.sync() }
        #expect(try b.rows("Note").count == 1)
    }

    @Test func anEditOfAnotherPropertySendsNoAsset() throws {
        let (a, b) = try pair()
        try b.set(b.only("Note"), "rating", .double(2))
        try settle([b, a])
        #expect(b.uploads.isEmpty && a.downloads == 0)
        #expect(try title(a) == text("old"))
    }

    /// The content that one record of a page needs not is fetched for another of the same page.
    @Test func aCopyOfAnObjectComesWithItsLargeValue() throws {
        let (a, b) = try pair()
        try a.set(a.only("Note"), "rating", .double(2))
        try a.insert("Note", ["title": text("old")])
        try a.sync()
        #expect(try b.sync().isInSync)
        #expect(try b.rows("Note").count == 2)
        #expect(try b.mirrored.status()?.keptForLater.isEmpty == true)
        for note in try b.rows("Note") { #expect(try b.value(note.id, "title") == text("old")) }
    }

    @Test func aLostAnswerSendsNothingTwiceAndIsNoConflict() throws {
        let a = try device(1)
        try a.insert("Note", ["title": text("old")])
        a.intercept = { [service] request in
            guard case .modifyRecords = request else { return nil }
            _ = try service.handle(request, from: try a.mirrored.deviceID())
            throw MirrorError(.stopped, "lost")
        }
        #expect(try a.sync().error != nil)
        a.intercept = { _ in nil }
        let b = try device(2)
        try settle([a, b])
        #expect(a.uploads.count == 1 && a.downloads == 0)
        #expect(try a.mirrored.conflicts().isEmpty)
        #expect(try title(b) == text("old"))
    }

    @Test func anEditMadeWhileItsValueIsUploadedIsNotLost() throws {
        let (a, b) = (try device(1), try device(2))
        let note = try a.insert("Note", ["title": text("first")])
        var edits = [text("third"), text("second")]
        a.interceptUpload = { _ in
            if let value = edits.popLast() { try a.set(note, "title", value) }
        }
        try settle([a, b])
        #expect(edits.isEmpty)
        #expect(try title(b) == text("third"))
        #expect(a.uploads.count == 1)
    }

    @Test func whatWasUploadedStandsWhenTheProcessDies() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("assets-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("a.sqlite")
        do {
            let a = try Device(1, service, file: file, assetsAbove: 100)
            try a.insert("Note", ["title": text("old")])
            a.intercept = { request in
                guard case .modifyRecords = request else { return nil }
                throw MirrorError(.stopped, "killed")
            }
            #expect(try a.sync().error != nil)
            #expect(a.uploads == ["CD_title_ckAsset"])
        }
        let again = try Device(1, service, file: file, assetsAbove: 100)
        let b = try device(2)
        try settle([again, b])
        #expect(again.uploads.isEmpty)
        #expect(try title(b) == text("old"))
    }

    @Test func aReceiptThatTheServiceForgotIsRenewed() throws {
        let clock = VirtualClock()
        var limits = ServiceLimits()
        limits.assets.receiptSeconds = 60
        let service = try SimulatedService(
            platform: Environment(
                clock: clock, randomness: SeededRandomness(seed: 78), faults: NoFaults()),
            limits: limits)
        let a = try Device(1, service, assetsAbove: 100)
        try a.insert("Note", ["title": text("old")])
        var waits = 2
        a.intercept = { request in
            if case .modifyRecords = request, waits > 0 {
                waits -= 1
                clock.advance(seconds: 61)
            }
            return nil
        }
        #expect(try a.sync().isInSync)
        #expect(a.uploads.count == 3)
        let b = try Device(2, service, assetsAbove: 100)
        try settle([b])
        #expect(try title(b) == text("old"))
    }

    @Test func aDownloadThatBreaksOffIsTriedAgainInTheRound() throws {
        let (a, b) = (try device(1), try device(2))
        try a.insert("Note", ["title": text("old")])
        try a.sync()
        var breaks = 1
        b.interceptDownload = { _ in
            breaks -= 1
            if breaks >= 0 { throw RecordError(.tryAgainLater, "broken off") }
        }
        #expect(try b.sync().isInSync)
        #expect(b.downloads == 2)
        #expect(try title(b) == text("old"))
    }

    /// What waits beside the store since an earlier round may have been damaged meanwhile.
    @Test func aContentThatWasDamagedOnTheDiskIsFetchedAnew() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("assets-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("b.sqlite")
        let waiting = SupportFolder.beside(file).appendingPathComponent("DiptychAssets")
        try FileManager.default.createDirectory(at: waiting, withIntermediateDirectories: true)
        let (a, b) = (try device(1), try Device(2, service, file: file, assetsAbove: 100))
        try a.insert("Note", ["title": text("old")])
        try a.sync()
        let asset = try #require(try record().fields["CD_title_ckAsset"] ?? nil)
        guard case .asset(let asset) = asset, let checksum = asset.fileChecksum,
            let digest = Data(base64Encoded: checksum)
        else {
            Issue.record("The title is no asset: \(asset)")
            return
        }
        try Data(repeating: 0, count: 400).write(
            to: waiting.appendingPathComponent(digest.hexadecimal))
        try settle([b, a])
        #expect(b.downloads == 1 && b.uploads.isEmpty)
        #expect(try title(a) == text("old") && title(b) == text("old"))
    }

    @Test func aContentThatNeverComesHoldsUpItsRecordAlone() throws {
        let (a, b) = (try device(1), try device(2))
        try a.insert("Note", ["title": text("old")])
        try a.insert("Note", ["title": .text("small")])
        try a.sync()
        b.interceptDownload = { _ in throw RecordError(.tryAgainLater, "broken off") }
        _ = try b.sync()
        #expect(try b.rows("Note").count == 1)
        #expect(try b.mirrored.status()?.keptForLater.map(\.reason) == [.missingAsset])
        #expect(try b.mirrored.status()?.isInSync == false)
        b.interceptDownload = { _ in }
        #expect(try b.sync().isInSync)
        #expect(try b.rows("Note").count == 2)
        #expect(try b.mirrored.status()?.isInSync == true)
    }

    @Test func theLargestValuesMakeRoomAndSmallOnesStay() throws {
        let a = try Device(1, service, assetsAbove: 1_000) {
            $0.sizes.recordBytesMax = 600
        }
        let tag = try a.insert("Tag", ["label": text("tag")])
        let folder = try a.insert("Folder", ["name": .text(String(repeating: "n", count: 590))])
        let split = AssetSplit(settings: a.mirrored.settings)
        var fields: RecordFields = ["CD_label": .string(String(repeating: "x", count: 9))]
        var base = Record(recordName: "r", recordType: "CD_Tag")
        base.fields["CD_other"] = .string(String(repeating: "y", count: 700))
        // Too small to make room for what is large beside it.
        #expect(split.split(&fields, of: try a.layout("Tag"), upon: base).isEmpty)
        fields["CD_label"] = .string(String(repeating: "x", count: 300))
        #expect(
            split.split(&fields, of: try a.layout("Tag"), upon: base).map(\.field) == [
                "CD_label_ckAsset"
            ])
        try a.sync()
        #expect(a.uploads.isEmpty)
        #expect(try a.value(tag, "label") == text("tag"))
        #expect(try a.value(folder, "name") != .null)
    }

    /// Who only reads another's zone gets no address to upload to.
    @Test func whoMayUploadNothingIsRefusedRecordByRecord() throws {
        let (a, b) = (try device(1), try device(2))
        try a.insert("Note", ["title": .text("small")])
        try settle([a, b])
        let note = try b.only("Note")
        b.intercept = { request in
            guard case .uploadAssets = request else { return nil }
            throw RecordError(.accessDenied, "The share is open to you for reading only.")
        }
        try b.set(note, "title", text("mine"))
        try b.insert("Note", ["title": text("new")])
        try b.insert("Folder", ["name": .text("f")])
        #expect(try b.sync().error == nil)
        #expect(try b.mirrored.status()?.refusals.count == 2)
        #expect(try b.mirrored.refusedEdits().map(\.row) == [note])
        // The others go on, and the edit can be taken back.
        try a.sync()
        #expect(try a.rows("Folder").count == 1)
        #expect(try title(a) == .text("small"))
        #expect(try b.mirrored.restoreRefusedEdits().map(\.row) == [note])
        #expect(try b.value(note, "title") == .text("small"))
        #expect(try b.mirrored.status()?.refusals.count == 1)
    }

    // MARK: Merging

    static let sides: [(MergeRule, String)] = [
        (.local, "b"), (.overwrite, "b"), (.remote, "a"), (.rollback, "a"), (.latest, "b"),
        (.max, "b"), (.min, "a"), (.text, "b"), (.set, "b"), (.counter, "b"),
    ]

    @Test(arguments: sides.indices)
    func aConflictIsSettledByItsRuleAndTheLoserIsInTheLog(case index: Int) throws {
        let (rule, winner) = Self.sides[index]
        var policy = MergePolicy()
        policy.standard = rule
        let (a, b) = (try device(1, policy: policy), try device(2, policy: policy))
        try a.insert("Cover", ["image": .data(Data(repeating: 1, count: 500))])
        try settle([a, b])
        let (ours, theirs) = (Data(repeating: 2, count: 500), Data(repeating: 3, count: 500))
        try a.set(a.only("Cover"), "image", .data(ours))
        a.clock.advance(seconds: 10)
        b.clock.advance(seconds: 20)
        try b.set(b.only("Cover"), "image", .data(theirs))
        try settle([a, b])
        let images = try [a, b].map { try $0.value($0.only("Cover"), "image") }
        #expect(images[0] == images[1])
        let settled = [AttributeValue.data(ours), .data(theirs)]
        #expect(settled.contains(images[0] ?? .null), "under \(rule.name)")
        if ["local", "overwrite", "remote", "rollback", "latest"].contains(rule.name) {
            #expect(images[0] == (winner == "a" ? .data(ours) : .data(theirs)), "\(rule.name)")
        }
        let line = try #require(try b.mirrored.conflicts().first { $0.property == "image" })
        #expect(line.local == .bytes(theirs) && line.remote == .bytes(ours))
        let loser: ConflictSide = images[0] == .data(ours) ? .local : .remote
        try b.mirrored.resolve(conflict: line.id, taking: loser)
        try settle([b, a])
        #expect(try a.value(a.only("Cover"), "image") == settled.first { $0 != images[0] })
    }

    @Test func equalValuesOfTwoDevicesAreNoConflict() throws {
        let (a, b) = try pair()
        try a.set(a.only("Note"), "title", text("same"))
        try b.set(b.only("Note"), "title", text("same"))
        try settle([a, b])
        #expect(try a.mirrored.conflicts().isEmpty && b.mirrored.conflicts().isEmpty)
        #expect(b.downloads == 1)
    }

    @Test func theBaseOfAnAssetIsNotPutBack() throws {
        let (a, b) = try pair()
        try a.set(a.only("Note"), "title", text("a"))
        try b.set(b.only("Note"), "title", text("b"))
        try settle([a, b])
        let line = try #require(try b.mirrored.conflicts().first)
        #expect(throws: MirrorError.self) {
            try b.mirrored.resolve(conflict: line.id, taking: .base)
        }
        #expect(try title(b) == text("b"))
    }

    @Test func textsThatAreMergedStayInTheirRecord() throws {
        var policy = MergePolicy()
        policy.set(.text, entity: "Note", property: "title")
        let (a, b) = try pair(policy: policy)
        #expect(a.uploads.isEmpty)
        guard case .text(let old)? = try title(a) else { throw Missing(name: "title") }
        try a.set(a.only("Note"), "title", .text("begin " + old))
        try b.set(b.only("Note"), "title", .text(old + "end"))
        try settle([a, b])
        #expect(try title(a) == .text("begin " + old + "end"))
    }

    @Test func aDecisionThatWaitsKeepsItsLargeValue() throws {
        var policy = MergePolicy()
        policy.standard = .error
        let (a, b) = try pair(policy: policy)
        try a.set(a.only("Note"), "title", text("a"))
        try b.set(b.only("Note"), "title", text("b"))
        try settle([a, b])
        #expect(try title(b) == text("b"))
        let line = try #require(try b.mirrored.conflicts(waitingOnly: true).first)
        try b.mirrored.resolve(conflict: line.id, taking: .remote)
        try settle([b, a])
        #expect(try title(a) == text("a") && title(b) == text("a"))
    }

    // MARK: Deletion

    @Test func anEditedAssetComesBackFromTheLogOfWhoLostIt() throws {
        let (a, b) = try pair()
        try a.delete(a.only("Note"))
        try a.sync()
        try b.set(b.only("Note"), "title", text("edited"))
        try settle([b, a])
        let line = try #require(try b.mirrored.conflicts().first { $0.property == "title" })
        try b.mirrored.restore(objectOfConflict: line.id)
        try settle([b, a])
        #expect(try title(a) == text("edited"))
    }

    @Test func anAssetThatWasEditedElsewhereComesBackFromTheLogOfWhoDeletedIt() throws {
        let (a, b) = try pair()
        try b.set(b.only("Note"), "title", text("edited"))
        try b.sync()
        try a.delete(a.only("Note"))
        try settle([a, b])
        let line = try #require(try a.mirrored.conflicts().first { $0.property == "title" })
        #expect(line.remote == .string(String(repeating: "edited ", count: 100)))
        try a.mirrored.restore(objectOfConflict: line.id)
        try settle([a, b])
        #expect(try title(b) == text("edited"))
    }

    /// The content of an edit that meets a deletion does not come for a while: the deletion waits
    /// for it, since it belongs into the log, and can be taken back until then.
    @Test(arguments: [false, true])
    func aDeletionWaitsForTheContentOfWhatItMeets(isTakenBack: Bool) throws {
        let (a, b) = try pair()
        try b.set(b.only("Note"), "title", text("edited"))
        try b.sync()
        let row = try #require(try a.store.row(a.only("Note")))
        try a.delete(row.id)
        a.interceptDownload = { _ in throw RecordError(.tryAgainLater, "broken off") }
        for _ in 0..<2 { _ = try a.sync() }
        let status = try #require(try a.mirrored.status())
        #expect(!status.isInSync && status.refusedDeletions.isEmpty)
        #expect(status.keptForLater.map(\.reason) == [.missingAsset])
        #expect(try record().deleted == false)
        if isTakenBack {
            var changes = ChangeSet()
            changes.inserts = [row]
            _ = try a.store.save(changes)
            _ = try a.sync()
        }
        a.interceptDownload = { _ in }
        try settle([a, b], inSync: true)
        if !isTakenBack {
            let line = try #require(try a.mirrored.conflicts().first { $0.property == "title" })
            #expect(try a.rows("Note").isEmpty && b.rows("Note").isEmpty)
            try a.mirrored.restore(objectOfConflict: line.id)
            try settle([a, b])
        }
        #expect(try title(a) == text("edited") && title(b) == text("edited"))
    }

    /// What the service has no more holds up no deletion.
    @Test func aDeletionDoesNotWaitForAContentThatIsGone() throws {
        let (a, b) = try pair()
        try b.set(b.only("Note"), "title", text("edited"))
        try b.sync()
        try a.delete(a.only("Note"))
        a.interceptDownload = { _ in throw RecordError(.notFound, "The asset is gone.") }
        try settle([a, b], inSync: true)
        #expect(try a.rows("Note").isEmpty && b.rows("Note").isEmpty)
        #expect(try a.mirrored.conflicts().map(\.property) == ["title"])
    }

    @Test func anObjectThatIsKeptIsMadeAnewWithItsAssets() throws {
        var policy = MergePolicy()
        policy.deletion = .keepEdited
        let (a, b) = try pair(policy: policy)
        try a.delete(a.only("Note"))
        try a.sync()
        try b.set(b.only("Note"), "rating", .double(3))
        try settle([b, a])
        #expect(try title(a) == text("old") && title(b) == text("old"))
    }
}
