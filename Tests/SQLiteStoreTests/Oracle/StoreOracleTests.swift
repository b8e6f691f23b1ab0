import Foundation
import ObjectModel
import Predicates
import Stores
import Testing

@testable import SQLiteStore

/// Random saves and queries on every store type, against plain dictionaries.
@Suite struct StoreOracleTests {
    @Test(arguments: StoreKind.allCases, 1...8 as ClosedRange<UInt64>)
    func theStoreDoesWhatDictionariesDo(kind: StoreKind, seed: UInt64) throws {
        let scratch = try Scratch()
        var course = try OracleCourse(kind, scratch.url("store"), seed: seed)
        for step in 0..<40 {
            try course.step()
            try course.checkRows()
            if step % 8 == 7 { try course.checkQueries(60) }
            if step % 10 == 9 { try course.reopen() }
        }
        #expect(course.refusals > 0 && course.state.things.count > 10, "\(kind), seed \(seed)")
    }
}

/// One store, the dictionaries beside it, and what was drawn so far.
private struct OracleCourse {
    let kind: StoreKind
    let url: URL
    let seed: UInt64
    private(set) var state = OracleState()
    private(set) var refusals = 0
    private var store: any RowStore
    private var random: SeededRandom
    private var metadata: [String: Int] = [:]
    /// The highest key handed out, by the tree's root.
    private var highest: [String: Int64] = [:]
    /// The same of what was saved: a file of a whole graph hears of no other keys.
    private var saved: [String: Int64] = [:]
    private var transactions: Int64 = 0

    init(_ kind: StoreKind, _ url: URL, seed: UInt64) throws {
        self.kind = kind
        self.url = url
        self.seed = seed
        random = SeededRandom(seed: seed)
        store = try kind.open(url, OracleModel.make())
    }

    private var place: Comment { "\(kind), seed \(seed)" }

    // MARK: Writing

