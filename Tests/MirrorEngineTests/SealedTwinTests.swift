import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteStore
import Stores
import Testing

/// A device without the key discards nothing that only others can read.
@Suite struct SealedTwinTests {
    private let service: SimulatedService
    private let keys: SealingKeys
    private let zone = "com.apple.coredata.cloudkit.zone"
    private let token = AttributeValue.uuid(
        UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6)))

    init() throws {
        service = try Device.service()
        keys = try SealingKeys([Self.key(1)])
    }

    private static func key(_ byte: UInt8) throws -> SealingKey {
        try SealingKey(secret: Data(repeating: byte, count: 32))
    }

    /// Notes have an open unique key and a sealed title; `rule` is that of the title.
    private static func model(rule: String? = nil) -> NSManagedObjectModel {
        let model = SampleModel.make()
        let note = model.entitiesByName["Note"]
        note?.attributesByName["title"]?.allowsCloudEncryption = true
        if let rule { note?.attributesByName["title"]?.userInfo = ["MirrorMerge": rule] }
        note?.uniquenessConstraints = [["token"]]
        return model
    }

    private func device(
        _ seed: UInt64, _ keys: SealingKeys?, policy: MergePolicy = MergePolicy(),
        file: URL? = nil, rule: String? = nil
    ) throws -> Device {
        try Device(
            seed, service, model: Self.model(rule: rule), policy: policy, file: file, keys: keys)
    }

    private func settle(_ devices: [Device]) throws {
        for _ in 0..<10 {
            let results = try devices.map { try $0.sync() }
            for result in results { #expect(result.error == nil) }
            if results.allSatisfy({ $0.exported + $0.imported.received == 0 }) { return }
        }
        Issue.record("The devices do not come to rest.")
    }

    private func title(_ device: Device) throws -> AttributeValue? {
        try device.value(device.only("Note"), "title")
    }

    private func notes() throws -> [Record] {
        try service.records(inZone: zone).values
            .filter { $0.recordType == "CD_Note" && !$0.deleted }
            .sorted { $0.recordName < $1.recordName }
    }

    private func write(_ record: Record) throws {
        let modify = ModifyRecords(
            operations: [RecordOperation(.forceUpdate, record)], zoneID: ZoneID(zoneName: zone))
        _ = try service.handle(.modifyRecords(modify), from: "somebody")
    }

    private func file() throws -> URL {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("twins-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appendingPathComponent("b.sqlite")
    }

    // MARK: Objects that become one

    /// Whichever of the two names is smaller.
    @Test(arguments: 2...9 as ClosedRange<UInt64>)
    func aValueIsKeptThatADeviceWithoutTheKeyMergesAway(seed: UInt64) throws {
        let (a, b) = (try device(1, keys), try device(seed, nil))
        try a.insert("Note", ["token": token, "title": .text("secret")])
        try a.sync()
        try b.insert("Note", ["token": token, "rating": .double(4)])
        try settle([b])
        #expect(try notes().count == 1)
        let later = try device(50, keys)
        try settle([later, a, b])
        for device in [a, later] {
            #expect(try device.rows("Note").count == 1)
            #expect(try title(device) == .text("secret"))
            #expect(try device.value(device.only("Note"), "rating") == .double(4))
        }
        #expect(try title(b) == .null)
        // It is an ordinary value from then on.
        try later.set(later.only("Note"), "title", .text("new"))
        try settle([later, a, b])
        #expect(try title(a) == .text("new"))
        #expect(try notes()[0].fields["CD_carriedSeals"] == nil)
        try a.set(a.only("Note"), "title", .null)
        try settle([a, later, b])
        #expect(try title(later) == .null)
    }

    @Test func ofTwoSealedValuesTheOtherIsInTheLogOfWhoCanReadIt() throws {
        let a = try device(1, keys)
        let other = AttributeValue.uuid(UUID())
        try a.insert("Note", ["token": token, "title": .text("one")])
        try a.insert("Note", ["token": other, "title": .text("two")])
        let b = try device(2, nil)
        try settle([a, b])
        let records = try notes()
        var changed = records[1]
        changed.fields = ["CD_token": records[0].fields["CD_token"] ?? nil]
        try write(changed)
        try settle([b])
        #expect(try notes().count == 1)
        let later = try device(3, keys)
        try settle([later])
        let kept = try title(later)
        let lost = AttributeValue.text(kept == .text("one") ? "two" : "one")
        #expect(kept == .text("one") || kept == .text("two"))
        let line = try #require(try later.mirrored.conflicts().first)
        #expect(line.rule == "unique" && line.property == "title")
        #expect(line.remote == (lost == .text("one") ? .string("one") : .string("two")))
    }

    @Test(arguments: 2...5 as ClosedRange<UInt64>)
    func aKeyThatComesLaterOpensWhatTheDeviceItselfCarried(seed: UInt64) throws {
        let path = try file()
        defer { try? FileManager.default.removeItem(at: path.deletingLastPathComponent()) }
        let a = try device(1, keys)
        try a.insert("Note", ["token": token, "title": .text("secret")])
        try a.sync()
        do {
            let b = try device(seed, nil, file: path)
            // Its own title waits for the key, and so does the object.
            try b.insert("Note", ["token": token, "title": .text("of b")])
            try settle([b])
            // Nothing is taken away before what it carries is there.
            #expect(try notes().count == 1)
            // An edit of what was merged away here meanwhile goes along.
            try a.set(a.only("Note"), "title", .text("newer"))
            try a.sync()
            try settle([b])
        }
        let b = try device(seed, keys, file: path)
        try settle([b, a])
        #expect(try notes().count == 1)
        #expect(try title(a) == .text("of b") && title(b) == .text("of b"))
        let lines = try a.mirrored.conflicts() + b.mirrored.conflicts()
        #expect(lines.contains { $0.remote == .string("newer") || $0.local == .string("newer") })
    }

    @Test func aCarriedValueThatWasChangedIsPutAside() throws {
        let (a, b) = (try device(1, keys), try device(2, nil))
        var seed: UInt64 = 2
        try a.insert("Note", ["token": token, "title": .text("secret")])
        try a.sync()
        try b.insert("Note", ["token": token])
        try settle([b])
        while try notes()[0].fields["CD_carriedSeals"] == nil {
            seed += 1
            try #require(seed < 20)
            try service.lose()
            let (one, other) = (try device(seed * 100, keys), try device(seed, nil))
            try one.insert("Note", ["token": token, "title": .text("secret")])
            try one.sync()
            try other.insert("Note", ["token": token])
            try settle([other])
        }
        var record = try notes()[0]
        guard case .bytes(var data)?? = record.fields["CD_carriedSeals"] else {
            throw Missing(name: "CD_carriedSeals")
        }
        data[data.count - 3] ^= 1
        record.fields = ["CD_carriedSeals": .bytes(data)]
        try write(record)
        let later = try device(60, keys)
        try settle([later])
        #expect(try later.mirrored.status()?.keptForLater.map(\.reason) == [.unreadableField])
    }

    // MARK: Deletions

    @Test(arguments: DeletionRule.allCases)
    func anEditThatCannotBeReadIsAnEditToADeletion(rule: DeletionRule) throws {
        let policy = MergePolicy(deletion: rule)
        let a = try device(1, keys, policy: policy)
        let b = try device(2, nil, policy: policy)
        let note = try a.insert("Note", ["title": .text("old")])
        try settle([a, b])
        try a.set(note, "title", .text("new"))
        try a.sync()
        try b.delete(b.only("Note"))
        try settle([b, a])
        let line = try #require(try b.mirrored.conflicts().first)
        #expect(line.property == "title" && line.rule == rule.rawValue)
        if rule == .keepEdited {
            #expect(try title(a) == .text("new"))
            #expect(try b.rows("Note").count == 1)
        } else {
            #expect(try a.rows("Note").isEmpty && b.rows("Note").isEmpty)
        }
    }

    /// Who keeps an object against its deletion makes it anew, and edits nothing by that.
    @Test func whatIsMadeAnewKeepsTheSealsOfWhatWasNotEdited() throws {
        let policy = MergePolicy(deletion: .keepEdited)
        let (a, b) = (try device(1, keys, policy: policy), try device(2, nil))
        let c = try device(3, keys)
        let note = try a.insert("Note", ["title": .text("secret"), "rating": .double(1)])
        try settle([a, b, c])
        try c.delete(c.only("Note"))
        try c.sync()
        try a.set(note, "rating", .double(2))
        try settle([a])
        try b.delete(b.only("Note"))
        try settle([b, a, c])
        #expect(try b.mirrored.conflicts().map(\.property) == ["rating"])
    }

    /// The value was read, and what took its place is sealed under a key that is not here yet.
    @Test(arguments: DeletionRule.allCases)
    func whatIsSealedUnderALaterKeyIsNoClearing(rule: DeletionRule) throws {
        let policy = MergePolicy(deletion: rule)
        let a = try device(1, SealingKeys(keys.keys + [Self.key(2)]), policy: policy)
        let b = try device(2, keys, policy: policy)
        let note = try b.insert("Note", ["title": .text("old")])
        try settle([b, a])
        try a.set(a.only("Note"), "title", .text("new"))
        try a.sync()
        try b.delete(note)
        try settle([b, a])
        let lines = try b.mirrored.conflicts().filter { $0.property == "title" }
        #expect(lines.count == 1 && lines.first?.rule == rule.rawValue)
    }

    @Test(arguments: [false, true])
    func aDeletionThatIsTakenBackKeepsWhatCouldNotBeRead(wasSent: Bool) throws {
        let (a, b) = (try device(1, keys), try device(2, nil))
        try a.insert("Note", ["title": .text("secret"), "rating": .double(1)])
        try settle([a, b])
        let row = try #require(try b.rows("Note").first)
        try b.delete(row.id)
        if wasSent { try settle([b, a]) }
        var changes = ChangeSet()
        changes.inserts = [row]
        _ = try b.store.save(changes)
        try settle([b, a])
        #expect(try a.rows("Note").count == 1)
        #expect(try title(a) == .text("secret"))
    }

    /// The service was lost, and objects are to be made anew there: what could not be read waits
    /// with them, and goes on under the names that their rows have when they come back.
    @Test(arguments: [false, true])
    func returnsAfterALossKeepWhatCouldNotBeRead(areDeletedBefore: Bool) throws {
        let a = try device(1, keys)
        let b = try Device(2, service, model: Self.model()) { $0.batchRecordsMax = 1 }
        for _ in 0..<4 { try a.insert("Note", ["title": .text("secret")]) }
        try settle([a, b])
        let rows = try b.rows("Note")
        b.refuseAll(.tryAgainLater)
        if areDeletedBefore { try delete(rows, b) }
        try service.lose()
        _ = try b.sync()
        if !areDeletedBefore { try delete(rows, b) }
        b.intercept = { _ in nil }
        var changes = ChangeSet()
        changes.inserts = rows
        _ = try b.store.save(changes)
        try expectSecrets(4, after: b)
    }

    /// The same where it takes the name of another object meanwhile.
    @Test func anotherNameAfterALossKeepsWhatCouldNotBeRead() throws {
        let (a, b, c) = (try device(1, keys), try device(2, nil), try device(3, nil))
        a.clock.advance(seconds: 60)
        try a.insert("Note", ["token": token, "title": .text("secret")])
        try settle([a, b])
        try service.lose()
        b.refuseAll()
        _ = try b.sync()
        b.intercept = { _ in nil }
        try c.insert("Note", ["token": token, "rating": .double(4)])
        try c.sync()
        try expectSecrets(1, after: b)
    }

    private func delete(_ rows: [Row], _ device: Device) throws {
        for row in rows { try device.delete(row.id) }
        _ = try device.sync()
    }

    private func expectSecrets(_ count: Int, after device: Device) throws {
        let later = try self.device(9, keys)
        try settle([device, later])
        #expect(try later.mirrored.status()?.refusals.isEmpty == true)
        let titles = try later.rows("Note").map { try later.value($0.id, "title") }
        #expect(titles == Array(repeating: .text("secret"), count: count))
    }

    /// A line puts back what it shows, which is nothing while its key is not here.
    @Test(arguments: ["title", "photo"])
    func aSealedLineOfTheLogIsPutBackOpen(property: String) throws {
        let path = try file()
        defer { try? FileManager.default.removeItem(at: path.deletingLastPathComponent()) }
        func value(_ word: String) -> AttributeValue {
            property == "title" ? .text(word) : .data(Data(word.utf8))
        }
        func device(_ seed: UInt64, _ keys: SealingKeys?, file: URL? = nil) throws -> Device {
            let model = Self.model()
            let photo = SampleModel.attribute("photo", .binaryDataAttributeType)
            photo.allowsCloudEncryption = true
            model.entitiesByName["Note"]?.properties += [photo]
            return try Device(
                seed, service, model: model, policy: MergePolicy(deletion: .keepEdited),
                file: file, keys: keys)
        }
        let a = try device(1, keys)
        try a.insert("Note", [property: value("old")])
        do {
            let b = try device(2, nil, file: path)
            try settle([a, b])
            try a.set(a.only("Note"), property, value("new"))
            try a.sync()
            try b.delete(b.only("Note"))
            try settle([b, a])
            let line = try #require(try b.mirrored.conflicts().first)
            let error = #expect(throws: MirrorError.self) {
                try b.mirrored.resolve(conflict: line.id, taking: .remote)
            }
            #expect(error?.code == .keyMissing)
            #expect(try b.mirrored.conflicts().first?.rule == DeletionRule.keepEdited.rawValue)
            try settle([b, a])
            #expect(try a.value(a.only("Note"), property) == value("new"))
        }
        let b = try device(3, keys, file: path)
        try settle([b, a])
        try a.set(a.only("Note"), property, value("newer"))
        try settle([a, b])
        let line = try #require(try b.mirrored.conflicts().first { $0.property == property })
        try b.mirrored.resolve(conflict: line.id, taking: .remote)
        #expect(try b.value(b.only("Note"), property) == value("new"))
        try settle([b, a])
        #expect(try a.value(a.only("Note"), property) == value("new"))
    }

    /// What was sealed for a record is shown of the object that was restored from it.
    @Test func aSealedLineGoesWithARestoredObject() throws {
        let path = try file()
        defer { try? FileManager.default.removeItem(at: path.deletingLastPathComponent()) }
        let policy = MergePolicy(deletion: .deleteWins)
        let a = try device(1, keys, policy: policy)
        try a.insert("Note", ["title": .text("old")])
        do {
            let b = try device(2, nil, policy: policy, file: path)
            try settle([a, b])
            try a.set(a.only("Note"), "title", .text("new"))
            try a.sync()
            try b.delete(b.only("Note"))
            try settle([b, a])
        }
        let b = try device(3, keys, policy: policy, file: path)
        let line = try #require(try b.mirrored.conflicts().first { $0.property == "title" })
        #expect(line.remote == .string("new"))
        let restored = try b.mirrored.restore(objectOfConflict: line.id)
        let moved = try #require(try b.mirrored.conflicts().first { $0.id == line.id })
        #expect(moved.recordName == restored.recordName)
        #expect(moved.remote == .string("new"))
        try b.mirrored.resolve(conflict: line.id, taking: .remote)
        #expect(try title(b) == .text("new"))
    }

    // MARK: Rules

    @Test func anEditWithoutSeeingIsMergedByTheRuleOnceTheKeyIsHere() throws {
        let path = try file()
        defer { try? FileManager.default.removeItem(at: path.deletingLastPathComponent()) }
        let a = try device(1, keys, rule: "set")
        try a.insert("Note", ["title": .text("one\ntwo")])
        do {
            let b = try device(2, nil, file: path, rule: "set")
            try settle([a, b])
            try b.set(b.only("Note"), "title", .text("three"))
            try settle([b, a])
        }
        let b = try device(3, keys, file: path, rule: "set")
        try settle([b, a])
        guard case .text(let text)? = try title(a) else { throw Missing(name: "title") }
        #expect(Set(text.split(separator: "\n")) == ["one", "two", "three"])
        #expect(try title(b) == .text(text))
    }

    @Test func anEditUponAnOlderKeyStaysWhateverTheRule() throws {
        let path = try file()
        defer { try? FileManager.default.removeItem(at: path.deletingLastPathComponent()) }
        let rotated = try SealingKeys(keys.keys + [Self.key(2)])
        let pathA = path.deletingLastPathComponent().appendingPathComponent("a.sqlite")
        let policy = MergePolicy(standard: .remote)
        do {
            let a = try device(1, keys, policy: policy, file: pathA)
            try a.insert("Note", ["title": .text("old")])
            let b = try device(2, keys, policy: policy, file: path)
            try settle([a, b])
        }
        let a = try device(3, rotated, policy: policy, file: pathA)
        do {
            let b = try device(4, keys, policy: policy, file: path)
            try a.set(a.only("Note"), "title", .text("new"))
            try a.sync()
            try b.set(b.only("Note"), "title", .text("of b"))
            try settle([b])
            #expect(try title(b) == .text("of b"))
        }
        let b = try device(5, rotated, policy: policy, file: path)
        try settle([b, a])
        #expect(try title(a) == .text("of b"))
        #expect(try b.mirrored.conflicts().contains { $0.remote == .string("new") })
    }
}
