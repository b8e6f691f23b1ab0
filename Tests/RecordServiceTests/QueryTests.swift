import Foundation
import RecordService
import RecordWire
import SQLiteDriver
import Testing

/// What a query answers, refuses and costs.
@Suite(.everyBackend) struct QueryTests {
    private func fixture(
        _ limits: ServiceLimits = ServiceLimits(), path: String = ":memory:", count: Int = 10
    ) throws -> ServiceFixture {
        let fixture = try ServiceFixture(path: path, limits: limits)
        guard count > 0 else { return fixture }
        _ = try fixture.modify((0..<count).map { RecordOperation(.forceUpdate, note($0)) })
        return fixture
    }

    private func note(_ number: Int) -> Record {
        var record = Record.note("n\(number)", "title \(number)")
        record.fields["number"] = .int64(Int64(number))
        return record
    }

    private func query(
        _ filters: [RecordFilter] = [], _ sorts: [RecordSort] = [], zone: ZoneID? = nil,
        limit: Int? = nil, after marker: String? = nil
    ) -> QueryRecords {
        var request = QueryRecords(
            RecordQuery(recordType: "Note", filters: filters, sorts: sorts),
            zoneID: zone ?? ServiceFixture.zone)
        request.resultsLimit = limit
        request.continuationMarker = marker
        return request
    }

    private func ask(_ request: QueryRecords, _ fixture: ServiceFixture) throws -> RecordsReply {
        guard case .records(let reply) = try fixture.send(.queryRecords(request)) else {
            throw WrongAnswer()
        }
        return reply
    }

    private func names(_ reply: RecordsReply) -> [String] {
        reply.results.compactMap(\.record?.recordName)
    }

    private func refusal(
        _ request: QueryRecords, _ fixture: ServiceFixture
    ) throws -> RecordError? {
        #expect(throws: RecordError.self) { _ = try fixture.send(.queryRecords(request)) }
    }

    private let byNumber = [RecordSort(.field("number"))]
    private func number(
        _ comparator: RecordFilter.Comparator, _ value: FieldValue
    ) -> RecordFilter { RecordFilter(.field("number"), comparator, value) }

    // MARK: Answers

    /// Of none of a list all are there, but not in what is not there.
    @Test func whoHasNoValuePassesNothingButWhatIsNegated() throws {
        let fixture = try fixture(count: 0)
        var (full, empty) = (Record.note("full", "words"), Record.note("empty", "..."))
        full.fields["tags"] = .list(type: .string, [.string("a")])
        empty.fields["tags"] = .list(type: .string, [])
        let bare = Record(recordName: "bare", recordType: "Note")
        _ = try fixture.modify([full, empty, bare].map { RecordOperation(.forceUpdate, $0) })
        let none = FieldValue.list(type: .string, [])
        func found(_ comparator: RecordFilter.Comparator) throws -> [String] {
            names(try ask(query([RecordFilter(.field("tags"), comparator, none)]), fixture))
        }
        #expect(try found(.listContainsAll) == ["full"])
        #expect(try found(.notListContainsAll) == ["bare", "empty"])
        #expect(try found(.listContainsAny) == [])
        #expect(try found(.notListContainsAny) == ["bare", "empty", "full"])
        for field in [QueriedField.field("text"), .anyText] {
            let wordless = RecordFilter(field, .containsAllTokens, .string("?"))
            #expect(names(try ask(query([wordless]), fixture)).contains("bare") == false)
        }
    }

    @Test func whoAsksNotToWriteIsToldThatAnIndexIsMissing() throws {
        let fixture = try fixture()
        let request = RecordRequest.queryRecords(query([], byNumber))
        func withoutWriting() throws(RecordError) -> RecordResponse {
            try fixture.service.handle(
                request, target: fixture.target, caller: fixture.caller, makesIndexes: false)
        }
        for _ in 0..<2 {
            #expect(throws: RecordService.wantsToWrite) { _ = try withoutWriting() }
        }
        let answer = try fixture.send(request)
        #expect(try withoutWriting() == answer)
    }

    @Test func aQuerySeesWhatWasJustWritten() throws {
        let fixture = try fixture()
        let request = query([number(.greaterThan, .int64(7))], byNumber)
        #expect(names(try ask(request, fixture)) == ["n8", "n9"])
        try fixture.save(note(11))
        #expect(names(try ask(request, fixture)) == ["n8", "n9", "n11"])
        var changed = note(8)
        changed.fields["number"] = .int64(1)
        try fixture.save(changed)
        #expect(names(try ask(request, fixture)) == ["n9", "n11"])
        try fixture.save(.note("n9"), .forceDelete)
        #expect(names(try ask(request, fixture)) == ["n11"])
    }

