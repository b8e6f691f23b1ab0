import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import Stores
import Testing

/// The tables of docs/MERGE.md section 13, line by line, on the merge of one object.
@Suite struct MergeTableTests {
    static let rules = MergeRule.names
    let entity: EntityLayout
    let title: Int
    let views: Int
    let folder: Int

    init() throws {
        let layout = ModelLayout(model: SampleModel.make())
        entity = try #require(layout.entity(named: "Note"))
        title = try #require(entity.attributeSlot("title"))
        views = try #require(entity.attributeSlot("views"))
        folder = try #require(entity.toOneSlot("folder"))
    }

    @Test func theTablesHaveALineForEveryCase() throws {
        let kinds = try #require(MergeTable.kinds)
        #expect(Set(kinds.lines.keys) == Set(MergeCase.all))
        #expect(kinds.columns == ["property", "place", "members", "pair", "object"])
        let rules = try #require(MergeTable.rules)
        #expect(Set(rules.lines.keys) == Set(MergeCase.all.filter(\.isMet)))
        for rule in Self.rules { #expect(rules.columns.contains { $0.contains("`\(rule)`") }) }
    }

    /// A text, a number and a link, under every rule of the property and every rule of the store.
    @Test(arguments: MergeCase.all, rules)
    func aPropertyBecomesWhatTheTablesSay(met: MergeCase, word: String) throws {
        let rule = try #require(MergeRule(name: word))
        for standard in [MergeRule.local, .remote, .error, .latest] {
            for (kind, slot) in kinds {
                for isLocalLater in [true, false] {
                    let outcome = try merge(
                        met, kind, slot, rule, standard, isLocalLater: isLocalLater)
                    let expected = try Expectation(
                        met, word, kind, standard: standard.name, isLocalLater: isLocalLater)
                    let line = "\(kind) under \(word), the store under \(standard.name)"
                    #expect(outcome.merged.value(slot) == expected.value, "\(line)")
                    #expect(outcome.conflicts.map(\.winner) == expected.winners, "\(line)")
                }
            }
        }
    }

    private var kinds: [(TableKind, PropertySlot)] {
        [(.text, .attribute(title)), (.number, .attribute(views)), (.link, .toOne(folder))]
    }

    private func merge(
        _ met: MergeCase, _ kind: TableKind, _ slot: PropertySlot, _ rule: MergeRule,
        _ standard: MergeRule, isLocalLater: Bool
    ) throws -> ObjectMerge.Outcome {
        var policy = MergePolicy(standard: standard)
        let property = slot.name(in: entity)
        policy.set(rule, entity: "Note", property: property)
        let times = [1, 2].map {
            EditTimes([property: EditTime(milliseconds: $0, device: "d\($0)")])
        }
        let states = [met.base, met.local, met.remote].map { side in
            var state = ObjectState(empty: entity)
            state.set(slot, to: kind.value(side))
            return state
        }
        return ObjectMerge(
            policy: policy, entity: entity, localTimes: times[isLocalLater ? 1 : 0],
            remoteTimes: times[isLocalLater ? 0 : 1]
        ).merge(base: states[0], local: states[1], remote: states[2])
    }

    /// A closure is asked exactly where both sides differ, with their three values.
    @Test(arguments: MergeCase.all)
    func aClosureIsAskedWhereTheTableSaysRule(met: MergeCase) throws {
        let cell = try #require(MergeTable.kinds).cell("property", met)
        let slot = PropertySlot.attribute(title)
        let answer = MergeRule.custom { question in
            let values = [question.base, question.local, question.remote]
            return .string(
                values.map { if case .string(let text) = $0 { text } else { "–" } }.joined())
        }
        let outcome = try merge(met, .text, slot, answer, .local, isLocalLater: true)
        let asked = met.base.rawValue + met.local.rawValue + met.remote.rawValue
        let expected =
            cell == "rule" ? .attribute(.text(asked)) : TableKind.text.value(try side(cell))
        #expect(outcome.merged.value(slot) == expected)
        #expect(outcome.conflicts.count == (cell == "rule" ? 1 : 0))
    }

    private func side(_ cell: String) throws -> MergeSide {
        try #require(MergeSide(rawValue: cell))
    }
}

/// What a property of the tables can be.
enum TableKind {
    case text, number, link

    func value(_ side: MergeSide) -> PropertyValue {
        switch (self, side) {
        case (.link, .absent): .link(nil)
        case (.link, _): .link(NamedLink(side.rawValue))
        case (_, .absent): .attribute(.null)
        case (.text, _): .attribute(.text(side.rawValue))
        case (.number, _): .attribute(.integer(side == .a ? 1 : 3))
        }
    }
}

/// What the tables say of one property.
private struct Expectation {
    let value: PropertyValue
    /// Of the lines in the log.
    let winners: [PropertyConflict.Winner]

    init(
        _ met: MergeCase, _ word: String, _ kind: TableKind, standard: String, isLocalLater: Bool
    ) throws {
        let cell = try #require(MergeTable.kinds).cell("property", met)
        let words = met.isMet ? try #require(MergeTable.rules).cell("`\(word)`", met) : cell
        let count = kind == .number ? Int64(words) : nil
        let side: (local: PropertyValue, remote: PropertyValue) = (
            kind.value(met.local), kind.value(met.remote)
        )
        guard cell == "rule" || count != nil else {
            value = kind.value(try #require(MergeSide(rawValue: cell)))
            winners = []
            return
        }
        let isComputed = ["max", "min", "text", "counter", "set"].contains(word)
        let isNoCount = count == nil && Int64(words) != nil
        let isBoth = words == "ab" && kind == .text
        let isNoText = words == "ab" && kind != .text
        let givesWay =
            words == "gives way" || isNoCount || isNoText || (isComputed && kind == .link)
        let waits = givesWay ? standard == "error" : words.hasSuffix(", waits")
        if let count {
            (value, winners) = (.attribute(.integer(count)), [.merged])
        } else if isBoth {
            (value, winners) = (.attribute(.text(words)), [.merged])
        } else if waits {
            (value, winners) = (side.local, [.waiting])
        } else if givesWay {
            let isRemote = standard == "remote"
            (value, winners) = isRemote ? (side.remote, [.remote]) : (side.local, [.local])
        } else if words == "the later" {
            (value, winners) = isLocalLater ? (side.local, [.local]) : (side.remote, [.remote])
        } else {
            value = kind.value(try #require(MergeSide(rawValue: words)))
            winners = isComputed ? [.merged] : [value == side.local ? .local : .remote]
        }
    }
}
