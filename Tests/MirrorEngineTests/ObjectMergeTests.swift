import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import Stores
import Testing

/// The merge rule, tried over every combination of few values.
@Suite struct ObjectMergeTests {
    static let rules = MergeRule.names.compactMap(MergeRule.init(name:))
    let entity: EntityLayout
    let slot: Int
    let other: Int

    init() throws {
        let layout = ModelLayout(model: SampleModel.make())
        entity = try #require(layout.entity(named: "Note"))
        slot = try #require(entity.attributeSlot("title"))
        other = try #require(entity.attributeSlot("rating"))
    }

    private func state(_ title: AttributeValue, _ rating: AttributeValue = .null) -> ObjectState {
        var state = ObjectState(empty: entity)
        state.attributes[slot] = title
        state.attributes[other] = rating
        return state
    }

    static let values: [AttributeValue] = [.null, .text("a"), .text("b"), .text("c")]

    @Test(arguments: rules.map(\.name))
    func theLawsHoldForEveryCombination(rule: String) throws {
        let policy = MergePolicy(standard: try #require(MergeRule(name: rule)))
        let merge = ObjectMerge(policy: policy, entity: entity)
        for base in Self.values {
            #expect(
                merge.merge(base: state(base), local: state(base), remote: state(base)).merged
                    == state(base))
            for one in Self.values {
                let taken = merge.merge(base: state(base), local: state(base), remote: state(one))
                #expect(taken.merged == state(one) && taken.conflicts.isEmpty)
                let kept = merge.merge(base: state(base), local: state(one), remote: state(base))
                #expect(kept.merged == state(one) && kept.conflicts.isEmpty)
                let same = merge.merge(base: state(base), local: state(one), remote: state(one))
                #expect(same.merged == state(one) && (rule == "counter" || same.conflicts.isEmpty))
                for two in Self.values where one != base && two != base && one != two {
                    let met = merge.merge(base: state(base), local: state(one), remote: state(two))
                    #expect(met.conflicts.count == 1)
                    let result = met.merged.attributes[slot]
                    #expect(result == one || result == two || ["text", "set"].contains(rule))
                    // Merged once more with what it came to, nothing changes.
                    let again = merge.merge(base: state(two), local: met.merged, remote: state(two))
                    #expect(again.merged == met.merged)
                }
            }
        }
    }

