import Foundation
import RecordService
import RecordWire

/// What is beside records: subscriptions, assets, users, tokens, roles, schemas, quotas.
extension OperationWorld {
    private static let home = OperationStep.Place.own(0, production: false)
    private static let halfAYearSeconds = 181 * 86_400

    func perform(_ step: OperationStep) throws {
        let user = step.actor
        switch step.deed {
        case .write(let place, let writings, let atomic):
            try write(place, writings, atomic: atomic, user)
        case .share(let zone, let root, let sharing):
            try share(zone: zone, root: root, sharing, user)
        case .accept(let owner, let zone, let root):
            guard zone > 0 else { return }
            try accept(owner: owner, zone: zone, root: root, user)
        case .leave(let owner, let zone): try leave(owner: owner, zone: zone, user)
        case .makeZone(let zone, let production):
            try makeZone(zone, production: production, user)
        case .deleteZone(let zone, let production):
            try deleteZone(zone, production: production, user)
        case .follow(let place): try follow(Follower(user: user, place: place))
        case .look(let place): try look(place, user)
        case .list: try list(user)
        default: try administer(step.deed, user)
        }
    }

    private func administer(_ deed: OperationStep.Deed, _ user: Int) throws {
        switch deed {
        case .subscribe(let number, let kind, let once):
            try subscribe(number, kind: kind, once: once, user)
        case .unsubscribe(let number): try unsubscribe(number, user)
        case .upload(let content): try upload(content, user)
        case .rereference(let zone, let name): try rereference(zone: zone, name, user)
        case .profile(let isDiscoverable): try setProfile(isDiscoverable, user)
        case .discover(let other): try discover(other, user)
        case .issueToken: try issueToken(user)
        case .revokeToken(let number): try revokeToken(number)
        case .deploy: try deploy()
        case .declare(let type, let field, let isUnique):
            let type = OperationSettings.types[type]
            try isUnique ? declare(field, of: type) : undeclare(field, of: type)
        case .quota(let most):
            settings.quotas[user] = most
            try service.accounts.setQuota(
                most.map { UserQuota(recordsMax: Int64($0)) }, of: users[user])
        case .forget: try forget()
        case .reopen: try reopen()
        default: try setRoles(deed)
        }
    }

    // MARK: Roles

    private func setRoles(_ deed: OperationStep.Deed) throws {
        let accounts = service.accounts
        switch deed {
        case .grant(let type, let role, let creates, let reads, let writes):
            let (type, role) = (OperationSettings.types[type], OperationSettings.roles[role])
            settings.grants[type, default: [:]][role] = OperationSettings.Grant(
                creates: creates, reads: reads, writes: writes)
            try accounts.setGrant(
                RoleGrant(
                    recordType: type, role: role, creates: creates, reads: reads, writes: writes),
                container: container)
        case .ungrant(let type):
            let type = OperationSettings.types[type]
            let isThere = settings.grants.removeValue(forKey: type) != nil
            try expectCode(isThere ? nil : .notFound) {
                try accounts.removeGrants(recordType: type, container: container)
            }
        case .giveRole(let user):
            settings.editors.insert(user)
            try accounts.addRole("editor", to: users[user], container: container)
        case .takeRole(let user):
            let hadIt = settings.editors.remove(user) != nil
            try expectCode(hadIt ? nil : .notFound) {
                try accounts.removeRole("editor", from: users[user], container: container)
            }
        default: return
        }
    }

    private func expectCode(_ code: RecordError.Code?, _ body: () throws -> Void) throws {
        var found: RecordError.Code?
        do { try body() } catch let error as RecordError { found = error.code }
        try expect(found == code, "an administrator is answered \(found as Any)")
    }

    // MARK: Schemas

