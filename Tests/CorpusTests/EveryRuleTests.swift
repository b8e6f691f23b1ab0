import Foundation
import MirrorTestKit
import ObjectModel
import RecordWire
import Stores
import Testing

/// Models under every merge rule, with a service of either dialect: devices that edit the same
/// objects come to conflicts, and to rest in agreement.
@Suite struct EveryRuleTests {
    /// A few models of the corpus. `DIPTYCH_RULE_WORLDS` says how many worlds there are of each
    /// model, rule and dialect, and takes all models; `Tools/soak corpus` asks for it.
    @Test(.enabled(if: Corpus.isPresent, "set DIPTYCH_CORPUS to the corpus"))
    func corpusModelsConvergeInConflictUnderEveryRule() async throws {
        let models = Corpus.models.filter { Seeds.chooses($0.name) }
        let chosen = Self.worlds == nil ? Self.few(of: models) : models
        #expect(!chosen.isEmpty)
        try await converge(chosen.map { model in (model.name, { try model.load() }) })
    }

    @Test func everyKindConvergesInConflictUnderEveryRule() async throws {
        try await converge([("everything", EverythingModel.make)])
    }

    private static let worlds = ProcessInfo.processInfo.environment["DIPTYCH_RULE_WORLDS"].flatMap(
        Int.init)

    private static let firstSeed =
        ProcessInfo.processInfo.environment["DIPTYCH_SEED"].flatMap(UInt64.init) ?? 1

    /// Models from all over the corpus, the same each time.
    private static func few(of models: [Corpus.Model]) -> [Corpus.Model] {
        let count = 3
        guard models.count > count else { return models }
        return (0..<count).map { models[(2 * $0 + 1) * models.count / (2 * count)] }
    }

    private func converge(
        _ models: [(name: String, load: () throws -> NSManagedObjectModel)]
    ) async throws {
        var table = ConflictTable()
        var clashing: Set<String> = []
        for (name, load) in models {
            do {
                let model = try load()
                model.freeze()
                if !ConflictWorlds.clashing(ModelLayout(model: model)).isEmpty {
                    clashing.insert(name)
                }
                for line in await lines(name, model) { table.add(line) }
            } catch let error as ModelFileError {
                table.add(
                    ConflictWorlds.Line(
                        model: name, rule: "-", dialect: .extended, result: .refused("\(error)")))
            }
        }
        print(table.text)
        #expect(table.faults(clashing: clashing) == [])
    }

    /// All rules with both dialects, side by side.
    private func lines(
        _ name: String, _ model: NSManagedObjectModel
    ) async -> [ConflictWorlds.Line] {
        let all = ConflictWorlds.rules.enumerated().flatMap { index, rule in
            [ServiceDialect.extended, .plain].map { dialect in
                ConflictWorlds(
                    name: name, model: model, rule: rule, dialect: dialect,
                    worlds: Self.worlds ?? 1, firstSeed: Self.firstSeed + UInt64(index) * 1_000)
            }
        }
        return await withTaskGroup(of: (Int, ConflictWorlds.Line).self) { group in
            for (index, worlds) in all.enumerated() {
                group.addTask { (index, worlds.run()) }
            }
            var lines: [(Int, ConflictWorlds.Line)] = []
            for await line in group { lines.append(line) }
            return lines.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
