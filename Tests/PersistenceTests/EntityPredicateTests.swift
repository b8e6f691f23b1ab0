import CoreData
import Foundation
import Testing

/// Predicates that ask which entity an object is of.
@Suite struct EntityPredicateTests {
    /// Ada, and the employees Bob and Cy; Bob is Ada's manager, Ada Cy's; Bob and Cy are friends.
    private func bench(_ kind: StoreKind) throws -> Bench {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let bob = try #require(try bench.make("Employee", "Bob") as? Person)
        let cy = try #require(try bench.make("Employee", "Cy") as? Person)
        ada.setValue(bob, forKey: "manager")
        cy.setValue(ada, forKey: "manager")
        bob.friends = [cy]
        try bench.make("Tag", "t")
        try bench.context.save()
        return bench
    }

    private func request(_ format: String, _ arguments: [Any]) -> NSFetchRequest<Person> {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }

    @Test(arguments: StoreKind.allCases)
    func objectsAreFoundByTheirEntity(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let (person, employee) = (try bench.named("Person"), try bench.named("Employee"))
        let tag = try bench.named("Tag")
        let cases: [(String, [Any], [String])] = [
            ("entity == %@", [employee], ["Bob", "Cy"]), ("entity == %@", [person], ["Ada"]),
            ("%@ == entity", [person], ["Ada"]), ("SELF.entity == %@", [person], ["Ada"]),
            ("entity != %@", [employee], ["Ada"]), ("entity == %@", [tag], []),
            ("entity IN %@", [[employee, tag]], ["Bob", "Cy"]),
            ("NOT entity IN %@", [[employee, tag]], ["Ada"]),
            ("manager.entity == %@", [employee], ["Ada"]),
            ("manager.entity == entity", [], []), ("self.manager.entity == %@", [person], ["Cy"]),
            ("manager.entity != %@ AND manager != nil", [employee], ["Cy"]),
            ("ANY friends.entity == %@", [employee], ["Bob", "Cy"]),
            ("SUBQUERY(friends, $f, $f.entity == %@).@count > 0", [person], []),
            ("entity == nil", [], []), ("manager.entity == nil", [], ["Bob"]),
            ("entity == 'Person'", [], []), ("%K == %@", ["entity", person], ["Ada"]),
        ]
        let context = bench.newContext()
        let everybody = try context.fetch(request("TRUEPREDICATE", []))
        for (format, arguments, found) in cases {
            let request = request(format, arguments)
            #expect(try context.fetch(request).map(\.name) == found, "\(format)")
            #expect(try context.count(for: request) == found.count, "\(format)")
            // As objects say themselves.
            let held = everybody.filter { request.predicate?.evaluate(with: $0) == true }
            #expect(held.map(\.name) == found, "\(format)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func unsavedObjectsAndOtherCopiesOfTheModelCount(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        try bench.make("Employee", "Dee")
        let other = try #require(TestModel.make().entitiesByName["Employee"])
        for employee in [other, try bench.named("Employee")] {
            let request = request("entity == %@", [employee])
            #expect(try bench.context.fetch(request).map(\.name) == ["Bob", "Cy", "Dee"])
        }
        let tags = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        tags.predicate = NSPredicate(format: "entity == %@", try bench.named("Tag"))
        #expect(try bench.context.count(for: tags) == 1)
        tags.predicate = NSPredicate(format: "entity != %@", try bench.named("Tag"))
        #expect(try bench.context.count(for: tags) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func anEntityHasNoOrder(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let person = try bench.named("Person")
        let context = bench.newContext()
        #expect(throws: NSError.self) { try context.fetch(request("entity < %@", [person])) }
        let sorted = request("TRUEPREDICATE", [])
        sorted.sortDescriptors = [NSSortDescriptor(key: "entity", ascending: true)]
        #expect(throws: NSError.self) { try context.fetch(sorted) }
    }
}