    private func deploy() throws {
        let accounts = service.accounts
        var learnt: [String: Set<String>] = [:]
        var all = learnt
        for (key, zone) in zones {
            for (field, type) in zone.types {
                all[field, default: []].insert(type)
                if !key.production { learnt[field, default: []].insert(type) }
            }
        }
        for (field, type) in settings.schemas.declared {
            learnt[field, default: []].insert(type)
            all[field, default: []].insert(type)
        }
        let keys = settings.schemas.keys[false] ?? []
        let deployedKeys = settings.schemas.keys[true] ?? []
        let areInUse = keys.subtracting(deployedKeys).contains { hasDuplicates(of: $0, true) }
        do {
            try accounts.deploySchema(container: container)
        } catch {
            let isFair =
                areInUse
                || all.contains { field, types in
                    types.count > 1
                        || settings.schemas.deployed?[field].map { !types.contains($0) } == true
                }
            return try expect(isFair, "the schema was not deployed: \(error)")
        }
        try expect(!areInUse, "a key is deployed that records have in common")
        settings.schemas.keys[true] = deployedKeys.union(keys)
        let schema = try accounts.schema(container: container, environment: "production")
        var deployed: [String: String] = [:]
        for type in schema.recordTypes {
            deployed[type.name] = ""
            for field in type.fields {
                let name = field.type.wireName
                deployed["\(type.name).\(field.name)"] = name == "ASSET" ? "ASSETID" : name
            }
        }
        for (field, type) in settings.schemas.deployed ?? [:] {
            try expect(deployed[field] == type, "production lost \(field)")
        }
        for (field, types) in learnt {
            try expect(
                deployed[field].map {
                    settings.schemas.deployed?[field] != nil || types.contains($0)
                }
                    ?? false,
                "\(field) was not deployed")
        }
        settings.schemas.deployed = deployed
    }

    // MARK: Keys

    private func hasDuplicates(of key: String, _ production: Bool) -> Bool {
        zones.contains { $0.key.production == production && $0.value.hasDuplicates(of: key) }
    }

    private func declare(_ field: String, of type: String) throws {
        let key = "\(type).\(field)"
        var known = Set(settings.schemas.declared.keys)
        for (place, zone) in zones where !place.production { known.formUnion(zone.types.keys) }
        var code: RecordError.Code?
        if !known.contains(where: { $0.hasPrefix(type + ".") }) {
            code = .notFound
        } else if !known.contains(key) {
            code = .badRequest
        } else if !settings.schemas.isKey(key, production: false), hasDuplicates(of: key, false) {
            code = .uniqueFieldError
        }
        try expectCode(code) {
            try service.accounts.declareUnique([field], of: type, container: container)
        }
        guard code == nil else { return }
        settings.schemas.keys[false, default: []].insert(key)
        let schema = try service.accounts.schema(container: container, environment: "development")
        settings.schemas.declared[key] = schema[type]?[field]?.type.wireName
    }

    private func undeclare(_ field: String, of type: String) throws {
        let isKey = settings.schemas.keys[false]?.remove("\(type).\(field)") != nil
        try expectCode(isKey ? nil : .notFound) {
            try service.accounts.undeclareUnique(
                [field], of: type, container: container, environment: "development")
        }
    }

    // MARK: Subscriptions

    private func subscribe(_ number: Int, kind: Int, once: Bool, _ user: Int) throws {
        if settings.courierTokens[user] == nil {
            let request = RecordRequest.createToken(CourierToken(apnsEnvironment: "development"))
            guard case .courierToken(let token) = try send(request, user, Self.home) else {
                throw WrongAnswer()
            }
            settings.courierTokens[user] = token.apnsToken
        }
        let zone = ZoneID(zoneName: "z\(1 + number % 2)")
        let filter = RecordFilter(.field("title"), .equals, .string("t1"))
        let kinds: [RecordSubscription.Kind] = [
            .query(RecordQuery(recordType: "Note", filters: [filter])), .zone, .database,
        ]
        var subscription = RecordSubscription(
            subscriptionID: "s\(number)", kind: kinds[kind], zoneID: kind == 2 ? nil : zone)
        subscription.firesOnce = once
        let request = RecordRequest.modifySubscriptions([
            SubscriptionOperation(.create, subscription)
        ])
        guard case .subscriptions(let results) = try send(request, user, Self.home) else {
            throw WrongAnswer()
        }
        if kind != 2, zones[ZoneKey(owner: user, zone: 1 + number % 2)] == nil {
            guard case .failure(let error) = results[0], error.code == .zoneNotFound else {
                throw OperationViolation(description: "a subscription of no zone is taken")
            }
            return
        }
        try expect(
            results[0] == .subscription(subscription), "a subscription is answered \(results[0])")
        settings.subscriptions[user, default: [:]]["s\(number)"] = subscription
    }

    private func unsubscribe(_ number: Int, _ user: Int) throws {
        let id = "s\(number)"
        let isThere = settings.subscriptions[user]?.removeValue(forKey: id) != nil
        let request = RecordRequest.modifySubscriptions([
            SubscriptionOperation(
                .delete, RecordSubscription(subscriptionID: id, kind: .database))
        ])
        guard case .subscriptions(let results) = try send(request, user, Self.home) else {
            throw WrongAnswer()
        }
        if isThere { return try expect(results[0] == .deleted(id), "\(id) is not deleted") }
        guard case .failure(let error) = results[0], error.code == .notFound else {
            throw OperationViolation(description: "a subscription that is not there is deleted")
        }
    }

