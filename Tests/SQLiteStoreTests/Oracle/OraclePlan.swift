import Foundation
import ObjectModel
import Stores

/// One random change set, and the state it should leave.
struct OraclePlan {
    private(set) var changes = ChangeSet()
    private(set) var after: OracleState
    /// The names of the properties each update changes.
    private(set) var changedNames: [RowID: Set<String>] = [:]
    private let before: OracleState
    private let store: any RowStore
    private var random: SeededRandom
    private var updates: [RowID: RowUpdate] = [:]
    private var toManys: [OracleState.Place: ToManyChange] = [:]
    private var isNew: Set<RowID> = []
    /// From one end only in one plan: of what both ends ask the order of writing would decide.
    private var usesTagEnd = false
    private var friends: Set<Set<RowID>> = []

    init(_ state: OracleState, _ store: any RowStore, _ random: inout SeededRandom) throws {
        before = state
        after = state
        self.store = store
        self.random = random
        try plan()
        random = self.random
    }

    private mutating func chance(_ share: Double) -> Bool {
        Double.random(in: 0..<1, using: &random) < share
    }

    private mutating func plan() throws {
        usesTagEnd = chance(0.4)
        for _ in 0..<Int.random(in: 0...2, using: &random) where chance(0.5) {
            if let id = after.things.keys.sorted().randomElement(using: &random) { delete(id) }
        }
        for _ in 0..<Int.random(in: 0...4, using: &random) { try insert() }
        for _ in 0..<Int.random(in: 0...4, using: &random) { try change() }
        for _ in 0..<Int.random(in: 0...3, using: &random) { try relate() }
        finish()
    }

    // MARK: Rows

    /// Clears the links of others, which the contract asks of the caller.
    private mutating func delete(_ id: RowID) {
        guard before.things[id] != nil else { return }
        for (other, thing) in after.things.sorted(by: { $0.key < $1.key }) where other != id {
            for (name, target) in thing.ones where target == id { point(other, name, at: nil) }
        }
        updates[id] = nil
        changedNames[id] = nil
        toManys = toManys.filter { $0.key.owner != id }
        after.delete(id)
        changes.deletes.append(RowDelete(id: id, expectedVersion: before.things[id]?.version))
    }

    private mutating func insert() throws {
        let name = OracleModel.entities.randomElement(using: &random) ?? "Tag"
        guard let layout = store.layout.entity(named: name),
            let key = try store.reserveKeys(entity: layout.number, count: 1).first
        else { return }
        let id = RowID(entity: layout.number, key: key)
        isNew.insert(id)
        after.things[id] = .init(entity: name)
        for slot in layout.attributes {
            let value = value(of: slot.name)
            after.things[id]?.values[slot.name] = value
        }
        for end in layout.toOnes where chance(0.5) { try link(id, end.name) }
    }

    private mutating func change() throws {
        guard let id = after.things.keys.sorted().randomElement(using: &random),
            let layout = store.layout.entity(id.entity)
        else { return }
        for slot in layout.attributes.indices where chance(0.3) {
            let name = layout.attributes[slot].name
            let value = value(of: name)
            after.things[id]?.values[name] = value
            guard !isNew.contains(id) else { continue }
            touch(id)
            updates[id]?.attributes.removeAll { $0.slot == slot }
            updates[id]?.attributes.append((slot, value))
            changedNames[id, default: []].insert(name)
        }
        for toOne in layout.toOnes where chance(0.3) { try link(id, toOne.name) }
    }

    private mutating func link(_ id: RowID, _ name: String) throws {
        let people = after.ids(of: "Person")
        switch name {
        case "owner", "holder":
            let target = chance(0.2) ? nil : people.randomElement(using: &random)
            guard after.things[id]?.ones[name] != target else { return }
            point(id, name, at: target)
        default:
            // Of a one-to-one both ends are set, and both former partners let go.
            let back = name == "star" ? "clip" : "star"
            let others = name == "star" ? people : after.ids(of: "Clip")
            let target = chance(0.2) ? nil : others.randomElement(using: &random)
            guard after.things[id]?.ones[name] != target else { return }
            if let former = after.things[id]?.ones[name] { point(former, back, at: nil) }
            if let target, let rival = after.things[target]?.ones[back] {
                point(rival, name, at: nil)
            }
            point(id, name, at: target)
            if let target { point(target, back, at: id) }
        }
    }

    private mutating func point(_ id: RowID, _ name: String, at target: RowID?) {
        after.point(id, name, at: target)
        guard !isNew.contains(id), let slot = store.layout.entity(id.entity)?.toOneSlot(name) else {
            return
        }
        touch(id)
        updates[id]?.toOnes.removeAll { $0.slot == slot }
        updates[id]?.toOnes.append((slot, target.map { Link($0) }))
        changedNames[id, default: []].insert(name)
    }

    private mutating func touch(_ id: RowID) {
        if updates[id] == nil {
            updates[id] = RowUpdate(id: id, expectedVersion: before.things[id]?.version)
        }
    }

    // MARK: Collections

    private mutating func relate() throws {
        guard let id = after.things.keys.sorted().randomElement(using: &random),
            let entity = after.things[id]?.entity,
            let name = OracleState.collections(of: entity).filter({
                $0 != "tickets" && $0 != (usesTagEnd ? "tags" : "movies")
            })
            .randomElement(using: &random)
        else { return }
        if name == "assets" {
            shuffle(id, name)
            return
        }
        let kinds = ["friends": "Person", "pins": "Asset", "tags": "Tag", "movies": "Movie"]
        let choice = after.ids(of: kinds[name] ?? "").shuffled(using: &random)
        for member in choice.prefix(Int.random(in: 0...2, using: &random)) {
            if name == "friends", !friends.insert([id, member]).inserted { continue }
            if after.list(id, name).contains(member) {
                if chance(0.5) { remove(member, from: id, name) }
            } else {
                add(member, to: id, name)
            }
        }
        if OracleState.isOrdered(name), chance(0.3) { shuffle(id, name) }
    }

