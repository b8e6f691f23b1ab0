import Foundation
import RecordService
import RecordWire

/// Feeds, lookups, queries and lists.
extension OperationWorld {
    // MARK: Feeds

    /// The owner reads on after each write: the feed tells what was written and nothing else.
    func followOwn(_ key: ZoneKey, _ changed: Set<String>?) throws {
        guard let owner = key.owner, key.zone > 0 else { return }
        try follow(
            Follower(user: owner, place: .own(key.zone, production: key.production)),
            changed: changed)
    }

    func follow(_ follower: Follower, changed: Set<String>? = nil) throws {
        let (place, user) = (follower.place, follower.user)
        let key = key(place, user)
        if case .shared(let owner, let zone) = place, owner == user || zone == 0 { return }
        if case .own(0, _) = place { return }
        // Who may read what is no part of the feed.
        if place == .common { readings[follower] = nil }
        var reading = readings[follower] ?? Reading()
        var names: [String] = []
        let zoneID = zoneID(key, for: user) ?? ZoneID()
        var hadToken = reading.token != nil
        var newest: Int64 = -1
        while true {
            let request = ZoneChanges.Zone(
                zoneID: zoneID, syncToken: reading.token, resultsLimit: 1 + random.below(6))
            guard
                case .zoneChanges(let pages) = try send(
                    .zoneChanges(ZoneChanges(zones: [request])), user, place)
            else { throw WrongAnswer() }
            let page = pages[0]
            if page.failure?.code == .changeTokenExpired {
                try checkExpiry(of: reading, follower, key)
                reading = Reading()
                (names, hadToken, newest) = ([], false, -1)
                continue
            }
            guard isOpen(place, user), let zone = zones[key] else {
                try expect(
                    page.failure?.code == .zoneNotFound,
                    "the feed of \(key) was answered \(page.failure as Any)")
                return
            }
            try expect(page.failure == nil, "the feed of \(key) failed: \(page.failure as Any)")
            try expect(
                reading.token == nil || reading.incarnation == zone.incarnation,
                "a token of a deleted zone \(key) is taken")
            for record in page.records {
                try take(record, &reading, &newest, zone, follower, key)
                names.append(record.recordName)
            }
            reading.token = page.syncToken
            reading.incarnation = zone.incarnation
            guard page.moreComing else { break }
        }
        counts["feeds", default: 0] += 1
        reading.mayExpire = false
        readings[follower] = reading
        try checkEnd(of: reading, names, hadToken ? changed : nil, follower)
    }

    private func checkExpiry(of reading: Reading, _ follower: Follower, _ key: ZoneKey) throws {
        var isFair = reading.mayExpire || zones[key]?.incarnation != reading.incarnation
        if case .shared = follower.place { isFair = true }
        try expect(
            reading.token != nil && isFair, "\(follower) has a token that expired for no reason")
    }

    private func take(
        _ record: Record, _ reading: inout Reading, _ newest: inout Int64, _ zone: ZoneModel,
        _ follower: Follower, _ key: ZoneKey
    ) throws {
        let name = record.recordName
        if case .own = follower.place {
            let change = record.recordChangeTag.flatMap(ChangeTag.init)?.change ?? -1
            try expect(change > newest, "\(name) comes in the feed after a later change")
            newest = change
            let known = zone.records[name]
            try expect(
                known?.isDeleted == record.deleted && [nil, record.recordChangeTag].contains(known?.tag),
                "\(follower) reads \(name), deleted \(record.deleted), of \(known as Any)")
            zones[key]?.records[name]?.tag = record.recordChangeTag
        }
        if record.deleted {
            reading.tags[name] = nil
        } else {
            try check(record, zone, follower.place)
            reading.tags[name] = record.recordChangeTag
        }
    }