    func checkSubscriptions(_ user: Int) throws {
        let expected = settings.subscriptions[user] ?? [:]
        let lookup = RecordRequest.lookupSubscriptions(expected.keys.sorted())
        for request in [.listSubscriptions, lookup] {
            guard case .subscriptions(let results) = try send(request, user, Self.home) else {
                throw WrongAnswer()
            }
            let found = results.compactMap { result -> RecordSubscription? in
                if case .subscription(let subscription) = result { subscription } else { nil }
            }
            try expect(
                Set(found) == Set(expected.values),
                "user \(user) has the subscriptions \(found), not \(expected.keys.sorted())")
        }
    }

    /// What waits at the courier for a user.
    @discardableResult
    func drainNotices(_ user: Int) throws -> Set<String> {
        guard let token = settings.courierTokens[user] else { return [] }
        var found: Set<String> = []
        while let next = try service.nextNotice(forCourierToken: token) {
            let all = try JSONSerialization.jsonObject(with: next) as? [String: Any]
            let words = all?["ck"] as? [String: Any] ?? [:]
            for kind in ["qry", "fet", "met"] {
                guard let what = words[kind] as? [String: Any], "\(what["dbs"] ?? 0)" == "2" else {
                    continue
                }
                let parts = ["sid", "rid", "fo", "zid"].compactMap { key in
                    what[key].map { "\($0)" }
                }
                found.insert(([kind] + parts).joined(separator: " "))
            }
        }
        return found
    }

    /// After a write: each subscription of the owner's tells what it is about, and no more.
    func checkNotices(of changed: Set<String>, _ made: Set<String>, _ key: ZoneKey) throws {
        guard let owner = key.owner, settings.courierTokens[owner] != nil else { return }
        let found = try drainNotices(owner)
        guard !key.production, !changed.isEmpty else {
            return try expect(found.isEmpty, "the courier brings \(found) of nothing")
        }
        var expected: Set<String> = []
        for (id, subscription) in settings.subscriptions[owner] ?? [:] {
            let told = notices(of: subscription, changed, made, key)
            if subscription.firesOnce, !told.isEmpty {
                settings.subscriptions[owner]?[id] = nil
                let first = told.filter { found.contains($0) }
                try expect(first.count == 1, "\(id) fires once and told \(first)")
                expected.formUnion(first)
            } else {
                expected.formUnion(told)
            }
        }
        try expect(found == expected, "the courier brings \(found), not \(expected)")
        counts["notices", default: 0] += found.count
    }

    private func notices(
        of subscription: RecordSubscription, _ changed: Set<String>, _ made: Set<String>,
        _ key: ZoneKey
    ) -> Set<String> {
        let id = subscription.subscriptionID
        let zone = key.zone == 0 ? ZoneID.defaultName : "z\(key.zone)"
        switch subscription.kind {
        case .database: return key.zone > 0 ? ["met \(id)"] : []
        case .zone: return subscription.zoneID?.zoneName == zone ? ["fet \(id) \(zone)"] : []
        case .query:
            guard subscription.zoneID?.zoneName == zone else { return [] }
            return Set(
                changed.compactMap { name in
                    guard let record = zones[key]?.records[name], record.type == "Note",
                        record.isDeleted || record.fields["title"] == .string("t1")
                    else { return nil }
                    let event = record.isDeleted ? 3 : made.contains(name) ? 1 : 2
                    return "qry \(id) \(name) \(event) \(zone)"
                })
        }
    }

    // MARK: Assets

    private func upload(_ content: Int, _ user: Int) throws {
        let request = UploadAssets(
            tokens: [.init(recordName: "r0", recordType: "Note", fieldName: "picture")],
            zoneID: nil)
        guard case .assetUploads(let addresses) = try send(.uploadAssets(request), user, Self.home)
        else { throw WrongAnswer() }
        let bytes = OperationSettings.content(content)
        let upload = try service.beginUpload(
            key: try ServiceFixture.key(in: addresses[0].url), announced: Int64(bytes.count))
        try ServiceFixture.send(bytes, to: upload)
        try note(try upload.finish(), content, user)
    }

