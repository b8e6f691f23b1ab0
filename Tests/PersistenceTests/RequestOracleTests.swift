import CoreData
import Foundation
import Testing

/// Random requests for dictionaries, answered by stores and by plain Swift.
@Suite struct RequestOracleTests {
    private func bench(_ kind: StoreKind, _ lines: [RequestOracle.Line]) throws -> Bench {
        let bench = try Bench(kind)
        var departments: [String: NSManagedObject] = [:]
        for name in ["Lab", "Sales", "Shop"] {
            departments[name] = try bench.make("Department", name)
        }
        for line in lines {
            let person = try bench.person(line.name)
            person.age = Int16(line.age)
            person.isActive = line.active
            person.setValue(line.score, forKey: "score")
            person.department = line.department.flatMap { departments[$0] }
        }
        try bench.context.save()
        return bench
    }

    private func value(_ value: Any?) -> RequestOracle.Value {
        switch value {
        case nil: .none
        case let text as String: .text(text)
        case let number as NSNumber: .number(number.doubleValue)
        default: .text("\(value ?? "")")
        }
    }

    private func agrees(_ found: [NSDictionary], _ wanted: [[String: RequestOracle.Value]]) -> Bool
    {
        guard found.count == wanted.count else { return false }
        return zip(found, wanted).allSatisfy { line, values in
            values.allSatisfy { value(line[$0.key]).isNear($0.value) }
                && line.count == values.values.filter { $0 != .none }.count
        }
    }

    @Test(arguments: [StoreKind.sqlite, .memory], 0..<8 as Range<UInt64>)
    func randomRequestsGiveWhatPlainSwiftGives(_ kind: StoreKind, seed: UInt64) throws {
        var maker = RequestMaker(seed: seed)
        let oracle = RequestOracle(lines: maker.lines(seed == 7 ? 0 : 40))
        let bench = try bench(kind, oracle.lines)
        var filled = 0
        for number in 0..<300 {
            let question = maker.question()
            let wanted = oracle.answer(question)
            let found = try bench.context.fetch(question.request)
            #expect(
                agrees(found, wanted), "seed \(seed), \(number): \(question)\n\(found)\n\(wanted)")
            if number % 10 == 0 {
                #expect(try bench.context.count(for: question.request) == wanted.count)
            }
            filled += wanted.isEmpty ? 0 : 1
        }
        #expect(seed == 7 || filled > 200)
    }

    /// Pending changes, with order and bounds, against sorting all objects that should be there.
    @Test(arguments: [StoreKind.sqlite, .memory], 0..<4 as Range<UInt64>)
    func unsavedChangesAreMergedInOrder(_ kind: StoreKind, seed: UInt64) throws {
        var random = SeededNumbers(seed)
        var maker = RequestMaker(seed: seed)
        let bench = try bench(kind, maker.lines(30))
        let context = bench.context
        for _ in 0..<40 {
            try edit(bench, &random)
            let request = NSFetchRequest<Person>(entityName: "Person")
            let bound = Int16.random(in: 0..<60, using: &random)
            let ascending = Bool.random(using: &random)
            request.predicate = NSPredicate(format: "age >= %d", Int(bound))
            request.sortDescriptors = [
                NSSortDescriptor(key: "age", ascending: ascending),
                NSSortDescriptor(key: "email", ascending: true),
            ]
            let everything = try context.fetch(NSFetchRequest<Person>(entityName: "Person"))
            let wanted = everything.filter { $0.age >= bound }.sorted { one, other in
                if one.age != other.age { return (one.age < other.age) == ascending }
                return (one["email"] as? String ?? "") < (other["email"] as? String ?? "")
            }
            #expect(try context.count(for: request) == wanted.count)
            request.fetchOffset = Int.random(in: 0..<5, using: &random)
            request.fetchLimit = Int.random(in: 1..<9, using: &random)
            let slice = Array(wanted.dropFirst(request.fetchOffset).prefix(request.fetchLimit))
            #expect(try context.fetch(request) == slice)
            #expect(try context.count(for: request) == slice.count)
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
            ids.choose(like: request)
            #expect(try context.fetch(ids) == slice.map(\.objectID))
        }
    }

    private func edit(_ bench: Bench, _ random: inout SeededNumbers) throws {
        let people = try bench.context.fetch(NSFetchRequest<Person>(entityName: "Person"))
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let person = try bench.person("New")
                person.age = Int16.random(in: 0..<60, using: &random)
                person.setValue("n\(random.next())@x", forKey: "email")
            case 1: people.randomElement(using: &random).map(bench.context.delete)
            default:
                let person = people.randomElement(using: &random)
                guard person?.isDeleted == false else { continue }
                person?.age = Int16.random(in: 0..<60, using: &random)
                person?.setValue("e\(random.next())@x", forKey: "email")
            }
        }
        if Int.random(in: 0..<6, using: &random) == 0 { try bench.context.save() }
    }
}

extension NSFetchRequest where ResultType == NSManagedObjectID {
    /// Asks for the IDs of what another request finds.
    fileprivate func choose<Other>(like other: NSFetchRequest<Other>) {
        resultType = .managedObjectIDResultType
        predicate = other.predicate
        sortDescriptors = other.sortDescriptors
        fetchLimit = other.fetchLimit
        fetchOffset = other.fetchOffset
    }
}