    @Test func theAnswerHasWhatIsAskedFor() throws {
        let fixture = try fixture()
        var request = query([number(.equals, .int64(3))])
        request.desiredKeys = ["title"]
        let reply = try ask(request, fixture)
        let record = try #require(reply.results.first?.record)
        #expect(record.fields == ["title": .string("title 3")])
        let looked = try fixture.lookup(["n3"])[0].record
        #expect(record.recordChangeTag == looked?.recordChangeTag)
        #expect(record.created == looked?.created && record.zoneID == ServiceFixture.zone)
        #expect(try reply.syncToken == fixture.changes(since: nil).syncToken)
        #expect(reply.continuationMarker == nil)
    }

    @Test func systemFieldsAreQueried() throws {
        let fixture = try fixture()
        let third = try #require(try fixture.lookup(["n3"])[0].record?.created)
        let name = RecordFilter(
            .system(.recordName), .equals, .reference(RecordReference(recordName: "n3")))
        #expect(names(try ask(query([name]), fixture)) == ["n3"])
        let mine = RecordFilter(.system(.createdUserRecordName), .equals, .string("_anna"))
        #expect(names(try ask(query([mine]), fixture)).count == 10)
        let others = RecordFilter(
            .system(.modifiedUserRecordName), .notEquals, .string("_anna"))
        #expect(names(try ask(query([others]), fixture)) == [])
        let made = RecordFilter(.system(.createdTimestamp), .equals, .int64(third.timestamp))
        #expect(names(try ask(query([made]), fixture)).contains("n3"))
        try fixture.save(note(2))
        let newest = [RecordSort(.system(.modifiedTimestamp), ascending: false)]
        #expect(names(try ask(query([], newest, limit: 1), fixture)) == ["n2"])
    }

    @Test func aQueryOfOneZoneSeesNoOther() throws {
        let fixture = try fixture()
        _ = try fixture.modify([RecordOperation(.forceUpdate, note(3))], zone: nil)
        #expect(names(try ask(query(zone: ZoneID()), fixture)) == ["n3"])
        var wide = query([number(.equals, .int64(3))])
        wide.zoneID = nil
        #expect(try ask(wide, fixture).results.count == 1)
        wide.zoneWide = true
        let both = try ask(wide, fixture)
        #expect(both.results.count == 2 && both.syncToken == nil)
    }