    private func note(_ asset: RecordAsset, _ content: Int, _ user: Int) throws {
        guard let receipt = asset.receipt, let checksum = asset.fileChecksum else {
            throw OperationViolation(description: "an upload is answered \(asset)")
        }
        try expect(
            settings.checksums[content].map { $0 == checksum } ?? true,
            "one content has two checksums")
        settings.checksums[content] = checksum
        settings.receipts[user, default: OperationSettings.Receipts()].good[receipt] = checksum
        settings.receipts[user]?.last[content] = receipt
    }

    private func rereference(zone: Int, _ name: Int, _ user: Int) throws {
        let key = ZoneKey(owner: user, zone: zone)
        guard let model = zones[key] else { return }
        let name = Self.name(name)
        let request = RereferenceAssets(
            assets: [.init(recordName: name, fieldName: "picture")],
            zoneID: zoneID(key, for: user))
        guard
            case .assets(let results) = try send(
                .rereferenceAssets(request), user, .own(zone, production: false))
        else { throw WrongAnswer() }
        guard case .asset(let kept)? = model.live(name)?.fields["picture"] else {
            if case .asset = results[0] {
                throw OperationViolation(description: "an asset of nothing has a receipt")
            }
            return
        }
        guard case .asset(let asset) = results[0], asset.fileChecksum == kept.fileChecksum,
            let content = settings.checksums.first(where: { $0.value == kept.fileChecksum })?.key
        else { throw OperationViolation(description: "an asset has no receipt: \(results[0])") }
        try note(asset, content, user)
    }

    // MARK: Users

    private func setProfile(_ isDiscoverable: Bool, _ user: Int) throws {
        if isDiscoverable {
            settings.discoverable.insert(user)
        } else {
            settings.discoverable.remove(user)
        }
        try service.accounts.setProfile(settings.profile(user), of: users[user])
    }

    private func discover(_ other: Int, _ user: Int) throws {
        let infos = [
            UserLookupInfo(emailAddress: settings.email(other)),
            UserLookupInfo(userRecordName: users[other]),
            UserLookupInfo(emailAddress: "nobody@example.org"),
        ]
        guard
            case .users(let reply) = try send(
                .lookupUsers(UserLookup(.discover, infos)), user, .common)
        else { throw WrongAnswer() }
        let isFound = other == user || settings.discoverable.contains(other)
        try expect(
            Set(reply.users.map(\.userRecordName)) == (isFound ? [users[other]] : []),
            "user \(user) finds \(reply.users)")
    }

    private func issueToken(_ user: Int) throws {
        if settings.apiToken == nil {
            settings.apiToken =
                try service.accounts.issueAPIToken(container: container, label: "app").secret
        }
        let token = try service.accounts.issueUserToken(
            userRecordName: users[user], label: "laptop")
        settings.tokens.append((user, token.description.id, token.secret, true))
        try checkTokens()
    }

    private func revokeToken(_ number: Int) throws {
        guard settings.tokens.indices.contains(number) else { return }
        let wasGood = settings.tokens[number].isGood
        settings.tokens[number].isGood = false
        try expectCode(wasGood ? nil : .notFound) {
            try service.accounts.revoke(tokenID: settings.tokens[number].id)
        }
        try checkTokens()
    }

    private func checkTokens() throws {
        for token in settings.tokens {
            var caller: String?
            do {
                caller =
                    try service.authenticate(
                        apiToken: settings.apiToken, userToken: token.secret, container: container
                    ).userRecordName
            } catch {
                try expect(error.code == .authenticationFailed, "a token is answered \(error)")
            }
            let expected = token.isGood ? users[token.user] : nil
            try expect(caller == expected, "a token is \(caller as Any)")
        }
    }

    // MARK: Time

    private func forget() throws {
        clock.advance(seconds: Self.halfAYearSeconds)
        try service.forgetOldDeletions()
        _ = try service.collectAssets()
        for user in settings.receipts.keys { settings.receipts[user]?.good = [:] }
        for (key, zone) in zones {
            for (name, record) in zone.records where record.isDeleted {
                zones[key]?.records[name] = nil
            }
        }
        for follower in readings.keys { readings[follower]?.mayExpire = true }
        // Who stands at the end of a feed missed nothing.
        for (key, _) in zones where key.owner != nil && key.zone > 0 {
            let follower = Follower(
                user: key.owner ?? 0, place: .own(key.zone, production: key.production))
            readings[follower]?.mayExpire = false
            try followOwn(key, [])
        }
    }
}
