import Foundation
import MirrorEngine
import ObjectModel
import RecordWire
import Stores

@testable import MirrorTestKit

/// Worlds of two devices that edit the same few objects of one model, under one merge rule, with a
/// service of one dialect.
struct ConflictWorlds {
    /// One line of the table.
    struct Line: Sendable {
        var model: String
        var rule: String
        var dialect: ServiceDialect
        var worlds = 0
        /// Lines of properties in the devices' conflict logs.
        var conflicts = 0
        var result = Result.holds
    }

    enum Result: Sendable {
        case holds
        /// The model cannot be mirrored; the reason is one sentence.
        case refused(String)
        case broken([String])
    }

    let name: String
    let model: NSManagedObjectModel
    let rule: MergeRule
    let dialect: ServiceDialect
    /// How many worlds there are at least. More follow, up to four times as many, until devices
    /// were in conflict.
    let worlds: Int
    /// The number of the first of them.
    let firstSeed: UInt64

    /// All rules that have a word, and one in code that takes the same side on all devices.
    static let rules: [MergeRule] =
        MergeRule.names.compactMap { MergeRule(name: $0) }
        + [.custom { [$0.local, $0.remote].max { "\($0 as Any)" < "\($1 as Any)" } ?? nil }]

    func run() -> Line {
        var line = Line(model: name, rule: rule.name, dialect: dialect)
        for index in 0..<worlds * 4 where line.worlds < worlds || line.conflicts == 0 {
            line.worlds += 1
            let seed = firstSeed + UInt64(index)
            do {
                try run(seed: seed, &line)
            } catch let error as StoreError where error.code == .unsupported {
                line.result = .refused(error.message)
            } catch let error as MirrorError where error.code == .storeNotMirrorable {
                line.result = .refused(error.message)
            } catch {
                line.result = .broken(["seed \(seed): it threw \(error)"])
            }
            guard case .holds = line.result else { break }
        }
        return line
    }

    private func run(seed: UInt64, _ line: inout Line) throws {
        let scratch = try Scratch()
        let world = try SimulatedWorld(
            seed: seed, settings: settings(seed: seed), folder: scratch.url("world"))
        try world.fillFirstDevice(model, seed: seed)
        let broken = try world.run()
        line.conflicts += world.statistics.met[.loggedConflict] ?? 0
        if !broken.isEmpty {
            line.result = .broken(["seed \(seed):"] + broken)
            print("\(name), \(rule.name), \(dialect.rawValue), seed \(seed)")
            print(world.story.joined(separator: "\n"))
        }
    }

    private func settings(seed: UInt64) -> WorldSettings {
        let dice = SeededRandomness(seed: seed &* 7_919)
        var settings = WorldSettings(model: model)
        settings.steps = 60
        settings.dialect = dialect
        settings.policy = MergePolicy(
            standard: rule, deletion: dice.chance(percent: 40) ? .keepEdited : .deleteWins)
        settings.faults = .drawn(by: dice)
        settings.sizes = .drawn(by: dice)
        // Both devices change the same few values; a little of all else is there too.
        settings.edits.focus = 1 + dice.below(2)
        settings.edits.insert = 6
        settings.edits.change = 60
        settings.edits.count = 3
        settings.edits.relink = 25
        settings.edits.pair = 5
        settings.edits.delete = 3
        settings.edits.entities = chosen(by: dice)
        return settings
    }

    /// A few entities, among them one whose objects can be in conflict where there is such.
    private func chosen(by dice: SeededRandomness) -> Set<String> {
        let layout = ModelLayout(model: model)
        let all = layout.entities.filter { !$0.entity.isAbstract }.map(\.name)
        let names = [Self.clashing(layout).sorted(), all.sorted()].compactMap { dice.pick($0) }
        return Set(names)
    }

    /// The entities whose objects two devices can change in one place: concrete ones with an
    /// attribute that is written and has several values, or a link to one object.
    static func clashing(_ layout: ModelLayout) -> Set<String> {
        let counters = CounterRules(MergePolicy(), layout)
        return Set(
            layout.entities.filter { entity in
                !entity.entity.isAbstract
                    && (!entity.toOnes.isEmpty
                        || entity.attributes.contains {
                            isWritten($0) && !counters.include($0, of: entity)
                        })
            }.map(\.name))
    }

    private static func isWritten(_ slot: EntityLayout.AttributeSlot) -> Bool {
        !(slot.attribute is NSDerivedAttributeDescription)
            && ![.undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType]
                .contains(slot.attribute.attributeType)
    }
}

/// The table of models, rules and dialects.
struct ConflictTable {
    private(set) var lines: [ConflictWorlds.Line] = []

    mutating func add(_ line: ConflictWorlds.Line) { lines.append(line) }

    /// What broke a law, and models that no rule and no dialect brought into conflict.
    func faults(clashing: Set<String>) -> [String] {
        let broken = lines.compactMap { line -> String? in
            guard case .broken(let laws) = line.result else { return nil }
            return "\(line.model), \(line.rule), \(line.dialect.rawValue), "
                + laws.joined(separator: " ")
        }
        let calm = Dictionary(grouping: lines, by: \.model).compactMap { model, lines -> String? in
            let holds = lines.contains { if case .holds = $0.result { true } else { false } }
            guard clashing.contains(model), holds, lines.allSatisfy({ $0.conflicts == 0 }) else {
                return nil
            }
            return "No world of \(model) was in conflict."
        }
        return broken + calm.sorted()
    }

    var text: String {
        var rows = ["model\trule\tdialect\tworlds\tconflicts\tresult"]
        for line in lines {
            let result =
                switch line.result {
                case .holds: "equal"
                case .refused(let reason): "refused: \(reason)"
                case .broken(let laws): "BROKEN: \(laws.joined(separator: " "))"
                }
            rows.append(
                "\(line.model)\t\(line.rule)\t\(line.dialect.rawValue)\t\(line.worlds)\t"
                    + "\(line.conflicts)\t\(result)")
        }
        let refused = Set(
            lines.filter { if case .refused = $0.result { true } else { false } }.map(\.model))
        let worlds = lines.reduce(0) { $0 + $1.worlds }
        let conflicts = lines.reduce(0) { $0 + $1.conflicts }
        let calm = lines.count {
            if case .holds = $0.result { $0.conflicts == 0 } else { false }
        }
        rows.append(
            "\(Set(lines.map(\.model)).count) models, \(worlds) worlds, \(conflicts) conflicts, "
                + "\(refused.count) models refused, \(calm) lines without a conflict")
        return rows.joined(separator: "\n")
    }
}
