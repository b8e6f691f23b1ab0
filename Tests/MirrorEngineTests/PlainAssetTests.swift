import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteStore
import Stores
import Testing

/// A service of the plain dialect names contents in a way of its own, and takes no asset that was
/// not uploaded.
@Suite struct PlainAssetTests {
    private let service: SimulatedService

    init() throws { service = try Device.service(.plain) }

    private func device(_ seed: UInt64) throws -> Device {
        try Device(seed, service, assetsAbove: 100)
    }

    /// Its notes have a second text.
    private func widerDevice(_ seed: UInt64) throws -> Device {
        let model = SampleModel.make()
        model.entitiesByName["Note"]?.properties += [
            SampleModel.attribute("subtitle", .stringAttributeType)
        ]
        return try Device(seed, service, model: model, assetsAbove: 100)
    }

    private func text(_ word: String) -> AttributeValue {
        .text(String(repeating: "\(word) ", count: 100))
    }

    private func title(_ device: Device) throws -> AttributeValue? {
        try device.value(device.only("Note"), "title")
    }

    private func pair() throws -> (Device, Device) {
        let (a, b) = (try device(1), try device(2))
        try a.insert("Note", ["title": text("old"), "views": .integer(1)])
        try settle([a, b])
        return (a, b)
    }

    private static let laws: [@Sendable (AssetTests) throws -> Void] = [
        { try $0.aLargeValueIsAnAssetFieldAndASmallOneIsNot() },
        { try $0.anEditOfAnotherPropertySendsNoAsset() },
        { try $0.aLostAnswerSendsNothingTwiceAndIsNoConflict() },
        { try $0.anEditMadeWhileItsValueIsUploadedIsNotLost() },
        { try $0.whatWasUploadedStandsWhenTheProcessDies() },
        { try $0.aDownloadThatBreaksOffIsTriedAgainInTheRound() },
        { try $0.aContentThatNeverComesHoldsUpItsRecordAlone() },
        { try $0.theBaseOfAnAssetIsNotPutBack() },
        { try $0.aDecisionThatWaitsKeepsItsLargeValue() },
        { try $0.anEditedAssetComesBackFromTheLogOfWhoLostIt() },
        { try $0.aDeletionWaitsForTheContentOfWhatItMeets(isTakenBack: false) },
        { try $0.aDeletionWaitsForTheContentOfWhatItMeets(isTakenBack: true) },
        { try $0.aDeletionDoesNotWaitForAContentThatIsGone() },
        { try $0.anObjectThatIsKeptIsMadeAnewWithItsAssets() },
    ]

    /// What holds of assets holds with a plain service, too.
    @Test(arguments: laws.indices)
    func asWithExtensions(law: Int) throws { try Self.laws[law](AssetTests(.plain)) }

    @Test(arguments: AssetTests.sides.indices)
    func conflictsAreSettledByTheirRules(case index: Int) throws {
        try AssetTests(.plain).aConflictIsSettledByItsRuleAndTheLoserIsInTheLog(case: index)
    }