    mutating func step() throws {
        let plan = try OraclePlan(state, store, &random)
        try checkKeys(plan)
        if !plan.after.brokenConstraints.isEmpty {
            refusals += 1
            let broken = plan.after.brokenConstraints
            let violation = #expect(throws: UniquenessViolation.self, place) {
                try store.save(plan.changes)
            }
            #expect(violation.map { broken.contains($0.entity) } == true, place)
        } else if Int.random(in: 0..<8, using: &random) == 0, !plan.changes.updates.isEmpty {
            try saveStale(plan.changes)
        } else {
            let outcome = try store.save(plan.changes)
            let before = state
            state = plan.after
            if !plan.changes.isEmpty { saved = highest }
            if store.keepsHistory { try checkHistory(plan, outcome, before) }
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            metadata["app.\(random.next() % 5)"] = Int(random.next() % 99)
            if let gone = metadata.keys.sorted().first, metadata.count > 3 { metadata[gone] = nil }
            try store.setMetadata(metadata)
        }
        let found = try store.metadata()
        #expect(found.filter { $0.key.hasPrefix("app.") } as? [String: Int] == metadata, place)
        #expect(found["NSStoreUUID"] as? String == store.identifier, place)
    }

    /// All stale rows are told, and nothing is written.
    private func saveStale(_ changes: ChangeSet) throws {
        var changes = changes
        var stale: Set<RowID> = []
        for index in changes.updates.indices where index % 2 == 0 {
            changes.updates[index].expectedVersion? += 7
            stale.insert(changes.updates[index].id)
        }
        for index in changes.deletes.indices {
            changes.deletes[index].expectedVersion? -= 1
            stale.insert(changes.deletes[index].id)
        }
        let conflicts = #expect(throws: SaveConflicts.self, place) { try store.save(changes) }
        #expect(conflicts.map { Set($0.conflicts.map(\.id)) } == stale, place)
    }

    /// A key is new to its whole tree, whatever entities it holds.
    private mutating func checkKeys(_ plan: OraclePlan) throws {
        for row in plan.changes.inserts.sorted(by: { $0.id.key < $1.id.key }) {
            let name = store.layout.entity(row.id.entity)?.name ?? ""
            guard let root = OracleModel.trees.first(where: { $0.contains(name) })?.first else {
                continue
            }
            #expect(row.id.key > highest[root] ?? 0, place)
            highest[root] = row.id.key
        }
    }

    mutating func reopen() throws {
        guard kind.hasFile else { return }
        store = try kind.open(url, OracleModel.make())
        // Files of whole graphs hold no versions: each opening starts anew.
        if kind != .sqlite {
            for id in state.things.keys { state.things[id]?.version = 1 }
            highest = saved
        }
        try checkRows()
    }

    // MARK: Reading

    func checkRows() throws {
        for entity in store.layout.entities {
            var query = RowQuery(entity: entity.number)
            #expect(
                try store.ids(matching: query) == state.ids(of: entity.name),
                "\(entity.name), \(place)")
            query.includesSubentities = false
            let own = state.ids(of: entity.name, subentities: false)
            #expect(try store.count(matching: query) == own.count, place)
            for row in try store.rows(matching: query) { try check(row, entity) }
            for (slot, relationship) in entity.toManys.enumerated() {
                let together = try store.members(ofEach: own, toMany: slot)
                for id in own {
                    try check(
                        (together[id] ?? []).map(\.target), id, relationship.name, slot)
                }
            }
        }
    }

    private func check(_ row: Row, _ entity: EntityLayout) throws {
        let thing = try #require(state.things[row.id], place)
        #expect(row.version == thing.version, "\(entity.name) \(row.id.key), \(place)")
        for (slot, value) in row.attributes.enumerated() {
            let name = entity.attributes[slot].name
            #expect(value == thing.values[name] ?? .null, "\(entity.name).\(name), \(place)")
        }
        for (slot, link) in row.toOnes.enumerated() {
            let name = entity.toOnes[slot].name
            #expect(link?.target == thing.ones[name], "\(entity.name).\(name), \(place)")
        }
    }

    private func check(_ together: [RowID], _ id: RowID, _ name: String, _ slot: Int) throws {
        let alone = try store.members(of: id, toMany: slot).map(\.target)
        let wanted = state.list(id, name)
        if OracleState.isOrdered(name) {
            #expect(alone == wanted, "\(name) of \(id), \(place)")
            #expect(together == wanted, "\(name) of \(id), \(place)")
        } else {
            #expect(alone.sorted() == wanted.sorted(), "\(name) of \(id), \(place)")
            #expect(together.sorted() == wanted.sorted(), "\(name) of \(id), \(place)")
        }
    }

    // MARK: Queries

    mutating func checkQueries(_ count: Int) throws {
        let evaluation = OracleEvaluation(state: state, isSQL: kind == .sqlite)
        for _ in 0..<count {
            let entity = OracleModel.entities.randomElement(using: &random) ?? "Tag"
            var maker = OracleQueryMaker(entity: entity, state: state, random: random)
            let condition = maker.query()
            random = maker.random
            var query = RowQuery(entity: try #require(store.layout.entity(named: entity)).number)
            query.includesSubentities = Bool.random(using: &random)
            query.predicate = condition.node
            let ids = state.ids(of: entity, subentities: query.includesSubentities)
            let wanted = ids.filter { evaluation.holds(condition, $0) == true }
            #expect(
                try store.ids(matching: query) == wanted, "\(entity): \(condition), \(place)")
            #expect(try store.count(matching: query) == wanted.count, place)
            try checkOrder(&query, wanted, entity, evaluation)
        }
    }

    /// The same rows in an order of two keys, cut to a part.
    private mutating func checkOrder(
        _ query: inout RowQuery, _ rows: [RowID], _ entity: String, _ evaluation: OracleEvaluation
    ) throws {
        let keys: [String]
        switch entity {
        case "Person": keys = ["age", "nick"]
        case "Tag": keys = ["rank", "word"]
        case "Ticket": keys = ["seat"]
        default: keys = ["size", "name"]
        }
        let isAscending = keys.map { _ in Bool.random(using: &random) }
        query.sort = zip(keys, isAscending).map { NSSortDescriptor(key: $0, ascending: $1) }
        query.limit = Int.random(in: 0...5, using: &random)
        query.offset = Int.random(in: 0...2, using: &random)
        let sorted = rows.enumerated().sorted { left, right in
            for (key, ascending) in zip(keys, isAscending) {
                let a = evaluation.value([key], left.element)
                let b = evaluation.value([key], right.element)
                if a == b { continue }
                if a.isNull || b.isNull { return a.isNull == ascending }
                return (OracleEvaluation.order(a, b) < 0) == ascending
            }
            return left.offset < right.offset
        }.map(\.element).dropFirst(query.offset)
        let wanted = query.limit > 0 ? Array(sorted.prefix(query.limit)) : Array(sorted)
        #expect(try store.ids(matching: query) == wanted, "\(entity), sorted, \(place)")
        #expect(try store.rows(matching: query).map(\.id) == wanted, "\(entity), \(place)")
    }

    // MARK: History

    private mutating func checkHistory(
        _ plan: OraclePlan, _ outcome: SaveOutcome, _ before: OracleState
    ) throws {
        let changes = plan.changes
        guard changes.inserts.count + changes.updates.count + changes.deletes.count > 0 else {
            #expect(outcome.transactionNumber == nil, place)
            return
        }
        #expect(outcome.transactionNumber == transactions + 1, place)
        let found = try store.history(after: transactions, limit: nil)
        transactions += 1
        try #require(found.count == 1, place)
        let author = found[0].author.map { Array($0.utf8) }
        #expect(author == changes.author.map { Array($0.utf8) }, place)
        func ids(_ kind: HistoryChange.Kind) -> [RowID] {
            found[0].changes.filter { $0.kind == kind }.map(\.id)
        }
        #expect(ids(.insert) == changes.inserts.map(\.id), place)
        #expect(ids(.delete) == changes.deletes.map(\.id), place)
        var names: [RowID: Set<String>] = [:]
        for change in found[0].changes where change.kind == .update {
            names[change.id, default: []].formUnion(change.changedProperties)
        }
        #expect(names == plan.changedNames, place)
        for change in found[0].changes where change.kind == .delete {
            let thing = try #require(before.things[change.id], place)
            let kept = ["name", "price", "at", "length", "nick"]
            let wanted = thing.values.filter { kept.contains($0.key) && !$0.value.isNull }
            #expect(change.tombstone == wanted, "tombstone of \(thing.entity), \(place)")
        }
    }
}
