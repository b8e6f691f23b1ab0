import CoreData
import Foundation
import Testing

/// Predicates that look into transformable values: every store answers as objects do.
@Suite struct TransformedQueryTests {
    @Test(arguments: StoreKind.allCases)
    func transformedValuesAreComparedAsObjects(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        _ = try bench.person("Eve")
        ada.colors = ["red", "blue"]
        bob.colors = ["green"]
        ada.spouse = bob
        try bench.context.save()
        let colors = ["red", "blue"] as NSArray
        for (format, arguments, names): (String, [Any], Set<String>) in [
            ("colors == %@", [colors], ["Ada"]), ("colors != %@", [colors], ["Bob", "Eve"]),
            ("colors == nil", [], ["Eve"]), ("colors != nil", [], ["Ada", "Bob"]),
            ("spouse.colors == %@", [colors], ["Bob"]), ("%@ == colors", [colors], ["Ada"]),
            ("ANY friends.colors == %@", [colors], []), ("colors == 'red'", [], []),
            ("SUBQUERY(friends, $f, $f.colors == %@).@count != 0", [colors], []),
            ("NOT (name == 'Bob' OR colors == %@)", [colors], ["Eve"]),
        ] {
            let request = NSFetchRequest<Person>(entityName: "Person")
            request.predicate = NSPredicate(format: format, argumentArray: arguments)
            let context = bench.newContext()
            let found = try context.fetch(request)
            #expect(Set(found.compactMap(\.name)) == names, "\(format)")
            #expect(try context.count(for: request) == names.count, "\(format)")
            let all = try context.fetch(NSFetchRequest<Person>(entityName: "Person"))
            let held = all.filter { request.predicate?.evaluate(with: $0) == true }
            #expect(Set(held.compactMap(\.name)) == names, "\(format)")
        }
    }
}
