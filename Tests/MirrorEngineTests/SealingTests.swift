import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Attributes with `allowsCloudEncryption` travel sealed, and what the service does to them is
/// noticed.
@Suite final class SealingTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("sealing-\(UUID().uuidString)")
    let host: ServiceHost
    let keys: SealingKeys
    private let zone = "com.apple.coredata.cloudkit.zone"

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        host = try ServiceHost(in: folder)
        keys = try SealingKeys([Self.key(1)])
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private static func key(_ byte: UInt8) throws -> SealingKey {
        try SealingKey(secret: Data(repeating: byte, count: 32))
    }

    private static func model(unique: Bool = false) -> NSManagedObjectModel {
        let model = SampleModel.make()
        for name in ["title", "edited", "price"] {
            model.entitiesByName["Note"]?.attributesByName[name]?.allowsCloudEncryption = true
        }
        model.entitiesByName["Tag"]?.attributesByName["label"]?.allowsCloudEncryption = unique
        if unique { model.entitiesByName["Tag"]?.uniquenessConstraints = [["label"]] }
        return model
    }

    private func device(
        _ seed: UInt64, _ keys: SealingKeys?, unique: Bool = false, file: URL? = nil
    ) throws -> Device {
        try Device(
            seed, host.service, model: Self.model(unique: unique), file: file, keys: keys)
    }

    private func title(_ device: Device) throws -> AttributeValue? {
        try device.value(device.only("Note"), "title")
    }

    private func record() throws -> Record {
        let records = try host.service.records(inZone: zone)
        return try #require(records.values.first { $0.recordType == "CD_Note" })
    }

    /// Writes fields over the note's record as the service, or who holds it, could.
    private func tamper(_ fields: RecordFields) throws {
        var record = try record()
        record.fields = fields
        let modify = ModifyRecords(
            operations: [RecordOperation(.forceUpdate, record)], zoneID: ZoneID(zoneName: zone))
        _ = try host.service.handle(.modifyRecords(modify), from: "somebody")
    }

    // MARK: On the way

    @Test func theServiceNeverSeesAValueAndTheOtherDeviceDoes() throws {
        let (a, b) = (try device(1, keys), try device(2, keys))
        let date = AttributeValue.date(700_000_000.123456)
        let price = AttributeValue.decimal(Decimal(string: "1.23456789012345678901") ?? 0)
        try a.insert("Note", ["title": .text("secret"), "edited": date, "price": price])
        try settle([a, b])
        for name in ["title", "edited", "price"] {
            #expect(try b.value(b.only("Note"), name) == a.value(a.only("Note"), name))
        }
        let record = try record()
        for name in ["CD_title", "CD_edited", "CD_price"] {
            guard case .bytes(let data)?? = record.fields[name] else { throw Missing(name: name) }
            #expect(data.range(of: Data("secret".utf8)) == nil)
        }
        #expect(record.fields["CD_edited_exact"] == nil)
        // Cleared values are cleared.
        try b.set(b.only("Note"), "title", .null)
        try settle([b, a])
        #expect(try title(a) == .null)
    }

    @Test func equalValuesThatWereSealedTwiceAreNoConflictAndNothingIsSentAgain() throws {
        let (a, b) = (try device(1, keys), try device(2, keys))
        let note = try a.insert("Note", ["title": .text("old")])
        try settle([a, b])
        try a.set(note, "title", .text("same"))
        try b.set(b.only("Note"), "title", .text("same"))
        try settle([a, b])
        #expect(try a.mirrored.conflicts().isEmpty && b.mirrored.conflicts().isEmpty)
        let before = try record().fields["CD_title"]
        try a.set(note, "title", .text("same"))
        try settle([a, b])
        #expect(try record().fields["CD_title"] == before)
        // Another value and back is another seal of the same value.
        try a.set(note, "title", .text("other"))
        try settle([a, b])
        try a.set(note, "title", .text("same"))
        try settle([a, b])
        #expect(try record().fields["CD_title"] != before)
        #expect(try title(b) == .text("same"))
    }

    @Test func conflictsAreMergedByTheRulesAndLoggedOpenly() throws {
        let (a, b) = (try device(1, keys), try device(2, keys))
        let note = try a.insert("Note", ["title": .text("old")])
        try settle([a, b])
        try a.set(note, "title", .text("from a"))
        try b.set(b.only("Note"), "title", .text("from b"))
        try settle([a, b])
        #expect(try title(a) == .text("from b") && title(b) == .text("from b"))
        let line = try #require(try b.mirrored.conflicts().first)
        #expect(line.local == .string("from b") && line.remote == .string("from a"))
        #expect(line.base == .string("old"))
    }

    @Test func uniqueKeysWorkOnSealedValues() throws {
        let (a, b) = (try device(1, keys, unique: true), try device(2, keys, unique: true))
        try a.insert("Tag", ["label": .text("k")])
        try b.insert("Tag", ["label": .text("k")])
        try settle([a, b])
        #expect(try a.rows("Tag").count == 1 && b.rows("Tag").count == 1)
    }

    @Test func copiesOfAStoreKnowAnEditThatBothSealed() throws {
        let file = folder.appendingPathComponent("one.sqlite")
        let copy = folder.appendingPathComponent("two.sqlite")
        do {
            let one = try device(1, keys, file: file)
            try one.insert("Note", ["title": .text("old")])
            try one.sync()
            try one.set(one.only("Note"), "title", .text("new"))
        }
        for suffix in ["", "-wal"]
        where FileManager.default.fileExists(atPath: file.path + suffix) {
            try FileManager.default.copyItem(
                atPath: file.path + suffix, toPath: copy.path + suffix)
        }
        let one = try device(2, keys, file: file)
        let two = try device(3, keys, file: copy)
        try settle([one, two])
        #expect(try one.mirrored.conflicts().isEmpty && two.mirrored.conflicts().isEmpty)
        #expect(try title(two) == .text("new"))
    }

    // MARK: Tampering

    @Test func aValueThatWasChangedOrMovedIsPutAsideAndNothingIsOverwritten() throws {
        let (a, b) = (try device(1, keys), try device(2, keys))
        let note = try a.insert("Note", ["title": .text("first"), "edited": .date(1)])
        try settle([a, b])
        guard case .bytes(let old)?? = try record().fields["CD_title"] else {
            throw Missing(name: "title")
        }
        var flipped = Data(old)
        flipped[flipped.count - 20] ^= 1
        let edited = try record().fields["CD_edited"] ?? nil
        for bad: FieldValue in [
            .bytes(flipped), .bytes(Data("plain".utf8)), .bytes(old.dropLast()),
            try #require(edited),
        ] {
            try tamper(["CD_title": bad])
            try settle([b])
            #expect(try title(b) == .text("first"))
            let status = try #require(try b.mirrored.status())
            #expect(status.keptForLater.map(\.reason) == [.unreadableField])
            #expect(status.refusals.count == 1)
            #expect(try record().fields["CD_title"] == bad)
        }
        // Whoever has the right value puts it right.
        try tamper(["CD_title": .bytes(old)])
        try a.set(note, "rating", .double(2))
        try settle([a, b])
        #expect(try title(b) == .text("first"))
        #expect(try b.mirrored.status()?.keptForLater.isEmpty == true)
    }

    // MARK: Without the key

    @Test func aDeviceWithoutTheKeyShowsNothingAndSendsNoBlank() throws {
        let (a, b) = (try device(1, keys), try device(2, nil))
        let note = try a.insert("Note", ["title": .text("secret"), "rating": .double(1)])
        try settle([a, b])
        #expect(try title(b) == .null)
        #expect(try b.value(b.only("Note"), "rating") == .double(1))
        let sealed = try record().fields["CD_title"]
        try b.set(b.only("Note"), "rating", .double(5))
        try settle([b, a])
        #expect(try a.value(note, "rating") == .double(5) && title(a) == .text("secret"))
        #expect(try record().fields["CD_title"] == sealed)
        // An edit of its own waits, and holds nothing else up.
        try b.set(b.only("Note"), "title", .text("unseen"))
        try b.insert("Folder", ["name": .text("f")])
        try settle([b, a])
        #expect(try record().fields["CD_title"] == sealed)
        #expect(try a.rows("Folder").count == 1)
        #expect(try b.mirrored.status()?.refusals.count == 1)
    }

    @Test func whatAServiceLostComesBackSealedFromADeviceWithoutTheKey() throws {
        let (a, b) = (try device(1, keys), try device(2, nil))
        try a.insert("Note", ["title": .text("secret")])
        try settle([a, b])
        let sealed = try record().fields["CD_title"]
        try host.service.lose()
        try settle([b])
        #expect(try record().fields["CD_title"] == sealed)
        try settle([a])
        #expect(try title(a) == .text("secret"))
    }

    @Test func aKeyThatComesLaterOpensWhatWasKept() throws {
        let file = folder.appendingPathComponent("b.sqlite")
        let a = try device(1, keys)
        let note = try a.insert("Note", ["title": .text("secret"), "edited": .date(5)])
        do {
            let b = try device(2, nil, file: file)
            try settle([a, b])
            try b.set(b.only("Note"), "title", .text("of b"))
            try settle([b])
        }
        let b = try device(3, keys, file: file)
        try settle([b, a])
        #expect(try b.value(b.only("Note"), "edited") == .date(5))
        // What was written without seeing the value is a conflict, in the log.
        #expect(try title(a) == .text("of b") && a.value(note, "edited") == .date(5))
        let line = try #require(try b.mirrored.conflicts().first)
        #expect(line.rule == "key" && line.remote == .string("secret"))
    }

    /// It comes back blank, as it was before the key came; what it lacks is brought in then. Where
    /// its deletion was sent it goes on under another name.
    @Test(arguments: [false, true], [false, true])
    func aKeyOpensWhatWasDeletedWhenItCame(isSent: Bool, isKeptBefore: Bool) throws {
        let file = folder.appendingPathComponent("b.sqlite")
        func device(_ seed: UInt64, _ keys: SealingKeys?, file: URL? = nil) throws -> Device {
            try Device(
                seed, host.service, model: Self.model(),
                policy: MergePolicy(deletion: .keepEdited), file: file, keys: keys)
        }
        let a = try device(1, keys)
        try a.insert("Note", ["title": .text("secret"), "edited": .date(5)])
        let row: Row
        do {
            let b = try device(2, nil, file: file)
            try settle([a, b])
            if isKeptBefore {
                try a.delete(a.only("Note"))
                try settle([a])
                try b.set(b.only("Note"), "views", .integer(1))
                // The deletion comes, and the object is kept; it does not go out.
                b.refuseAll(.tryAgainLater, "not now")
                _ = try b.sync()
                b.intercept = { _ in nil }
            }
            row = try #require(try b.store.row(b.only("Note")))
            try b.delete(row.id)
            if isSent { try settle([b]) }
        }
        let b = try device(3, keys, file: file)
        _ = try b.mirrored.prepare(container: "test")
        var changes = ChangeSet()
        changes.inserts = [row]
        _ = try b.store.save(changes)
        try settle([b, a, b])
        for device in [a, b] {
            #expect(try title(device) == .text("secret"))
            #expect(try device.value(device.only("Note"), "edited") == .date(5))
        }
        #expect(try a.mirrored.conflicts(waitingOnly: true).isEmpty)
        #expect(try b.sync().exported == 0)
    }

    /// Under `latest` the later of the two stays, whoever could see the other.
    @Test(arguments: [true, false])
    func anUnseenEditUnderLatestYieldsToALaterOne(isLater: Bool) throws {
        let file = folder.appendingPathComponent("b.sqlite")
        func device(_ seed: UInt64, _ keys: SealingKeys?, file: URL? = nil) throws -> Device {
            try Device(
                seed, host.service, model: Self.model(), policy: MergePolicy(standard: .latest),
                file: file, keys: keys)
        }
        let a = try device(1, keys)
        let note = try a.insert("Note", ["title": .text("first")])
        do {
            let b = try device(2, nil, file: file)
            try settle([a, b])
            b.clock.advance(seconds: isLater ? 20 : 5)
            try b.set(b.only("Note"), "title", .text("of b"))
            try settle([b])
            a.clock.advance(seconds: 10)
            try a.set(note, "title", .text("of a"))
            try settle([a, b])
            #expect(try title(b) == .text("of b"))
        }
        let b = try device(3, keys, file: file)
        b.clock.advance(seconds: 60)
        try settle([b, a])
        let later = AttributeValue.text(isLater ? "of b" : "of a")
        #expect(try title(a) == later && title(b) == later)
        let line = try #require(try b.mirrored.conflicts().first { $0.property == "title" })
        #expect(line.rule == "latest" && line.winner == (isLater ? "local" : "remote"))
        #expect(line.local == .string("of b") && line.remote == .string("of a"))
    }

    @Test func aStoreWhoseKeyIsGivenNoMoreDoesNotSync() throws {
        let file = folder.appendingPathComponent("a.sqlite")
        do {
            let a = try device(1, keys, file: file)
            try a.insert("Note", ["title": .text("secret")])
            try a.sync()
        }
        let error = #expect(throws: MirrorError.self) {
            try self.device(2, nil, file: file).mirrored.prepare(container: "test")
        }
        #expect(error?.code == .keyMissing)
        #expect(error?.message.contains(keys.keys[0].description) == true)
    }

    /// Values may be under each of the keys, and a former copy of the file has only some.
    @Test func allKeysThatAreNotGivenAreNamed() throws {
        let file = folder.appendingPathComponent("a.sqlite")
        let rotated = try SealingKeys([Self.key(1), Self.key(2), Self.key(3)])
        do {
            let a = try device(1, rotated, file: file)
            try a.insert("Note", ["title": .text("secret")])
            try a.sync()
        }
        let error = #expect(throws: MirrorError.self) {
            try self.device(2, SealingKeys([Self.key(2)]), file: file).mirrored
                .prepare(container: "test")
        }
        let lost = [rotated.keys[0].description, rotated.keys[2].description]
        #expect(error?.code == .keyMissing && error?.fields["key"] == lost[1])
        for key in lost { #expect(error?.message.contains(key) == true) }
        #expect(error?.message.contains(rotated.keys[1].description) == false)
    }

    // MARK: Rotation

    @Test func afterARotationOthersWaitForTheNewKeyAndOverwriteNothing() throws {
        let file = folder.appendingPathComponent("a.sqlite")
        let fileB = folder.appendingPathComponent("b.sqlite")
        var b: Device? = try device(2, keys, file: fileB)
        do {
            let a = try device(1, keys, file: file)
            try a.insert("Note", ["title": .text("old")])
            try settle([a, #require(b)])
        }
        let rotated = try SealingKeys(keys.keys + [Self.key(2)])
        let a = try device(3, rotated, file: file)
        try editUnseen(a, #require(b))
        b = nil
        let later = try device(4, rotated, file: fileB)
        try settle([later, a])
        #expect(try title(a) == .text("of b"))
        #expect(try later.mirrored.conflicts().contains { $0.remote == .string("new") })
    }

    /// Two devices with a note; `a` goes on with a key that `b` lacks.
    private func pairUnderNewerKey() throws -> (a: Device, b: Device) {
        let fileA = folder.appendingPathComponent("a.sqlite")
        let first = try device(1, keys, file: fileA)
        try first.insert("Note", ["title": .text("old")])
        let b = try device(2, keys, file: folder.appendingPathComponent("b.sqlite"))
        try settle([first, b])
        return (try device(3, rotated, file: fileA), b)
    }

    private var rotated: SealingKeys {
        get throws { try SealingKeys(keys.keys + [Self.key(2)]) }
    }

    /// The second of that pair once it has the key, too.
    private func laterB() throws -> Device {
        try device(4, rotated, file: folder.appendingPathComponent("b.sqlite"))
    }

    /// The clearing gave way to the newer value, and is put back from the log.
    private func putBackClearing(_ a: Device) throws {
        let b = try laterB()
        try settle([b, a])
        #expect(try title(a) == .text("new") && title(b) == .text("new"))
        let line = try #require(try b.mirrored.conflicts().first)
        try b.mirrored.resolve(conflict: line.id, taking: .local)
        try settle([b, a])
        #expect(try title(a) == .null && title(b) == .null)
    }

    /// What was cleared looks like what cannot be read: it gives way, and is in the log.
    @Test func aClearingThatMeetsANewerKeyIsLoggedAndCanBePutBack() throws {
        let a: Device
        do {
            let b: Device
            (a, b) = try pairUnderNewerKey()
            try a.set(a.only("Note"), "title", .text("new"))
            try settle([a])
            try b.set(b.only("Note"), "title", .null)
            try settle([b, a])
            let lines = try b.mirrored.conflicts()
            #expect(lines.map(\.rule) == ["key"] && lines.map(\.winner) == ["remote"])
            #expect(lines.first?.base == .string("old") && lines.first?.local == nil)
        }
        try putBackClearing(a)
    }

    /// The edit waits for the key in the row; once it is cleared, the row looks like one that
    /// nobody edited.
    @Test func anEditThatWaitsForItsKeyIsLoggedOnceItIsCleared() throws {
        let a: Device
        do {
            let b: Device
            (a, b) = try pairUnderNewerKey()
            try editUnseen(a, b)
            try b.set(b.only("Note"), "title", .null)
            try settle([b, a])
            let lines = try b.mirrored.conflicts()
            #expect(lines.map(\.rule) == ["key"] && lines.map(\.winner) == ["remote"])
            try settle([b, a])
            #expect(try b.mirrored.conflicts().count == 1)
        }
        try putBackClearing(a)
    }

    /// What a deletion lost was logged as it was sealed.
    @Test func theLogShowsAValueOnceItsKeyIsHere() throws {
        do {
            let (a, b) = try pairUnderNewerKey()
            try b.delete(b.only("Note"))
            try a.set(a.only("Note"), "title", .text("new"))
            try settle([a, b])
            let logged = try b.mirrored.conflicts().compactMap(\.remote)
            guard case .bytes? = logged.first else { throw Missing(name: "title") }
        }
        let b = try laterB()
        #expect(try b.mirrored.conflicts().compactMap(\.remote) == [.string("new")])
    }

    /// `a` seals under a key that `b` lacks, and `b` edits upon it.
    private func editUnseen(_ a: Device, _ b: Device) throws {
        #expect(try title(a) == .text("old"))
        try a.set(a.only("Note"), "title", .text("new"))
        try settle([a, b])
        #expect(try title(b) == .null)
        try b.set(b.only("Note"), "title", .text("of b"))
        try settle([b, a])
        #expect(try title(a) == .text("new"))
        #expect(try b.mirrored.status()?.refusals.count == 1)
    }

    @Test func aKeySealsNoMoreThanIsSafe() throws {
        let a = try device(1, keys)
        try a.sync()
        try a.insert("Note", ["title": .text("one")])
        let name = "DiptychSeals \(keys.keys[0])"
        try a.store.write { transaction in
            _ = try transaction.connection.run(
                "INSERT INTO ANSCKMETADATAENTRY (Z_ENT, Z_OPT, ZKEY, ZINTEGERVALUE) "
                    + "VALUES (17009, 1, ?, ?)", [.text(name), .integer(Sealer.sealsMax)])
        }
        let error = #expect(throws: MirrorError.self) { try a.mirrored.nextBatch() }
        #expect(error?.code == .keyWornOut)
    }

    // MARK: Key files

    @Test func aKeyFileGivesItsKeysToWhoKnowsThePassphrase() throws {
        let file = try KeyFile(wrapping: keys, passphrase: "correct horse")
        let read = try KeyFile(file.data)
        #expect(try read.open(passphrase: "correct horse") == keys)
        #expect(read.keyIDs == [keys.keys[0].description])
        let text = String(decoding: try file.data, as: UTF8.self)
        #expect(!text.contains(Data(repeating: 1, count: 32).base64EncodedString()))
        for passphrase in ["Correct horse", "", "correct horse "] {
            let error = #expect(throws: MirrorError.self) { try read.open(passphrase: passphrase) }
            #expect(error?.code == .keyRefused)
        }
        let rotated = try read.rotated(passphrase: "correct horse")
        #expect(rotated.keyIDs.count == 2 && rotated.keyIDs.first == read.keyIDs.first)
        let other = try rotated.rewrapped(from: "correct horse", to: "battery staple")
        #expect(try other.open(passphrase: "battery staple").keys.first == keys.keys[0])
        #expect(throws: MirrorError.self) { try other.open(passphrase: "correct horse") }
        #expect(throws: MirrorError.self) { try KeyFile(wrapping: self.keys, passphrase: "") }
        #expect(throws: MirrorError.self) { try SealingKey(secret: Data(count: 16)) }
        #expect(throws: MirrorError.self) { try SealingKeys([]) }
    }

    @Test func damagedAndHostileKeyFilesAreRefused() throws {
        let data = try KeyFile(wrapping: keys, passphrase: "p").data
        let text = String(decoding: data, as: UTF8.self)
        let hostile = [
            "", "{}", String(text.dropLast(9)), text.replacing("32768", with: "1073741824"),
            text.replacing("32768", with: "32767"),
            text.replacing("\"r\" : 8", with: "\"r\" : 999").replacing(
                "\"r\":8", with: "\"r\":999"),
        ]
        for text in hostile {
            #expect(throws: MirrorError.self) { try KeyFile(Data(text.utf8)) }
        }
        let id = try #require(keys.keys.first).id.base64EncodedString()
        let other = Data(repeating: 7, count: 8).base64EncodedString()
        let moved = try KeyFile(Data(text.replacing(id, with: other).utf8))
        #expect(throws: MirrorError.self) { try moved.open(passphrase: "p") }
    }
}