    private func checkEnd(
        of reading: Reading, _ names: [String], _ changed: Set<String>?, _ follower: Follower
    ) throws {
        let visible = visible(follower.place, follower.user)
        try expect(
            Set(reading.tags.keys) == visible,
            "\(follower) has read \(reading.tags.keys.sorted()), not \(visible.sorted())")
        let zone = zones[key(follower.place, follower.user)]
        for (name, tag) in reading.tags {
            guard let known = zone?.records[name]?.tag else { continue }
            try expect(known == tag, "\(follower) has read an old \(name)")
        }
        guard let changed else { return }
        try expect(
            Set(names) == changed && names.count == changed.count,
            "after a write to \(changed.sorted()) the feed tells \(names)")
    }

    // MARK: Lookups and queries

    func look(_ place: OperationStep.Place, _ user: Int) throws {
        if case .shared(let owner, let zone) = place, owner == user || zone == 0 { return }
        let key = key(place, user)
        let names =
            (0..<OperationStep.namesCount).map(Self.name)
            + [Self.name(OperationStep.firstShare), Record.zoneShareName]
        let (response, refusal) = try answer(
            .lookupRecords(LookupRecords(recordNames: names, zoneID: zoneID(key, for: user))), user,
            place)
        guard isOpen(place, user), let zone = zones[key] else {
            return try expect(
                refusal?.code == .zoneNotFound, "a look at \(key) was answered \(refusal as Any)")
        }
        guard case .records(let reply)? = response else {
            throw OperationViolation(description: "a look was answered \(refusal as Any)")
        }
        let visible = visible(place, user)
        for (name, result) in zip(names, reply.results) {
            try expect(
                result.error?.code == (visible.contains(name) ? nil : .notFound),
                "\(user) looks for \(name) and finds \(result)")
            guard let record = result.record else { continue }
            try check(record, zone, place)
            try checkPicture(of: record)
        }
        try query(place, user, zone, visible)
        try formerFeed(place, user, visible)
    }

    private func checkPicture(of record: Record) throws {
        guard case .asset(let asset)?? = record.fields["picture"] else { return }
        let number = settings.checksums.first { $0.value == asset.fileChecksum }?.key
        let key = try ServiceFixture.key(in: asset.downloadURL)
        let file = try service.openAsset(key: key).file
        let bytes = try FileHandle(fileDescriptor: file.descriptor).readToEnd() ?? Data()
        try expect(
            number.map(OperationSettings.content) == bytes,
            "\(record.recordName) has another picture")
        counts["pictures", default: 0] += 1
    }

    private func query(
        _ place: OperationStep.Place, _ user: Int, _ zone: ZoneModel, _ visible: Set<String>
    ) throws {
        let key = key(place, user)
        let type = OperationSettings.types[random.below(2)]
        var query = RecordQuery(recordType: type)
        query.sorts = [RecordSort(.system(.recordName), ascending: random.below(2) == 0)]
        let title = "t\(random.below(6))"
        let types = zones.filter { $0.key.owner == key.owner && !$0.key.production }
            .map { $0.value.types["\(type).title"] }
        let filters = !key.production && random.below(2) == 0 && !types.contains("INT64")
        if filters {
            query.filters = [RecordFilter(.field("title"), .equals, .string(title))]
        }
        var request = QueryRecords(query, zoneID: zoneID(key, for: user))
        request.resultsLimit = 1 + random.below(4)
        var found: [String] = []
        repeat {
            guard case .records(let reply) = try send(.queryRecords(request), user, place) else {
                throw WrongAnswer()
            }
            for record in reply.results.compactMap(\.record) {
                try check(record, zone, place)
                found.append(record.recordName)
            }
            request.continuationMarker = reply.continuationMarker
        } while request.continuationMarker != nil
        let expected = zone.liveRecords.filter { name, record in
            visible.contains(name) && record.type == type
                && (!filters || record.fields["title"] == .string(title))
        }.map(\.name).sorted()
        try expect(
            found == (query.sorts[0].ascending ? expected : expected.reversed()),
            "a query of \(key) found \(found), not \(expected)")
        counts["queries", default: 0] += 1
    }