    @Test func aDeletedZoneIsEmptyWhenItIsMadeAnew() throws {
        let fixture = try fixture()
        #expect(try ask(query(), fixture).results.count == 10)
        _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, ServiceFixture.zone)]))
        #expect(try refusal(query(), fixture)?.code == .zoneNotFound)
        try fixture.createZone(ServiceFixture.zone)
        #expect(try ask(query(), fixture).results.isEmpty)
        try fixture.service.removeDeletedRecords()
        try fixture.save(note(1))
        #expect(names(try ask(query(), fixture)) == ["n1"])
    }

    @Test func whatIsNotThereIsEmpty() throws {
        let fixture = try fixture(count: 0)
        #expect(try ask(query(zone: ZoneID()), fixture).results.isEmpty)
        #expect(try ask(query([number(.equals, .string("x"))]), fixture).results.isEmpty)
        #expect(
            try refusal(query(zone: ZoneID(zoneName: "none")), fixture)?.code == .zoneNotFound)
    }

    // MARK: Pages

    @Test(arguments: [
        [], [RecordSort(.field("number"), ascending: false)],
        [RecordSort(.field("title")), RecordSort(.field("number"))],
    ])
    func pagesGoOnWhereTheyEnded(sorts: [RecordSort]) throws {
        let fixture = try fixture()
        var seen: [String] = []
        var marker: String?
        repeat {
            let reply = try ask(query([], sorts, limit: 3, after: marker), fixture)
            #expect(reply.results.count == (seen.count == 9 ? 1 : 3))
            seen += names(reply)
            marker = reply.continuationMarker
        } while marker != nil
        #expect(seen == names(try ask(query([], sorts), fixture)))
    }

    @Test func aPageThatEndsWithTheRecordsHasNoMarker() throws {
        let fixture = try fixture()
        #expect(try ask(query(limit: 10), fixture).continuationMarker == nil)
        let high = query([number(.lessThan, .int64(5))], byNumber, limit: 5)
        #expect(try ask(high, fixture).continuationMarker == nil)
    }

    @Test func aPageEndsAfterSoManyRows() throws {
        var limits = ServiceLimits()
        limits.work.rowsMax = 4
        let fixture = try fixture(limits, count: 0)
        for number in 0..<10 { try fixture.save(note(number)) }
        let title = RecordFilter(.field("title"), .notEquals, .string("x"))
        var found: [String] = []
        var marker: String?
        var pages = 0
        repeat {
            let page = query([title], byNumber, after: marker)
            let reply = try patiently { try ask(page, fixture) }
            #expect(reply.results.count <= 4)
            found += names(reply)
            marker = reply.continuationMarker
            pages += 1
        } while marker != nil
        #expect(found == (0..<10).map { "n\($0)" } && pages == 3)
        // More than four records, each with a title of its own.
        let both = [RecordSort(.field("title"), ascending: false), RecordSort(.field("number"))]
        found = []
        repeat {
            let page = query([title], both, limit: 3, after: marker)
            let reply = try patiently { try ask(page, fixture) }
            found += names(reply)
            marker = reply.continuationMarker
        } while marker != nil
        #expect(found == (0..<10).reversed().map { "n\($0)" })
        for number in 0..<5 {
            var equal = note(number)
            equal.fields["title"] = .string("title 0")
            try fixture.save(equal, .forceUpdate)
        }
        let refused = #expect(throws: RecordError.self) {
            try patiently { try ask(query([], both.map { RecordSort($0.field) }), fixture) }
        }
        #expect(refused?.code == .limitExceeded)
    }

    /// Sends again while the service makes an index, which it does over several requests.
    private func patiently(_ body: () throws -> RecordsReply) throws -> RecordsReply {
        for _ in 0..<10 {
            do {
                return try body()
            } catch let error as RecordError where error.code == .tryAgainLater {
                #expect(error.retryAfterSeconds == 1)
            }
        }
        return try body()
    }

    @Test func markersOfOthersAreRefused() throws {
        let fixture = try fixture()
        let marker = try #require(
            try ask(query([], byNumber, limit: 3), fixture).continuationMarker)
        for wrong in [
            "", "x", String(marker.dropLast(2)), "A" + marker.dropFirst(),
            String(repeating: "A", count: 9_000),
        ] {
            let refused = try refusal(query([], byNumber, after: wrong), fixture)
            #expect(refused?.code == .badRequest)
        }
        #expect(try refusal(query([], [], after: marker), fixture)?.code == .badRequest)
        let filtered = query([number(.lessThan, .int64(4))], byNumber, after: marker)
        #expect(try refusal(filtered, fixture)?.code == .badRequest)
        var bert = fixture
        bert.caller = Caller(userRecordName: "_bert")
        try bert.createZone(ServiceFixture.zone)
        #expect(
            try refusal(query([], byNumber, after: marker), bert)?.code == .badRequest)
        _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, ServiceFixture.zone)]))
        try fixture.createZone(ServiceFixture.zone)
        #expect(
            try refusal(query([], byNumber, after: marker), fixture)?.code == .badRequest)
    }

    @Test func markersOutliveTheService() throws {
        try withDatabasePath { path in
            let marker = try ask(
                query([], byNumber, limit: 3), try fixture(path: path)
            ).continuationMarker
            let later = try ServiceFixture(path: path, seed: 2, makesZone: false)
            let reply = try ask(query([], byNumber, limit: 3, after: marker), later)
            #expect(names(reply) == ["n3", "n4", "n5"])
        }
    }

    // MARK: Refusals

    @Test(arguments: [
        (RecordFilter.Comparator.equals, FieldValue.string("x")), (.lessThan, .double(0.5)),
        (.equals, .list(type: .int64, [])), (.isIn, .int64(3)), (.listContains, .int64(3)),
        (.beginsWith, .string("1")), (.near, .location(RecordLocation(latitude: 0, longitude: 0))),
        (.containsAllTokens, .string("1")), (.equals, .asset(RecordAsset())),
        (.isIn, .list(type: .int64, Array(repeating: .int64(1), count: 251))),
    ])
    func aComparisonWithoutSenseIsRefused(
        comparator: RecordFilter.Comparator, value: FieldValue
    ) throws {
        let fixture = try fixture()
        #expect(
            try refusal(query([number(comparator, value)]), fixture)?.code == .badRequest)
    }

    @Test func numbersGoWhereTheyFit() throws {
        let fixture = try fixture()
        #expect(names(try ask(query([number(.equals, .double(3))]), fixture)) == ["n3"])
        var record = note(20)
        record.fields["price"] = .double(2)
        try fixture.save(record)
        let price = RecordFilter(.field("price"), .equals, .int64(2))
        #expect(names(try ask(query([price]), fixture)) == ["n20"])
    }

    @Test func aSortWithoutOrderIsRefused() throws {
        let fixture = try fixture()
        var record = note(20)
        record.fields["tags"] = .list(type: .string, [.string("a")])
        record.fields["place"] = .location(RecordLocation(latitude: 1, longitude: 2))
        try fixture.save(record)
        for sort in [
            RecordSort(.field("tags")), RecordSort(.field("place")),
            RecordSort(
                .field("number"), relativeLocation: RecordLocation(latitude: 1, longitude: 2)),
        ] {
            #expect(try refusal(query([], [sort]), fixture)?.code == .badRequest)
        }
    }

    @Test func productionKnowsDeclaredFieldsOnly() throws {
        var fixture = try ServiceFixture(makesZone: false)
        fixture.target.environment = "production"
        try fixture.createZone(ServiceFixture.zone)
        try fixture.save(note(3))
        #expect(try ask(query(), fixture).results.count == 1)
        let three = query([number(.equals, .int64(3))])
        #expect(try refusal(three, fixture)?.code == .badRequest)
        try fixture.service.declareQueryable(
            field: "number", ofRecordType: "Note", container: ServiceFixture.container)
        try fixture.service.declareQueryable(
            field: "number", ofRecordType: "Note", container: ServiceFixture.container)
        #expect(try ask(three, fixture).results.count == 1)
        #expect(
            try fixture.service.queryableFields(container: ServiceFixture.container)
                == ["Note": ["number"]])
    }

    @Test func aDatabaseHasSoManyIndexes() throws {
        var limits = ServiceLimits()
        limits.work.queryIndexesMax = 2
        limits.work.filtersMax = 1
        let fixture = try fixture(limits)
        let title = RecordFilter(.field("title"), .equals, .string("title 3"))
        #expect(try refusal(query([title, title]), fixture)?.code == .limitExceeded)
        // Beyond them others are given up, and made again when they are asked for.
        for _ in 0..<2 {
            #expect(names(try ask(query(), fixture)).count == 10)
            #expect(names(try ask(query([number(.equals, .int64(3))]), fixture)) == ["n3"])
            #expect(names(try ask(query([title]), fixture)) == ["n3"])
        }
        var none = ServiceLimits()
        none.work.queryIndexesMax = 0
        #expect(try refusal(query(), try self.fixture(none))?.code == .limitExceeded)
    }

    @Test func anIndexIsGivenUpInSlices() throws {
        var limits = ServiceLimits()
        limits.work.queryIndexesMax = 1
        limits.work.rowsMax = 4
        let fixture = try fixture(limits)
        let title = RecordFilter(.field("title"), .equals, .string("title 3"))
        for _ in 0..<2 {
            let page = try patiently { try ask(query(limit: 3), fixture) }
            #expect(names(page) == ["n0", "n1", "n2"])
            #expect(names(try patiently { try ask(query([title]), fixture) }) == ["n3"])
        }
    }

    @Test func theIndexThatWasUsedLongestAgoIsGivenUp() throws {
        var limits = ServiceLimits()
        limits.work.queryIndexesMax = 2
        try withStorage { storage in
            let fixture = try ServiceFixture(storage, limits: limits)
            _ = try fixture.modify((0..<3).map { RecordOperation(.create, note($0)) })
            let title = RecordFilter(.field("title"), .equals, .string("title 1"))
            for filter in [number(.equals, .int64(1)), title, number(.equals, .int64(2))] {
                #expect(names(try ask(query([filter]), fixture)).count == 1)
            }
            #expect(names(try ask(query(), fixture)).count == 3)
            let kept = "SELECT count(*) FROM query_indexes WHERE field = "
            #expect(try storage.texts(kept + "'number'") == ["1"])
            #expect(try storage.texts(kept + "'title'") == ["0"])
            #expect(try storage.texts("SELECT count(*) FROM query_entries") == ["6"])
        }
    }

    @Test func whoAsksForWhatIsNotThereEndsNoQueries() throws {
        var limits = ServiceLimits()
        limits.work.queryIndexesMax = 2
        try withStorage { storage in
            var fixture = try ServiceFixture(storage, limits: limits, makesZone: false)
            fixture.target.database = "public"
            _ = try fixture.modify([RecordOperation(.create, note(1))], zone: nil)
            #expect(names(try ask(query(zone: ZoneID()), fixture)) == ["n1"])
            var world = fixture
            world.caller = .world
            for type in ["x", "y", "z"] {
                let nothing = QueryRecords(RecordQuery(recordType: type), zoneID: ZoneID())
                #expect(try ask(nothing, world).results.isEmpty)
            }
            // What has no entries goes first.
            let kept = try storage.texts("SELECT count(*) FROM query_entries")
            #expect(kept == ["1"])
            #expect(names(try ask(query(zone: ZoneID()), fixture)) == ["n1"])
        }
    }

    @Test func valuesWithOneBeginningFindARecordOnce() throws {
        let fixture = try fixture(count: 0)
        let texts = (0..<2).map { String(repeating: "u", count: 320) + "\($0)" }
        for (number, text) in texts.enumerated() {
            var record = note(number)
            record.fields["url"] = .string(text)
            record.fields["urls"] = .list(type: .string, [.string(text)])
            try fixture.save(record)
        }
        let both = FieldValue.list(type: .string, texts.map { .string($0) })
        for filter in [
            RecordFilter(.field("url"), .isIn, both),
            RecordFilter(.field("urls"), .listContainsAny, both),
            RecordFilter(.field("url"), .containsAnyTokens, both),
        ] {
            for (sorts, expected) in [
                ([], ["n0", "n1"]), ([RecordSort(.field("url"))], ["n0", "n1"]),
                ([RecordSort(.field("url"), ascending: false)], ["n1", "n0"]),
            ] {
                let found = names(try ask(query([filter], sorts), fixture))
                // Of such texts an index does not know the order.
                #expect(found.sorted() == expected.sorted(), "\(filter.comparator)")
            }
        }
    }

    @Test func encryptedFieldsAreKeptAndNotCompared() throws {
        let fixture = try fixture()
        var record = note(3)
        record.fields["secret"] = .encrypted(.string("x"))
        let saved = try fixture.save(record)
        #expect(saved.fields["secret"] == .encrypted(.string("x")))
        #expect(try fixture.lookup(["n3"])[0].record?.fields["secret"] == saved.fields["secret"])
        let secret = RecordFilter(.field("secret"), .equals, .string("x"))
        #expect(try refusal(query([secret]), fixture)?.code == .badRequest)
        #expect(
            names(try ask(query([], [RecordSort(.field("secret"))]), fixture)).count == 10)
        record.fields["secret"] = .string("x")
        let plain = try fixture.modify([RecordOperation(.forceUpdate, record)])[0].error
        #expect(plain?.reason.contains("ENCRYPTED_STRING") == true)
        var open = note(4)
        open.fields["title"] = .encrypted(.string("x"))
        #expect(
            try fixture.modify([RecordOperation(.forceUpdate, open)])[0].error?.code == .badRequest)
    }

    @Test(arguments: [(91.0, 0.0), (0, -180.5), (.nan, 0), (0, .infinity)])
    func aPlaceIsOnTheEarth(latitude: Double, longitude: Double) throws {
        let fixture = try fixture(count: 0)
        var record = note(3)
        record.fields["place"] = .location(
            RecordLocation(latitude: latitude, longitude: longitude))
        #expect(
            try fixture.modify([RecordOperation(.create, record)])[0].error?.code == .badRequest)
    }

    // MARK: Files

    @Test func filesOfTheTimeBeforeQueriesAreQueried() throws {
        try withDatabasePath { path in
            _ = try fixture(path: path)
            try FormerFile.make(of: path)
            let connection = try Connection(path: path)
            try connection.script(
                """
                DROP TABLE query_indexes; DROP TABLE query_entries; DROP TABLE query_declarations;
                PRAGMA user_version = 2;
                """)
            let later = try ServiceFixture(path: path, makesZone: false)
            #expect(names(try ask(query([number(.equals, .int64(3))]), later)) == ["n3"])
            #expect(try connection.pragma("user_version")?.int64 ?? 0 >= 3)
        }
    }

    @Test func aRecordThatCannotBeReadIsNamed() throws {
        try withDatabasePath { path in
            let fixture = try fixture(path: path)
            try Connection(path: ContainerFile.path(path)).script(
                "UPDATE records SET fields = x'01ff' WHERE name = 'n3'")
            let reply = try ask(query([number(.lessThan, .int64(5))], byNumber), fixture)
            #expect(reply.damagedRecords == ["n3"])
            #expect(names(reply) == ["n0", "n1", "n2", "n4"])
        }
    }
}