    @Test func theServiceTellsNoDigest() throws {
        let (a, _) = try pair()
        let lookup = LookupRecords(
            recordNames: [try #require(try a.mirrored.recordName(of: a.only("Note")))],
            zoneID: a.mirrored.settings.zoneID)
        guard
            case .records(let reply) = try service.handle(.lookupRecords(lookup), from: "other"),
            case .record(let record)? = reply.results.first,
            case .asset(let asset)?? = record.fields["CD_title_ckAsset"]
        else { throw Missing(name: "asset") }
        #expect(Data(base64Encoded: asset.fileChecksum ?? "")?.count == 21 && asset.size == 400)
    }

    /// Its own write comes back under the service's name for it, and so does every later version.
    @Test func aKnownContentIsNotFetchedAgain() throws {
        let (a, b) = try pair()
        try b.set(b.only("Note"), "views", .integer(2))
        try settle([b, a])
        try a.set(a.only("Note"), "views", .integer(3))
        try settle([a, b])
        #expect(a.downloads == 0 && b.downloads == 1)
        #expect(a.uploads.count == 1 && b.uploads.isEmpty)
        #expect(try title(a) == text("old") && title(b) == text("old"))
        // Nor is the same content of another object, which it was told of before.
        try a.insert("Note", ["title": text("old")])
        try settle([a, b])
        #expect(try b.rows("Note").count == 2 && a.uploads.count == 1)
    }

    /// What was never told to another stands under a name that is new to it.
    @Test func equalValuesOfTwoDevicesAreNoConflict() throws {
        let (a, b) = try pair()
        for device in [a, b] { try device.set(device.only("Note"), "title", text("same")) }
        try settle([a, b])
        #expect(try a.mirrored.conflicts().isEmpty && b.mirrored.conflicts().isEmpty)
        #expect(try title(a) == text("same") && title(b) == text("same"))
    }

    /// What is uploaded is kept, and no record sent.
    private func dieBeforeSending(_ device: Device) throws {
        device.intercept = { request in
            guard case .modifyRecords = request else { return nil }
            throw MirrorError(.stopped, "killed")
        }
        _ = try device.sync()
    }

    /// So many requests are refused whole; the next ones go to the service.
    private final class Refusals {
        var left: Int

        init(_ count: Int, of device: Device) {
            left = count
            device.intercept = { [self] request in
                guard case .modifyRecords(let modify) = request, left > 0 else { return nil }
                left -= 1
                return .records(
                    RecordsReply(
                        results: modify.operations.map {
                            .failure(
                                RecordError(
                                    .badRequest, "invalid receipt",
                                    recordName: $0.record.recordName))
                        }))
            }
        }
    }

    /// It says no more than that the request is bad.
    @Test func anUploadThatTheServiceForgotIsMadeAgain() throws {
        let a = try device(1)
        try a.insert("Note", ["title": text("old")])
        try dieBeforeSending(a)
        let refusals = Refusals(1, of: a)
        let b = try device(2)
        try settle([a, b])
        #expect(a.uploads.count == 2)
        #expect(try title(b) == text("old"))
        // What is refused again may be refused for another reason, and is not sent for ever.
        refusals.left = 10
        try a.set(a.only("Note"), "title", text("new"))
        try a.sync()
        #expect(refusals.left == 8 && a.uploads.count == 4)
        let refused = try #require(try a.mirrored.status()).refusals
        #expect(refused.count == 1)
        #expect(refused.first?.reason.hasPrefix("ASSET_REFUSED: ") == true)
        #expect(refused.first?.reason.hasSuffix("in an hour. It says: invalid receipt") == true)
        // Nor is it given up: the service may have lost the uploads twice.
        refusals.left = 0
        try a.sync()
        #expect(try a.mirrored.status()?.refusals.count == 1)
        a.clock.advance(seconds: 3_601)
        try settle([a, b])
        #expect(try a.mirrored.status()?.refusals.isEmpty == true && title(b) == text("new"))
    }

    /// One content of two records is uploaded anew once; the other of one of them is, too.
    @Test func aContentThatTwoRecordsHaveHoldsUpNoOther() throws {
        let (a, b) = (try widerDevice(1), try widerDevice(2))
        try a.insert("Note", ["title": text("shared")])
        try a.insert("Note", ["title": text("shared"), "subtitle": text("own")])
        try dieBeforeSending(a)
        #expect(a.uploads.filter { $0.hasPrefix("CD_subtitle") }.count == 1)
        // The service has lost all, and refuses both once more.
        let refusals = Refusals(2, of: a)
        try a.sync()
        #expect(refusals.left == 0)
        #expect(a.uploads.filter { $0.hasPrefix("CD_subtitle") }.count == 2)
        #expect(try a.mirrored.status()?.refusals.count == 1)
        try b.sync()
        #expect(try b.value(b.only("Note"), "subtitle") == text("own"))
        a.clock.advance(seconds: 3_601)
        try settle([a, b])
        #expect(try b.rows("Note").count == 2)
    }

    @Test func aServiceThatTakesNoAssetsHoldsUpLargeValuesAlone() throws {
        let a = try device(1)
        for index in 0..<3 { try a.insert("Note", ["title": text("\(index)")]) }
        try a.insert("Tag", ["label": .text("x")])
        a.intercept = { request in
            guard case .uploadAssets = request else { return nil }
            throw RecordError(.badRequest, "no such operation")
        }
        #expect(try a.sync().error == nil)
        #expect(try service.records(inZone: a.mirrored.settings.zoneName).count == 1)
        #expect(try #require(try a.mirrored.status()).refusals.count == 3)
    }

    /// A value that an older model does not know cannot be sent in the place of who has it.
    @Test func whatWasNeverHereWaitsForWhoHasIt() throws {
        let old = try device(1)
        let later = SampleModel.make()
        later.entitiesByName["Note"]?.properties += [
            SampleModel.attribute("image", .binaryDataAttributeType)
        ]
        let new = try Device(2, service, model: later, assetsAbove: 100)
        let image = AttributeValue.data(Data(repeating: 7, count: 500))
        try new.insert("Note", ["title": text("a"), "image": image])
        try settle([new, old])
        let zone = ZoneOperation(.delete, old.mirrored.settings.zoneID)
        _ = try service.handle(.modifyZones([zone]), from: "another")
        try old.set(old.only("Note"), "title", text("b"))
        try old.insert("Tag", ["label": .text("x")])
        #expect(try old.sync().error == nil)
        #expect(try service.records(inZone: old.mirrored.settings.zoneName).count == 1)
        try settle([new, old])
        for device in [new, old] {
            #expect(try device.rows("Tag").count == 1)
            #expect(try title(device) == text("b"))
        }
        #expect(try new.value(new.only("Note"), "image") == image)
    }
}