    private mutating func add(_ member: RowID, to owner: RowID, _ name: String) {
        if name == "pins" {
            // A member of a relationship without inverse has one owner.
            for person in after.ids(of: "Person") where after.list(person, name).contains(member) {
                remove(member, from: person, name)
            }
        }
        let isBack = before.list(owner, name).contains(member)
        after.add(member, to: owner, name)
        change(owner, name) { change in
            change.removed.removeAll { $0 == member }
            if !isBack { change.added.append(Link(member)) }
        }
        mark(owner, name)
        if isBack { order(owner, name) }
    }

    private mutating func remove(_ member: RowID, from owner: RowID, _ name: String) {
        after.remove(member, from: owner, name)
        change(owner, name) { change in
            change.added.removeAll { $0.target == member }
            change.removed.append(member)
        }
        mark(owner, name)
    }

    private mutating func shuffle(_ owner: RowID, _ name: String) {
        let place = OracleState.Place(owner: owner, name: name)
        guard let list = after.members[place], list.count > 1 else { return }
        after.members[place] = list.shuffled(using: &random)
        mark(owner, name)
        order(owner, name)
    }

    /// Asks for the order as it stands at the end.
    private mutating func order(_ owner: RowID, _ name: String) {
        guard OracleState.isOrdered(name) else { return }
        change(owner, name) { $0.order = [] }
    }

    private mutating func change(
        _ owner: RowID, _ name: String, _ body: (inout ToManyChange) -> Void
    ) {
        let place = OracleState.Place(owner: owner, name: name)
        guard let slot = store.layout.entity(owner.entity)?.toManySlot(name) else { return }
        body(&toManys[place, default: ToManyChange(owner: owner, slot: slot)])
    }

    private mutating func mark(_ owner: RowID, _ name: String) {
        guard !isNew.contains(owner), let slot = store.layout.entity(owner.entity)?.toManySlot(name)
        else { return }
        touch(owner)
        if updates[owner]?.changedToManys.contains(slot) == false {
            updates[owner]?.changedToManys.append(slot)
        }
        changedNames[owner, default: []].insert(name)
    }

    // MARK: The end

    /// Gives an order wherever several members entered at once: the contract says nothing of the
    /// order in which rows are written.
    private mutating func finish() {
        for (place, list) in after.members where OracleState.isOrdered(place.name) {
            let former = Set(before.members[place] ?? [])
            let kept = list.filter(former.contains)
            let tail = list.filter { !former.contains($0) }
            let isAppended =
                tail.count < 2 && list == kept + tail
                && kept == (before.members[place] ?? []).filter(list.contains)
            if !isAppended { order(place.owner, place.name) }
        }
        for place in toManys.keys where toManys[place]?.order != nil {
            toManys[place]?.order = after.list(place.owner, place.name)
        }
        changes.toManys = toManys.sorted {
            ($0.key.owner, $0.key.name) < ($1.key.owner, $1.key.name)
        }
        .map(\.value)
        for (id, update) in updates.sorted(by: { $0.key < $1.key }) {
            changes.updates.append(update)
            after.things[id]?.version += 1
        }
        changes.updates.shuffle(using: &random)
        for id in isNew.sorted() {
            guard let thing = after.things[id], let layout = store.layout.entity(id.entity) else {
                continue
            }
            var row = Row(id: id, layout: layout)
            for (slot, place) in layout.attributes.enumerated() {
                row.attributes[slot] = thing.values[place.name] ?? .null
            }
            for (slot, link) in layout.toOnes.enumerated() {
                row.toOnes[slot] = thing.ones[link.name].map { Link($0) }
            }
            changes.inserts.append(row)
        }
        changes.author = ["\u{E9}", "e\u{301}", nil].randomElement(using: &random) ?? nil
    }

    // MARK: Values

    private mutating func value(of name: String) -> AttributeValue {
        if chance(0.2) { return .null }
        switch name {
        case "code":
            let few = ["\u{E9}", "e\u{301}", "E\u{301}"]
            let many = (0..<40).map { "k\($0)" }
            return .text((few + many).randomElement(using: &random) ?? "")
        case "name", "title", "nick", "word":
            return .text(OracleModel.texts.randomElement(using: &random) ?? "")
        case "price": return .decimal(OracleModel.decimals.randomElement(using: &random) ?? 0)
        case "at": return .date(OracleModel.dates.randomElement(using: &random) ?? 0)
        case "ratio": return .double(OracleModel.doubles.randomElement(using: &random) ?? 0)
        case "single": return .double(Double(Float.random(in: -9...9, using: &random)))
        case "flag": return .integer(.random(in: 0...1, using: &random))
        case "uid":
            let word = random.next()
            return .uuid(
                withUnsafeBytes(of: (word, ~word)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
            )
        case "address": return .uri("https://example.org/\(random.next() % 9)?a=1&b=é")
        case "blob": return .data(Data((0..<(random.next() % 9)).map { UInt8($0 * 31) }))
        default: return .integer(.random(in: -3...9, using: &random))
        }
    }
}