    @Test func wholeObjectRulesLogWhatTheyDiscard() throws {
        for (rule, winner) in [(MergeRule.rollback, "remote"), (.overwrite, "local")] {
            let merge = ObjectMerge(policy: MergePolicy(standard: rule), entity: entity)
            let outcome = merge.merge(
                base: state(.text("a"), .double(1)), local: state(.text("b"), .double(2)),
                remote: state(.text("c"), .double(1)))
            #expect(
                outcome.merged
                    == (winner == "remote"
                        ? state(.text("c"), .double(1)) : state(.text("b"), .double(2))))
            #expect(outcome.conflicts.count == (winner == "remote" ? 2 : 1))
            #expect(outcome.conflicts.allSatisfy { $0.winner.rawValue == winner })
        }
    }

    @Test func countersEndAtBaseAndAllIncrements() throws {
        var policy = MergePolicy()
        policy.set(.counter, entity: "Note", property: "rating")
        let merge = ObjectMerge(policy: policy, entity: entity)
        let outcome = merge.merge(
            base: state(.null, .double(10)), local: state(.null, .double(12)),
            remote: state(.null, .double(15)))
        #expect(outcome.merged.attributes[other] == .double(17))
    }

    @Test func aRuleForAPropertyBeatsItsEntitysAndTheStandardOne() {
        var policy = MergePolicy(standard: .remote)
        policy.set(.local, entity: "Note")
        policy.set(.max, entity: "Note", property: "rating")
        #expect(policy.rule(entity: "Note", property: "rating").name == "max")
        #expect(policy.rule(entity: "Note", property: "title").name == "local")
        #expect(policy.rule(entity: "Tag", property: "label").name == "remote")
    }

    @Test func anUnknownWordInTheModelIsToldWithItsOwner() throws {
        let model = SampleModel.make()
        model.entitiesByName["Tag"]?.attributesByName["label"]?.userInfo = ["MirrorMerge": "newest"]
        let error = #expect(throws: MirrorError.self) {
            try MergePolicy().reading(ModelLayout(model: model))
        }
        #expect(error?.message.contains("Tag.label") == true)
    }

    // MARK: Heirs and elements

    private func reading(
        _ policy: MergePolicy, _ model: NSManagedObjectModel = SampleModel.make()
    ) throws -> (String, String) throws -> String {
        let read = try policy.reading(ModelLayout(model: model))
        return { read.rule(entity: $0, property: $1).name }
    }

    @Test func aRuleHoldsForHeirsThatHaveNoneOfTheirOwn() throws {
        var policy = MergePolicy(standard: .min)
        policy.set(.max, entity: "Note", property: "rating")
        policy.set(.remote, entity: "Note")
        let rule = try reading(policy)
        #expect(try rule("TodoNote", "rating") == "max")
        #expect(try rule("TodoNote", "title") == "remote")
        #expect(try rule("TodoNote", "isDone") == "remote")
        #expect(try rule("TodoNote", "folder") == "remote")
        #expect(try rule("TodoNote", "views") == "counter")
        #expect(try rule("Tag", "label") == "min")
        policy.set(.text, entity: "TodoNote", property: "title")
        policy.set(.overwrite, entity: "TodoNote")
        let own = try reading(policy)
        #expect(try own("TodoNote", "title") == "text")
        #expect(try own("TodoNote", "rating") == "max")
        #expect(try own("TodoNote", "isDone") == "overwrite")
        #expect(try own("Note", "title") == "remote")
    }

    @Test func aRuleInTheModelHoldsForHeirsToo() throws {
        let model = SampleModel.make()
        model.entitiesByName["Note"]?.userInfo = ["MirrorMerge": "remote"]
        let rule = try reading(MergePolicy(), model)
        #expect(try rule("TodoNote", "isDone") == "remote")
        // What is set in code stands before what the model says.
        var policy = MergePolicy()
        policy.set(.error, entity: "Note")
        policy.set(.max, entity: "Note", property: "views")
        let set = try reading(policy, model)
        #expect(try set("TodoNote", "isDone") == "error")
        #expect(try set("TodoNote", "views") == "max")
    }

    private static func compositeModel() throws -> NSManagedObjectModel {
        let model = SampleModel.make()
        let size = NSCompositeAttributeDescription()
        size.name = "size"
        size.elements = [
            SampleModel.attribute("width", .integer64AttributeType),
            SampleModel.attribute("unit", .stringAttributeType),
        ]
        model.entitiesByName["Note"]?.properties += [size]
        return model
    }

    @Test func aRuleOfACompositeHoldsForItsElements() throws {
        var policy = MergePolicy()
        policy.set(.latest, entity: "Note", property: "size")
        policy.set(.counter, entity: "Note", property: "size.width")
        let rule = try reading(policy, Self.compositeModel())
        for entity in ["Note", "TodoNote"] {
            #expect(try rule(entity, "size.width") == "counter")
            #expect(try rule(entity, "size.unit") == "latest")
            #expect(try rule(entity, "title") == "local")
        }
    }

    @Test func aRuleOfACompositeInTheModelHoldsForItsElements() throws {
        let model = try Self.compositeModel()
        let note = try #require(model.entitiesByName["Note"])
        let size = try #require(
            note.attributesByName["size"] as? NSCompositeAttributeDescription)
        size.userInfo = ["MirrorMerge": "remote"]
        size.elements.first { $0.name == "width" }?.userInfo = ["MirrorMerge": "counter"]
        let rule = try reading(MergePolicy(), model)
        for entity in ["Note", "TodoNote"] {
            #expect(try rule(entity, "size.width") == "counter")
            #expect(try rule(entity, "size.unit") == "remote")
        }
        size.elements.first { $0.name == "unit" }?.userInfo = ["MirrorMerge": "newest"]
        let error = #expect(throws: MirrorError.self) { try reading(MergePolicy(), model) }
        #expect(error?.message.contains("Note.size.unit") == true)
    }

    // MARK: Rules of the app

    /// A side that a rule of the app answers is taken as it is, not as the wire spells it.
    @Test func aCustomRuleThatAnswersASideTakesItAsItIs() throws {
        let small = try #require(Decimal(string: "0.1234567890123456789"))
        let large = try #require(Decimal(string: "9876543210123456789"))
        let values: [(String, AttributeValue, AttributeValue, AttributeValue)] = [
            ("edited", .date(0.25), .date(1.234_567_89), .date(2.345_678_91)),
            ("price", .decimal(1), .decimal(small), .decimal(large)),
        ]
        for (name, base, local, remote) in values {
            let slot = try #require(entity.attributeSlot(name))
            func state(_ value: AttributeValue) -> ObjectState {
                var state = ObjectState(empty: entity)
                state.attributes[slot] = value
                return state
            }
            let rules: [(MergeRule, AttributeValue)] = [
                (.custom { $0.local }, local), (.custom { $0.remote }, remote),
                (.custom { $0.base }, base),
            ]
            for (rule, expected) in rules {
                let merge = ObjectMerge(policy: MergePolicy(standard: rule), entity: entity)
                let outcome = merge.merge(
                    base: state(base), local: state(local), remote: state(remote))
                #expect(outcome.merged.attributes[slot] == expected)
                #expect(outcome.conflicts.count == 1)
            }
        }
    }

    /// A link that is answered keeps its place.
    @Test func aCustomRuleThatAnswersALinkKeepsItsPlace() throws {
        let slot = try #require(entity.toOneSlot("folder"))
        func state(_ link: NamedLink?) -> ObjectState {
            var state = ObjectState(empty: entity)
            state.toOnes[slot] = link
            return state
        }
        let merge = ObjectMerge(
            policy: MergePolicy(standard: .custom { $0.local }), entity: entity)
        let (local, remote) = (NamedLink("a", orderKey: 10), NamedLink("b", orderKey: 20))
        let outcome = merge.merge(base: nil, local: state(local), remote: state(remote))
        #expect(outcome.merged.toOnes[slot] == local)
    }

    /// An answer with which no save, or no service, could do anything.
    @Test func anAnswerThatCannotStandGivesWayToTheStoresRule() throws {
        let name = SampleModel.attribute("name", .stringAttributeType)
        name.isOptional = false
        let (item, box) = (SampleModel.entity("Item", [name]), SampleModel.entity("Box", []))
        SampleModel.connect(item, "box", many: false, box, "items", many: true)
        let model = NSManagedObjectModel()
        model.entities = [item, box]
        let layout = try #require(ModelLayout(model: model).entity(named: "Item"))
        let (text, link) = (
            try #require(layout.attributeSlot("name")), try #require(layout.toOneSlot("box"))
        )
        func state(_ side: String) -> ObjectState {
            var state = ObjectState(empty: layout)
            state.attributes[text] = .text(side)
            state.toOnes[link] = NamedLink("\(side) box")
            return state
        }
        func merged(_ answer: @escaping @Sendable (MergeQuestion) -> FieldValue?) -> ObjectState {
            let policy = MergePolicy(standard: .custom(answer))
            return ObjectMerge(policy: policy, entity: layout)
                .merge(base: state("base"), local: state("local"), remote: state("remote")).merged
        }
        let cleared = merged { _ in nil }
        #expect(cleared.attributes[text] == .text("local") && cleared.toOnes[link] == nil)
        let unknown = merged { $0.property == "box" ? .string("nobody") : .string("new") }
        #expect(unknown.attributes[text] == .text("new"))
        #expect(unknown.toOnes[link] == NamedLink("local box"))
        let known = merged { $0.base }
        #expect(known.toOnes[link] == NamedLink("base box"))
    }
}
