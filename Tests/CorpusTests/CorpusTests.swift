import Foundation
import MirrorTestKit
import ObjectModel
import Testing

/// Real models, filled with generated objects and carried between two devices.
@Suite struct CorpusTests {
    @Test(.enabled(if: Corpus.isPresent, "set DIPTYCH_CORPUS to the corpus"))
    func everyCorpusModelConvergesOnTwoDevices() throws {
        var table = CarriedTable()
        for (index, model) in Corpus.models.enumerated()
        where Seeds.chooses(model.name) {
            for round in Seeds.range(1) {
                table.add(line(of: model, seed: round * 1_000 + UInt64(index)))
            }
        }
        print(table.text)
        #expect(!table.lines.isEmpty)
        #expect(table.unclear == [])
        #expect(table.convergedShare >= 0.9)
    }

    @Test func everyKindOfPropertyConvergesOnTwoDevices() throws {
        var table = CarriedTable()
        for seed in Seeds.range(6) {
            var carried = CarriedModel(
                name: "everything, seed \(seed)", model: EverythingModel.make(), seed: seed)
            carried.objectsPerEntity = 10
            carried.edits = 60
            table.add(carried.run())
        }
        print(table.text)
        #expect(table.unclear == [])
        #expect(table.convergedShare == 1)
    }

    private func line(of model: Corpus.Model, seed: UInt64) -> CarriedModel.Line {
        do {
            return CarriedModel(name: model.name, model: try model.load(), seed: seed).run()
        } catch let error as ModelFileError {
            var line = CarriedModel.Line(name: model.name)
            line.outcome = .refused("\(error)")
            return line
        } catch {
            var line = CarriedModel.Line(name: model.name)
            line.outcome = .failed("The model does not load: \(error)")
            return line
        }
    }
}

/// The table of what was carried.
struct CarriedTable {
    private(set) var lines: [CarriedModel.Line] = []

    mutating func add(_ line: CarriedModel.Line) { lines.append(line) }

    /// What ended neither in convergence nor in a clear refusal.
    var unclear: [String] {
        lines.compactMap { line in
            switch line.outcome {
            case .converged: nil
            case .refused(let reason): reason.isEmpty ? "\(line.name) has no reason" : nil
            case .failed(let reason): "\(line.name): \(reason)"
            }
        }
    }

    var convergedShare: Double {
        let converged = lines.count { if case .converged = $0.outcome { true } else { false } }
        return lines.isEmpty ? 0 : Double(converged) / Double(lines.count)
    }

    var text: String {
        let rows = lines.map { line in
            "\(Self.pad(line.name, 46)) \(Self.number(line.entities)) \(Self.number(line.objects)) "
                + "\(Self.number(line.pairs))  \(Self.text(line))"
        }
        let converged = Int((convergedShare * Double(lines.count)).rounded())
        let objects = lines.reduce(0) { $0 + $1.objects }
        let pairs = lines.reduce(0) { $0 + $1.pairs }
        let entities = lines.reduce(0) { $0 + $1.entities }
        return """
            \(Self.pad("model", 46)) entities objects pairs  outcome
            \(rows.joined(separator: "\n"))
            \(lines.count) models, \(entities) entities, \(objects) objects, \(pairs) pairs: \
            \(converged) converged
            """
    }

    private static func text(_ line: CarriedModel.Line) -> String {
        let outcome =
            switch line.outcome {
            case .converged: "converged"
            case .refused(let reason): "refused: \(reason)"
            case .failed(let reason): "FAILED: \(reason)"
            }
        guard !line.unfilled.isEmpty else { return outcome }
        return "\(outcome), without \(line.unfilled.map(\.description).joined(separator: "; "))"
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text.count >= width ? text : text + String(repeating: " ", count: width - text.count)
    }

    private static func number(_ value: Int) -> String {
        let text = "\(value)"
        return String(repeating: " ", count: max(0, 7 - text.count)) + text
    }
}
