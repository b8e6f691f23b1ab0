import CoreData
import Foundation
import Testing

import class CoreData.NSExpression

/// Set expressions and selectors in fetches, on every store type.
@Suite struct SetPredicateTests {
    private func bench(_ kind: StoreKind) throws -> Bench {
        let bench = try Bench(kind)
        for name in ["Ada", "Bob", "Cy", "Dee"] { try bench.person(name) }
        try bench.context.save()
        return bench
    }

    private func names(_ predicate: NSPredicate, _ bench: Bench) throws -> [String] {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = predicate
        return try bench.newContext().fetch(request).compactMap(\.name).sorted()
    }

    @Test(arguments: StoreKind.allCases)
    func membershipInASetExpressionIsAConditionOnItsParts(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let (a, b) = (["Ada", "Bob"], ["Bob", "Cy"])
        func found(_ make: (NSExpression, NSExpression) -> NSExpression) throws -> [String] {
            let set = make(
                NSExpression(forConstantValue: a), NSExpression(forConstantValue: b))
            let predicate = NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: "name"), rightExpression: set,
                modifier: .direct, type: .in)
            return try names(predicate, bench)
        }
        #expect(try found { NSExpression(forUnionSet: $0, with: $1) } == ["Ada", "Bob", "Cy"])
        #expect(try found { NSExpression(forIntersectSet: $0, with: $1) } == ["Bob"])
        #expect(try found { NSExpression(forMinusSet: $0, with: $1) } == ["Ada"])
    }

    @Test(arguments: StoreKind.allCases)
    func relationshipsMayBeJoinedInOneSet(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        let (cy, dee) = (try bench.person("Cy"), try bench.person("Dee"))
        ada.friends = [bob, cy]
        dee.setValue(bob, forKey: "manager")
        try bench.context.save()
        let either = NSPredicate(format: "(friends UNION reports) CONTAINS %@", dee)
        #expect(try names(either, bench) == ["Bob"])
        let only = NSPredicate(format: "(friends MINUS reports) CONTAINS %@", cy)
        #expect(try names(only, bench) == ["Ada"])
    }

    @Test func aRegisteredSelectorIsEvaluatedInMemoryAndRefusedInSQL() throws {
        NSExpression.register(selector: "isLongerThanInTests:") { receiver, arguments in
            (receiver as? String ?? "").count > (arguments[0] as? String ?? "").count
        }
        let predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "name"),
            rightExpression: NSExpression(forConstantValue: "xx"),
            customSelectorName: "isLongerThanInTests:")
        #expect(try names(predicate, bench(.memory)) == ["Ada", "Bob", "Dee"])
        let error = #expect(throws: NSError.self) { try names(predicate, bench(.sqlite)) }
        #expect(error?.code == 134_091)
    }

    @Test(arguments: StoreKind.allCases)
    func dictionariesHaveTheObjectIDByName(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let request = NSFetchRequest<NSDictionary>(entityName: "Person")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name", "objectID"]
        request.predicate = NSPredicate(format: "name == 'Cy'")
        let line = try #require(try bench.context.fetch(request).first)
        let id = try #require(line["objectID"] as? NSManagedObjectID)
        #expect(try bench.context.existingObject(with: id).value(forKey: "name") as? String == "Cy")
    }
}
