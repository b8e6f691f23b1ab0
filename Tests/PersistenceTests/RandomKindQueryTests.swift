import CoreData
import Foundation
import Testing

/// Random predicates and orders over objects with an attribute of each type and a relationship of
/// each kind: SQLite, the other stores and `evaluate(with:)` find the same.
///
/// `DIPTYCH_PREDICATES` sets how many are made, `DIPTYCH_SEED` the first world.
@Suite struct RandomKindQueryTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let perWorld = 100
    /// Worlds in which a difference was found once.
    private static let fixed: [UInt64] = [81, 98]

    @Test(arguments: [false, true])
    func everyStoreFindsWhatEvaluationFinds(isPositive: Bool) throws {
        let count = Self.environment["DIPTYCH_PREDICATES"].flatMap { Int($0) } ?? 600
        let first = Self.environment["DIPTYCH_SEED"].flatMap { UInt64($0) } ?? 1
        var (differences, filled, refused) = (0, 0, 0)
        let worlds = first..<first + UInt64(max(1, count / Self.perWorld))
        let fixed = Self.environment["DIPTYCH_SEED"] == nil ? Self.fixed : []
        for seed in fixed + worlds where differences < 12 {
            let world = try KindWorld(seed: seed, isPositive: isPositive)
            for number in 0..<UInt64(Self.perWorld) {
                var query = RandomKindQuery(seed: seed &* 1000 &+ number, isPositive: isPositive)
                let format = query.predicate()
                let answers = try world.answers(format, query.arguments, query.sort())
                if Set(answers).count > 1 {
                    differences += 1
                    Issue.record(
                        "seed \(seed), \(number): \(format) \(query.arguments): \(answers)")
                }
                if answers.first?.contains("refused") == true { refused += 1 }
                if answers.first?.contains("[]") == false { filled += 1 }
            }
        }
        print("random kinds: \(filled) of \(count) with objects, \(refused) refused")
        #expect(filled > count / 4 && refused < count / 10)
    }
}

/// The same objects in several stores.
private final class KindWorld {
    private let benches: [Bench]
    private let model: NSManagedObjectModel

    init(seed: UInt64, isPositive: Bool) throws {
        let model = Self.makeModel()
        self.model = model
        benches = try [StoreKind.sqlite, .memory, .xml].map { try Bench($0, model: model) }
        for bench in benches {
            var dice = Dice(seed)
            try Self.fill(bench, &dice, isPositive)
            try bench.context.save()
            bench.context.reset()
        }
    }

    private static func makeModel() -> NSManagedObjectModel {
        let kind = TestModel.entity("Kind")
        let types: [(String, NSAttributeType)] = [
            ("number", .integer32AttributeType), ("i16", .integer16AttributeType),
            ("i32", .integer32AttributeType), ("i64", .integer64AttributeType),
            ("big", .integer64AttributeType), ("flag", .booleanAttributeType),
            ("real", .doubleAttributeType), ("single", .floatAttributeType),
            ("amount", .decimalAttributeType), ("text", .stringAttributeType),
            ("when", .dateAttributeType), ("uuid", .UUIDAttributeType),
            ("uri", .URIAttributeType), ("data", .binaryDataAttributeType),
            ("colors", .transformableAttributeType),
        ]
        kind.properties = types.map { TestModel.attribute($0.0, $0.1) }
        TestModel.link(kind, "peer", .one, kind, "peers", .many)
        TestModel.link(kind, "whole", .one, kind, "parts", .many)
        TestModel.link(kind, "lister", .one, kind, "list", .ordered)
        TestModel.link(kind, "links", .many, kind, "linked", .many)
        let model = NSManagedObjectModel()
        model.entities = [kind]
        return model
    }

    private static func fill(_ bench: Bench, _ dice: inout Dice, _ isPositive: Bool) throws {
        let objects = try (0..<14).map { _ in try bench.make("Kind") }
        for (index, object) in objects.enumerated() {
            object.setValue(index, forKey: "number")
            let values: [(String, Any)] = [
                ("i16", dice.below(9) - 2), ("i32", dice.below(9) - 2), ("i64", dice.below(20)),
                ("big", dice.pick([Int.min, .max, 1 << 53 + 1, -1, 0, 3_037_000_500]) ?? 0),
                ("flag", dice.hits(50)), ("real", Double(dice.below(20)) / 2 - 2),
                ("single", Float(dice.below(20)) / 2 - 2),
                ("amount", Decimal(dice.below(20)) / 2 - 2),
                ("text", RandomKindQuery.words[dice.below(8)]),
                ("when", Date(timeIntervalSinceReferenceDate: Double(dice.below(6)) * 1.5)),
                ("uuid", RandomKindQuery.ids[dice.below(4)]),
                ("uri", RandomKindQuery.addresses[dice.below(4)]),
                ("data", RandomKindQuery.blobs[dice.below(3)]),
                ("colors", RandomKindQuery.colors[dice.below(3)]),
            ]
            for (key, value) in values where !isPositive || dice.hits(75) {
                object.setValue(value, forKey: key)
            }
            for key in ["peer", "whole", "lister"] where key == "peer" || dice.hits(60) {
                if isPositive, dice.hits(30) { continue }
                object.setValue(objects[dice.below(14)], forKey: key)
            }
            object.addObject(objects[dice.below(14)], toRelationshipNamed: "links")
        }
    }

    /// What each store finds, and what evaluation does, as the objects' numbers.
    func answers(
        _ format: String, _ arguments: [Any], _ sort: [NSSortDescriptor]
    ) throws -> [String] {
        let predicate = try NSPredicate.parse(format, arguments: arguments)
        var answers: [String] = []
        for bench in benches {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Kind")
            request.predicate = predicate
            request.sortDescriptors = sort
            do {
                answers.append(numbers(try bench.context.fetch(request)))
            } catch {
                answers.append("refused")
            }
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Kind")
        request.sortDescriptors = sort
        let all = try benches[0].context.fetch(request)
        // What evaluation refuses it answers with false.
        if answers[0] != "refused" {
            answers.append(numbers(all.filter { predicate.evaluate(with: $0) }))
        }
        return answers
    }

    private func numbers(_ objects: [NSManagedObject]) -> String {
        "\(objects.compactMap { $0.value(forKey: "number") as? Int })"
    }
}
