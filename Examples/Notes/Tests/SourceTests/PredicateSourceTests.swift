import CoreData
import Testing

struct PredicateSourceTests {
    let container: NSPersistentContainer

    init() throws { container = try AppModel.container() }

    private func format<Input: NSObject>(_ predicate: Predicate<Input>) throws -> String {
        try NSPredicate.converting(predicate).description
    }

    @Test func swiftPredicatesAreTheSameAsFormats() throws {
        let name = "Ann"
        let cases: [(NSPredicate, String)] = [
            (try NSPredicate.converting(#Predicate<Person> { $0.name == name }), "name == 'Ann'"),
            (
                try NSPredicate.converting(#Predicate<Person> { $0.age > 3 && $0.isActive }),
                "age > 3 AND isActive == YES"
            ),
            (
                try NSPredicate.converting(
                    #Predicate<Person> { !($0.age <= 3) || $0.score != 1.5 }),
                "NOT age <= 3 OR score != 1.5"
            ),
            (
                try NSPredicate.converting(#Predicate<Person> { $0.boss?.name == name }),
                "boss.name == 'Ann'"
            ),
            (try NSPredicate.converting(#Predicate<Person> { $0.born == nil }), "born == nil"),
            (
                try NSPredicate.converting(
                    #Predicate<Person> { $0.name?.contains("n") == true }), "name CONTAINS 'n'"
            ),
            (
                try NSPredicate.converting(
                    #Predicate<Person> { $0.name?.starts(with: "A") ?? false }),
                "name BEGINSWITH 'A'"
            ),
            (
                try NSPredicate.converting(#Predicate<Person> { (3...5).contains($0.age) }),
                "age >= 3 AND age <= 5"
            ),
            (
                try NSPredicate.converting(#Predicate<Person> { $0.age + 1 == 4 }),
                "age + 1 == 4"
            ),
        ]
        for (made, wanted) in cases { #expect(made == NSPredicate(format: wanted)) }
        let list: [Int16] = [1, 2]
        #expect(try format(#Predicate<Person> { list.contains($0.age) }) == "age IN {1, 2}")
    }

    @Test func searchesArePredicates() throws {
        let term = "ANN"
        let made = try NSPredicate.converting(
            #Predicate<Person> { $0.name?.localizedStandardContains(term) ?? false })
        #expect(made == NSPredicate(format: "name CONTAINS[cd] 'ANN'"))
        let file = AppModel.temporaryFile()
        let context = try AppModel.container(file: file).newBackgroundContext()
        try context.performAndWait {
            for name in ["Joänn", "Bob", "hanna"] { _ = Person(name: name, in: context) }
            try context.save()
            let request = NSFetchRequest<Person>(entityName: "Person")
            request.predicate = made
            request.sortDescriptors = [
                NSSortDescriptor(SortDescriptor(\Person.name, comparator: .localizedStandard))
            ]
            #expect(try context.fetch(request).map(\.name) == ["hanna", "Joänn"])
            let whole = SortDescriptor(\Person.name, comparator: .localized, order: .reverse)
            #expect(whole.comparison == .localized && whole.order == .reverse)
        }
    }

    @Test func textsArePutInOrderByPredicates() throws {
        let (name, ascending, equal) = (
            "bob", ComparisonResult.orderedAscending, ComparisonResult.orderedSame
        )
        let before = #Predicate<Person> {
            ($0.name ?? "").localizedCompare(name) == ascending
        }
        let same = #Predicate<Person> {
            ($0.name ?? "").caseInsensitiveCompare(name) == equal
        }
        let made = try NSPredicate.converting(
            #Predicate<Person> { $0.name!.localizedCompare(name) == equal })
        let order = "TERNARY(name ==[l] 'bob', 0, TERNARY(name <[l] 'bob', -1, 1))"
        #expect(made == NSPredicate(format: "\(order) == 0"))
        let file = AppModel.temporaryFile()
        let context = try AppModel.container(file: file).newBackgroundContext()
        try context.performAndWait {
            let people = ["Ann", "BOB", "bob", "Cid", "Émile", "ärger"].map {
                Person(name: $0, in: context)
            }
            try context.save()
            for predicate in [before, same] {
                let request = NSFetchRequest<Person>(entityName: "Person")
                request.predicate = try NSPredicate.converting(predicate)
                let found = Set(try context.fetch(request).map(\.name))
                #expect(found == Set(try people.filter(predicate).map(\.name)))
                #expect(found.count >= 2)
            }
        }
    }

    @Test func swiftPredicatesFindRows() throws {
        let file = AppModel.temporaryFile()
        let context = try AppModel.container(file: file).newBackgroundContext()
        try context.performAndWait {
            for (name, age) in [("Ann", Int16(3)), ("Bob", 5), ("Cid", 7)] {
                let person = Person(name: name, in: context)
                person.age = age
            }
            try context.save()
            let r = Person.fetchRequest()
            r.predicate = NSPredicate(#Predicate<Person> { $0.age > 3 && $0.name != "Cid" })
            #expect(try context.fetch(r).map(\.name) == ["Bob"])
        }
    }

    @Test func whatHasNoFormIsToldInWords() throws {
        #expect(NSPredicate(#Predicate<Person> { $0.shout == "ANN" }) == nil)
        let error = #expect(throws: PredicateTranslationError.self) {
            try NSPredicate.converting(#Predicate<Person> { $0.shout == "ANN" })
        }
        #expect(error?.code == .unnamedKeyPath)
        let other = #expect(throws: PredicateTranslationError.self) {
            try NSPredicate.converting(#Predicate<Person> { $0.staff as? Set<Person> == nil })
        }
        #expect(other?.code == .unsupportedExpression)
    }

    @Test func expressionsOfKeyPaths() {
        #expect(NSExpression(forKeyPath: \Person.age).keyPath == "age")
        #expect(NSExpression(forKeyPath: \Person.boss?.name).keyPath == "boss.name")
        let left = NSExpression(forKeyPath: "age")
        let right = NSExpression(forConstantValue: 3)
        let predicate = NSComparisonPredicate(
            leftExpression: left, rightExpression: right, modifier: .direct, type: .greaterThan,
            options: [])
        #expect(predicate.predicateFormat == "age > 3")
        let all = NSCompoundPredicate(andPredicateWithSubpredicates: [predicate])
        #expect(all.subpredicates.count == 1)
    }

    /// The types are named without any import but CoreData's.
    private func kind(of expression: NSExpression) -> NSExpression.ExpressionType {
        expression.expressionType
    }

    @Test func namesNeedNoFurtherImport() {
        #expect(kind(of: NSExpression(forKeyPath: "a")) == .keyPath)
        final class Upper: ValueTransformer, @unchecked Sendable {
            // @unchecked: it has no state.
            override func transformedValue(_ value: Any?) -> Any? {
                (value as? String)?.uppercased()
            }
        }
        ValueTransformer.setValueTransformer(Upper(), forName: NSValueTransformerName("Upper"))
        let found = ValueTransformer(forName: NSValueTransformerName("Upper"))
        #expect(found?.transformedValue("a") as? String == "A")
        #expect(NSSecureUnarchiveFromDataTransformer.allowsReverseTransformation())
    }
}