    /// `records/changes` reads the same as `changes/zone`.
    private func formerFeed(
        _ place: OperationStep.Place, _ user: Int, _ visible: Set<String>
    ) throws {
        guard let zoneID = zoneID(key(place, user), for: user) else { return }
        let request = RecordChanges(zone: ZoneChanges.Zone(zoneID: zoneID, syncToken: nil))
        guard case .recordChanges(let page) = try send(.recordChanges(request), user, place) else {
            throw WrongAnswer()
        }
        let names = Set(page.records.filter { !$0.deleted }.map(\.recordName))
        try expect(names == visible, "records/changes tells \(names), not \(visible)")
    }

    // MARK: Lists

    func noteDirty(_ key: ZoneKey) {
        guard let owner = key.owner, key.zone > 0, !key.production else { return }
        dirty[owner, default: []].insert("z\(key.zone)")
    }

    func list(_ user: Int) throws {
        let place = OperationStep.Place.own(0, production: false)
        let own = Set(
            zones.keys.filter { $0.owner == user && !$0.production && $0.zone > 0 }
                .map { "z\($0.zone)" })
        try checkZones(try send(.listZones, user, place), own.union([ZoneID.defaultName]))
        let all = (1..<OperationStep.zonesCount).map { ZoneID(zoneName: "z\($0)") }
        try checkZones(try send(.lookupZones(all), user, place), own)
        let theirs = zones.filter { key, zone in
            !key.production && key.owner != user && key.zone > 0
                && !zone.shares(acceptedBy: user).isEmpty
        }
        let shared = OperationStep.Place.shared(owner: 0, zone: 1)
        guard case .zones(let results) = try send(.listZones, user, shared) else {
            throw WrongAnswer()
        }
        let found = Set(results.compactMap(\.zone?.zoneID))
        try expect(
            found == Set(theirs.keys.compactMap { zoneID($0, for: user) }),
            "user \(user) sees the zones \(found) of others, not \(theirs.keys)")
        try checkDatabaseFeed(user, own)
        try checkSubscriptions(user)
        guard case .caller(let caller) = try send(.caller, user, place),
            case .caller(let former) = try send(.currentUser, user, place)
        else { throw WrongAnswer() }
        for reply in [caller, former] {
            try expect(
                reply.userRecordName == users[user]
                    && reply.lookupInfo?.emailAddress == settings.email(user),
                "user \(user) is told to be \(reply)")
        }
    }

    private func checkZones(_ response: RecordResponse, _ expected: Set<String>) throws {
        guard case .zones(let results) = response else { throw WrongAnswer() }
        let names = Set(results.compactMap(\.zone?.zoneID.zoneName))
        try expect(names == expected, "the zones are \(names), not \(expected)")
    }

    private func checkDatabaseFeed(_ user: Int, _ own: Set<String>) throws {
        let known = databaseTokens[user]
        let request = DatabaseChanges(syncToken: known, resultsLimit: nil)
        let place = OperationStep.Place.own(0, production: false)
        guard case .databaseChanges(let reply) = try send(.databaseChanges(request), user, place)
        else { throw WrongAnswer() }
        let told = Dictionary(
            reply.zones.map { ($0.zoneID.zoneName, !$0.deleted) }, uniquingKeysWith: { $1 })
        let expected = known == nil ? own : dirty[user] ?? []
        try expect(
            expected.allSatisfy { told[$0] == own.contains($0) }
                && told.allSatisfy { $0.value == own.contains($0.key) },
            "changes/database tells \(told), not \(expected) of \(own)")
        try expect(
            known == nil || Set(told.keys) == expected,
            "changes/database tells \(told.keys.sorted()), not \(expected.sorted())")
        databaseTokens[user] = reply.syncToken
        dirty[user] = []
    }
}
