import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordService
import RecordWire
import SQLiteStore
import Stores
import Testing

/// Unique keys under mirroring: what is one object, and what only passes a key on.
@Suite struct UniqueKeyTests {
    let service: SimulatedService
    let a: Device
    let b: Device

    init() throws {
        service = try Device.service()
        let model = SampleModel.make(uniqueLabels: true)
        a = try Device(1, service, model: model)
        b = try Device(2, service, model: model)
    }

    private func labels(_ device: Device) throws -> [AttributeValue?] {
        try device.rows("Tag").map { try device.value($0.id, "label") }
    }

    private func tag(_ device: Device, _ label: String) throws -> RowID {
        try #require(
            try device.rows("Tag").first { try device.value($0.id, "label") == .text(label) }
        ).id
    }

    /// Answers each page backwards, or as it is.
    private func turn(_ device: Device, backwards: Bool) {
        device.intercept = { [service] request in
            guard case .zoneChanges = request,
                case .zoneChanges(var pages) = try service.handle(request, from: "b")
            else { return nil }
            for index in pages.indices where backwards { pages[index].records.reverse() }
            return .zoneChanges(pages)
        }
    }

    /// A deletion of the object that took a name in says nothing of that name, which whoever
    /// deleted it may never have heard of, or have let take in the other.
    @Test func aNameThatIsYetToBeDroppedOutlivesTheObjectThatTookItIn() throws {
        try a.insert("Tag", ["label": .text("x")])
        try b.insert("Tag", ["label": .text("x")])
        try b.sync()
        let second = try #require(try b.mirrored.recordName(of: b.only("Tag")))
        a.intercept = { request in
            guard case .modifyRecords(let modify) = request,
                modify.operations.contains(where: { $0.kind == .delete })
            else { return nil }
            throw MirrorError(.stopped, "killed")
        }
        _ = try a.sync()
        a.intercept = { _ in nil }
        let first = try #require(try a.mirrored.recordName(of: a.only("Tag")))
        let stranger = Stranger(service, beside: a)
        #expect(try first < second && stranger.record(second)?.deleted == false)
        try stranger.delete(first, type: "CD_Tag")
        try settle([a, b])
        for device in [a, b] {
            #expect(try labels(device) == [.text("x")])
            #expect(try device.mirrored.recordName(of: device.only("Tag")) == second)
        }
    }

    /// The object that took another in was deleted before the service heard of it, and both would
    /// be gone.
    @Test(arguments: [ServiceDialect.extended, .plain])
    func anObjectThatIsNoMoreHasNoNameDropped(dialect: ServiceDialect) throws {
        let service = try Device.service(dialect)
        let model = SampleModel.make(uniqueLabels: true)
        let devices = try (51...53).map { try Device($0, service, model: model) }
        let (a, b, c) = (devices[0], devices[1], devices[2])
        let own = try a.insert("Tag", ["label": .text("y")])
        try settle([a, b])
        let gone = try #require(try a.mirrored.recordName(of: own))
        c.clock.advance(seconds: 60)
        try c.insert("Tag", ["label": .text("x")])
        try c.sync()
        let other = try #require(try c.mirrored.recordName(of: tag(c, "x")))
        try #require(gone < other)
        try a.set(own, "label", .text("x"))
        let stranger = Stranger(service, beside: a)
        a.intercept = { request in
            guard case .modifyRecords(let modify) = request,
                modify.operations.contains(where: { $0.record.recordName == other })
            else { return nil }
            a.intercept = { _ in nil }
            try stranger.delete(gone, type: "CD_Tag")
            return nil
        }
        try settle([a, b, c])
        #expect(try stranger.record(gone)?.deleted != false)
        for device in devices {
            #expect(try labels(device) == [.text("x")])
            #expect(try device.mirrored.recordName(of: device.only("Tag")) == other)
        }
    }

    /// The service takes nothing of the object that took another in: the other's name stays there,
    /// and the round ends. Nothing of it is sent over and over.
    @Test(arguments: [RecordError.Code.badRequest, .accessDenied])
    func aNameStaysWhereItsSurvivorIsNotTaken(code: RecordError.Code) throws {
        let own = try a.insert("Tag", ["label": .text("y")])
        try settle([a, b])
        b.clock.advance(seconds: 60)
        try b.insert("Tag", ["label": .text("x")])
        try b.sync()
        try a.set(own, "label", .text("x"))
        var refusals = 0
        a.intercept = { request in
            guard case .modifyRecords(let modify) = request, modify.atomic else { return nil }
            refusals += 1
            return .records(
                RecordsReply(
                    results: modify.operations.map { operation in
                        let isSurvivor = operation.kind == .update
                        return .failure(
                            RecordError(
                                isSurvivor ? code : .atomicError, "It is not taken.",
                                recordName: operation.record.recordName))
                    }))
        }
        for _ in 0..<3 { #expect(try a.sync().error == nil) }
        #expect(refusals == 1)
        #expect(try labels(a) == [.text("x")])
        #expect(try a.mirrored.recordName(of: own) != nil)
        a.intercept = { _ in nil }
        try settle([a, b])
        #expect(try labels(b).count == 1)
    }

    /// A name and the object that took it in are of one request, however few it may have.
    @Test(arguments: 1...4) func namesAreDroppedWithinTheSizeOfABatch(recordsMax: Int) throws {
        let model = SampleModel.make(uniqueLabels: true)
        let devices = try (61...62).map { seed in
            try Device(seed, service, model: model) { $0.batchRecordsMax = recordsMax }
        }
        for device in devices {
            for label in 0..<5 { try device.insert("Tag", ["label": .text("\(label)")]) }
            devices[1].clock.advance(seconds: 60)
        }
        try devices[1].sync()
        try settle(devices)
        var dropped = 0
        for device in devices {
            #expect(try labels(device).count == 5)
            for case .modifyRecords(let modify) in device.requests {
                #expect(modify.operations.count <= max(2, recordsMax))
                let drops = modify.operations.count { $0.kind == .delete }
                #expect(modify.atomic == (drops > 0))
                dropped += drops
            }
        }
        #expect(dropped == 5)
    }

    /// One object gives its key up, another takes it: two objects, in whatever order they come.
    @Test(arguments: [true, false], 0..<4)
    func aKeyThatPassesToANewObjectMakesNoTwins(backwards: Bool, seed: UInt64) throws {
        let a = try Device(10 + seed, service, model: SampleModel.make(uniqueLabels: true))
        let old = try a.insert("Tag", ["label": .text("x")])
        try settle([a, b])
        try a.set(old, "label", .text("y"))
        try a.insert("Tag", ["label": .text("x")])
        try a.sync()
        turn(b, backwards: backwards)
        try settle([b, a])
        for device in [a, b] {
            #expect(try Set(labels(device)) == [.text("x"), .text("y")])
            #expect(try device.mirrored.conflicts().isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func twoObjectsThatExchangeTheirKeysStayTwo(backwards: Bool) throws {
        let one = try a.insert("Tag", ["label": .text("x")])
        let two = try a.insert("Tag", ["label": .text("y")])
        let note = try a.insert("Note")
        try a.pair(note, "tags", with: one)
        try settle([a, b])
        let pinned = try #require(try b.members(b.only("Note"), "tags").first)
        try a.set(one, "label", .text("between"))
        try a.set(two, "label", .text("x"))
        try a.set(one, "label", .text("y"))
        try a.sync()
        turn(b, backwards: backwards)
        try settle([b, a])
        #expect(try Set(labels(b)) == [.text("x"), .text("y")])
        #expect(try b.value(pinned, "label") == .text("y"))
        #expect(try b.mirrored.conflicts().isEmpty && a.rows("Tag").count == 2)
    }

    @Test(arguments: [true, false], 0..<4)
    func aKeyOfADeletedObjectGoesToANewOne(backwards: Bool, seed: UInt64) throws {
        let a = try Device(20 + seed, service, model: SampleModel.make(uniqueLabels: true))
        let old = try a.insert("Tag", ["label": .text("x")])
        try settle([a, b])
        try a.delete(old)
        try a.insert("Tag", ["label": .text("x")])
        try a.sync()
        turn(b, backwards: backwards)
        try settle([b, a])
        for device in [a, b] { #expect(try labels(device) == [.text("x")]) }
    }

    /// Two objects that both devices have become one by edits: the one that stays has the members
    /// of both.
    @Test(arguments: [true, false])
    func theObjectThatStaysHasThePairsOfBoth(aFirst: Bool) throws {
        for label in ["x", "y"] {
            let tag = try a.insert("Tag", ["label": .text(label)])
            let note = try a.insert("Note", ["title": .text(label)])
            try a.pair(note, "tags", with: tag)
        }
        try settle([a, b])
        try a.set(tag(a, "x"), "label", .text("z"))
        try b.set(tag(b, "y"), "label", .text("z"))
        try settle(aFirst ? [a, b] : [b, a])
        for device in [a, b] {
            #expect(try labels(device) == [.text("z")])
            let members = try device.members(tag(device, "z"), "notes")
            #expect(try Set(members.map { try device.value($0, "title") }).count == 2)
        }
    }

    @Test func anEditOfAnObjectThatWasMergedAwayIsLoggedAndHitsNobodyElse() throws {
        // Both make "x"; before either knows, the one that will lose its name is edited again.
        try a.insert("Tag", ["label": .text("x")])
        try b.insert("Tag", ["label": .text("x")])
        try a.sync()
        let before = try b.mirrored.conflicts().count
        try b.sync()
        try settle([a, b])
        #expect(try labels(a) == [.text("x")] && labels(b) == [.text("x")])
        #expect(try b.mirrored.conflicts().count == before)
    }

    /// The object that took another in is refused by the service: others keep theirs until it is
    /// there.
    @Test(arguments: [ServiceDialect.extended, .plain])
    func aNameStaysUntilWhoTookItInIsAtTheService(dialect: ServiceDialect) throws {
        let service = try Device.service(dialect)
        let model = SampleModel.make(uniqueLabels: true)
        let (a, b) = (try Device(21, service, model: model), try Device(22, service, model: model))
        // The smaller name is that of the object that comes to be first.
        let kept = try a.insert("Tag", ["label": .text("x")])
        _ = try a.mirrored.prepare(container: "test")
        while try a.mirrored.analyse().moreWaiting {}
        b.clock.advance(seconds: 60)
        try b.insert("Tag", ["label": .text("x")])
        try b.sync()
        let own = try #require(try a.mirrored.recordName(of: kept))
        let other = try #require(try b.mirrored.recordName(of: b.only("Tag")))
        try #require(own < other)
        a.intercept = { [service] request in
            guard case .modifyRecords(var modify) = request else { return nil }
            let refused = modify.operations.filter { $0.record.recordName == own }
            modify.operations.removeAll { $0.record.recordName == own }
            var results = refused.map { _ in
                RecordResult.failure(RecordError(.quotaExceeded, "Full.", recordName: own))
            }
            if !modify.operations.isEmpty,
                case .records(let reply) = try service.handle(.modifyRecords(modify), from: "a")
            {
                results += reply.results
            }
            return .records(RecordsReply(results: results))
        }
        try settle([a, b])
        #expect(try labels(a) == [.text("x")] && labels(b) == [.text("x")])
        #expect(try b.mirrored.recordName(of: b.only("Tag")) == other)
        // There is room: now it is one object for all.
        a.intercept = { _ in nil }
        try a.set(kept, "label", .text("x"))
        try settle([a, b])
        #expect(try labels(a) == [.text("x")] && labels(b) == [.text("x")])
        #expect(try b.mirrored.recordName(of: b.only("Tag")) == own)
    }

    /// The name is dropped as far as it was seen: an edit that the service took after this device
    /// last read the zone is in the log.
    @Test(arguments: [ServiceDialect.extended, .plain])
    func anEditTakenBeforeTheNameIsDroppedIsLogged(dialect: ServiceDialect) throws {
        let service = try Device.service(dialect)
        let model = SampleModel.make(uniqueLabels: true)
        model.entitiesByName["Tag"]?.properties += [
            SampleModel.attribute("colour", .stringAttributeType)
        ]
        let a = try Device(21, service, model: model)
        let b = try Device(22, service, model: model)
        let own = try a.insert("Tag", ["label": .text("y"), "colour": .text("green")])
        try settle([a, b])
        let other = try b.insert("Tag", ["label": .text("x"), "colour": .text("red")])
        try b.sync()
        try a.set(own, "label", .text("x"))
        var isFirst = true
        a.intercept = { request in
            guard case .modifyRecords = request, isFirst else { return nil }
            isFirst = false
            try b.set(other, "colour", .text("blue"))
            try b.sync()
            return nil
        }
        try settle([a, b])
        #expect(!isFirst)
        for device in [a, b] {
            let row = try device.only("Tag")
            #expect(try device.value(row, "colour") == .text("green"))
        }
        let logged = try (a.mirrored.conflicts() + b.mirrored.conflicts()).map(\.remote)
        #expect(logged.contains(.string("blue")))
    }

    /// The name is another user's: the round ends all the same, and the name is not sent again.
    @Test func aNameThatTheServiceDoesNotDropHoldsNothingUp() throws {
        let own = try a.insert("Tag", ["label": .text("y")])
        try settle([a, b])
        try b.insert("Tag", ["label": .text("x")])
        try b.sync()
        try a.set(own, "label", .text("x"))
        a.intercept = { [service, a] request in
            guard case .modifyRecords(var modify) = request else { return nil }
            let all = modify.operations
            let isDrop = { (kind: RecordOperation.Kind) in [.delete, .forceDelete].contains(kind) }
            modify.operations = all.filter { !isDrop($0.kind) }
            guard
                case .records(var reply) = try service.handle(
                    .modifyRecords(modify), from: a.mirrored.deviceID())
            else { return nil }
            let drops = all.filter { isDrop($0.kind) }
            var taken = reply.results.makeIterator()
            reply.results = all.compactMap { operation in
                guard drops.contains(operation) else { return taken.next() }
                return .failure(
                    RecordError(
                        .accessDenied, "It is another user's.",
                        recordName: operation.record.recordName))
            }
            return .records(reply)
        }
        #expect(try a.sync().error == nil)
        let before = a.sendings
        #expect(try a.sync().error == nil)
        #expect(a.sendings == before)
    }

    @Test func aDecisionForAKeyThatIsTakenIsRefusedInWords() throws {
        let model = SampleModel.make(uniqueLabels: true)
        let policy = MergePolicy(standard: .error)
        let (a, b) = (
            try Device(41, service, model: model, policy: policy),
            try Device(42, service, model: model, policy: policy)
        )
        try a.insert("Tag", ["label": .text("x")])
        try a.insert("Tag", ["label": .text("y")])
        try settle([a, b])
        try a.set(tag(a, "x"), "label", .text("of a"))
        try b.set(tag(b, "x"), "label", .text("of b"))
        try settle([a, b])
        try b.set(tag(b, "y"), "label", .text("of a"))
        let waiting = try #require(try b.mirrored.conflicts(waitingOnly: true).first)
        let error = #expect(throws: MirrorError.self) {
            try b.mirrored.resolve(conflict: waiting.id, taking: .remote)
        }
        #expect(error?.code == .keyTaken)
        #expect(error?.message.hasPrefix("Another Tag has that label already; ") == true)
        #expect(try b.mirrored.conflicts(waitingOnly: true).count == 1)
        try b.mirrored.resolve(conflict: waiting.id, taking: .local)
        #expect(try b.mirrored.conflicts(waitingOnly: true).isEmpty)
    }

    @Test func aDecisionThatWaitsGoesOnUnderTheNewName() throws {
        let model = SampleModel.make(uniqueLabels: true)
        model.entitiesByName["Tag"]?.properties.append(
            SampleModel.attribute("colour", .stringAttributeType))
        let policy = MergePolicy(standard: .error)
        let (a, b) = (
            try Device(31, service, model: model, policy: policy),
            try Device(32, service, model: model, policy: policy)
        )
        for (device, colour) in [(a, "red"), (b, "blue")] {
            try device.insert("Tag", ["label": .text("x"), "colour": .text(colour)])
        }
        for _ in 0..<4 {
            try a.sync()
            try b.sync()
        }
        for device in [a, b] {
            for line in try device.mirrored.conflicts(waitingOnly: true) {
                try device.mirrored.resolve(conflict: line.id, taking: .local)
            }
        }
        try settle([a, b])
        #expect(try a.value(a.only("Tag"), "colour") == b.value(b.only("Tag"), "colour"))
        #expect(try a.mirrored.status()?.isInSync == true)
        #expect(try b.mirrored.status()?.isInSync == true)
    }
}

/// Zones in which the service itself keeps keys unique.
@Suite struct NaturalKeyZoneTests {
    let service: SimulatedService

    init() throws { service = try Device.service() }

    /// A service that knows of tags, with their labels unique in a zone.
    private func declare(_ a: Device) throws {
        try a.insert("Tag", ["label": .text("seed")])
        try a.sync()
        try service.service.accounts.declareUnique(
            ["CD_label"], of: "CD_Tag", container: SimulatedService.container)
    }

    private func labels(_ device: Device) throws -> [AttributeValue?] {
        try device.rows("Tag").compactMap { try device.value($0.id, "label") }
            .filter { $0 != .text("seed") }
    }

    /// Lets the other device write behind the first page that this one reads.
    private func interleave(_ b: Device, with a: Device) {
        var isOver = false
        b.intercept = { request in
            guard case .modifyRecords = request, !isOver else { return nil }
            isOver = true
            try a.sync()
            return nil
        }
    }

    /// The model makes one object of the two: whichever name is the smaller.
    @Test(arguments: 0..<6)
    func theRefusedObjectBecomesOneWithTheHolder(seed: UInt64) throws {
        let model = SampleModel.make(uniqueLabels: true)
        let (a, b) = (
            try Device(60 + seed, service, model: model),
            try Device(80 + seed, service, model: model)
        )
        try declare(a)
        try b.sync()
        try a.insert("Tag", ["label": .text("x")])
        try b.insert("Tag", ["label": .text("x")])
        let note = try b.insert("Note", ["title": .text("n")])
        try b.pair(note, "tags", with: b.rows("Tag").last?.id ?? note)
        interleave(b, with: a)
        try settle([b, a], inSync: true)
        for device in [a, b] {
            #expect(try labels(device) == [.text("x")])
            #expect(try device.mirrored.status()?.refusals.isEmpty == true)
            #expect(try device.members(device.only("Note"), "tags").count == 1)
        }
    }

    /// A model that knows of no such key keeps both; the second stays here, with the reason.
    @Test func aModelWithoutTheKeyIsToldWhy() throws {
        let (a, b) = (try Device(61, service), try Device(81, service))
        try declare(a)
        try b.sync()
        try a.insert("Tag", ["label": .text("x")])
        let own = try b.insert("Tag", ["label": .text("x")])
        interleave(b, with: a)
        #expect(try b.sync().error == nil)
        try settle([a, b])
        let status = try #require(try b.mirrored.status())
        #expect(status.refusals.count == 1)
        #expect(status.refusals[0].reason.contains("has the same CD_Tag(CD_label)"))
        #expect(try labels(a) == [.text("x")])
        #expect(try labels(b).count == 2)
        // An edit of it is sent, and so is everything else.
        try b.set(own, "label", .text("y"))
        try settle([b, a], inSync: true)
        #expect(try Set(labels(a)) == [.text("x"), .text("y")])
    }

    /// A key passes from one object to another in whatever batches they go.
    @Test(arguments: 0..<6)
    func aKeyThatPassesOnIsTakenWhenItIsFree(seed: UInt64) throws {
        let model = SampleModel.make(uniqueLabels: seed % 2 == 0)
        let a = try Device(70 + seed, service, model: model) {
            $0.batchRecordsMax = 1 + Int(seed) / 2
        }
        let b = try Device(90 + seed, service, model: model)
        try declare(a)
        let early = try a.insert("Tag", ["label": .text("y")])
        let late = try a.insert("Tag", ["label": .text("x")])
        try settle([a, b], inSync: true)
        try a.set(late, "label", .text("z"))
        try a.set(early, "label", .text("x"))
        try settle([a, b], inSync: true)
        try a.delete(early)
        try a.insert("Tag", ["label": .text("x")])
        try settle([a, b], inSync: true)
        for device in [a, b] { #expect(try Set(labels(device)) == [.text("x"), .text("z")]) }
    }
}

/// A unique key that names a to-one: one line for each note in each folder.
@Suite struct UniqueLinkTests {
    let service: SimulatedService
    let a: Device
    let b: Device

    static func model() -> NSManagedObjectModel {
        let folder = SampleModel.entity(
            "Folder", [SampleModel.attribute("name", .stringAttributeType)])
        let line = SampleModel.entity(
            "Line",
            [
                SampleModel.attribute("label", .stringAttributeType),
                SampleModel.attribute("count", .integer64AttributeType),
            ])
        SampleModel.connect(folder, "lines", many: true, line, "folder", many: false)
        folder.uniquenessConstraints = [["name"]]
        line.uniquenessConstraints = [["folder", "label"]]
        let model = NSManagedObjectModel()
        model.entities = [folder, line]
        return model
    }

    init() throws {
        service = try Device.service()
        a = try Device(1, service, model: Self.model())
        b = try Device(2, service, model: Self.model())
    }

    private func line(_ device: Device, _ folder: RowID, _ count: Int64) throws -> RowID {
        let row = try device.insert("Line", ["label": .text("l"), "count": .integer(count)])
        try device.link(row, "folder", folder)
        return row
    }

    private func settle() throws { try MirrorEngineTests.settle([a, b]) }

    @Test func theSameLineMadeTwiceBecomesOne() throws {
        let folder = try a.insert("Folder", ["name": .text("f")])
        try settle()
        _ = try line(a, folder, 1)
        _ = try line(b, b.only("Folder"), 2)
        try settle()
        #expect(try a.rows("Line").count == 1 && b.rows("Line").count == 1)
        #expect(
            try a.value(a.only("Line"), "count") == b.value(b.only("Line"), "count"))
    }

    /// Folders merge, and with them the keys of their lines.
    @Test func linesOfFoldersThatBecomeOneBecomeOne() throws {
        _ = try line(a, a.insert("Folder", ["name": .text("f")]), 1)
        _ = try line(b, b.insert("Folder", ["name": .text("f")]), 2)
        try settle()
        for device in [a, b] {
            #expect(try device.rows("Folder").count == 1 && device.rows("Line").count == 1)
            #expect(try device.target(device.only("Line"), "folder") == device.only("Folder"))
        }
    }

    /// Two lines arrive before their folder: their key is whole when it comes, in a later page.
    @Test func aLinkThatArrivesLateCompletesAKeyAndTheRoundGoesOn() throws {
        func record(_ name: String, _ entity: String, _ fields: [String: FieldValue]) -> Record {
            var record = Record(
                recordName: name, recordType: "CD_\(entity)", recordChangeTag: "t\(name)")
            record.fields = RecordFields(fields.mapValues { $0 })
            record.fields["CD_entityName"] = .string(entity)
            return record
        }
        func page(_ records: [Record], moreComing: Bool) -> ZoneChangesReply {
            var page = ZoneChangesReply(
                zoneID: ZoneID(zoneName: b.mirrored.settings.zoneName))
            page.records = records
            page.moreComing = moreComing
            page.syncToken = "token"
            return page
        }
        let lines = (1...2).map { index in
            record(
                "line\(index)", "Line",
                [
                    "CD_label": .string("l"), "CD_folder": .string("f"),
                    "CD_count": .int64(Int64(index)),
                ])
        }
        let marks = try b.mirrored.prepare(container: "test").marks
        _ = try b.mirrored.apply(
            page(lines, moreComing: true),
            to: PageRequest(token: nil, toldWriteIDs: true, marks: marks))
        #expect(try b.rows("Line").count == 2)
        let folder = record("f", "Folder", ["CD_name": .string("f")])
        _ = try b.mirrored.apply(
            page([folder], moreComing: false),
            to: PageRequest(
                token: page(lines, moreComing: true).syncToken, toldWriteIDs: true, marks: marks))
        #expect(try b.rows("Line").count == 1)
        #expect(try b.target(b.only("Line"), "folder") == b.only("Folder"))
        #expect(try b.mirrored.conflicts().map(\.property) == ["count"])
        #expect(try b.mirrored.status()?.pending.deletes == 1)
    }
}
