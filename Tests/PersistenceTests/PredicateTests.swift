import CoreData
import Foundation
import Testing

/// Predicates as an app asks them, of stores of every kind.
@Suite struct PredicateTests {
    private func bench(_ kind: StoreKind) throws -> Bench {
        let bench = try Bench(kind)
        for (name, colors) in [("1", ["red", "blue"]), ("2", ["green"]), ("x", [])] {
            let person = try bench.person(name)
            person.setValue(colors, forKey: "colors")
        }
        try bench.context.save()
        bench.context.reset()
        return bench
    }

    private func names(_ bench: Bench, _ format: String, _ arguments: Any...) throws -> [String] {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try bench.context.fetch(request).compactMap(\.name)
    }

    @Test(arguments: StoreKind.allCases)
    func aTextIsFoundAmongNumbersThatSpellIt(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        #expect(try names(bench, "name IN %@", [1, 2.0, 3]) == ["1", "2"])
        #expect(try names(bench, "NOT name IN %@", [1, 3]) == ["2", "x"])
        #expect(try names(bench, "age IN %@", ["0", "x"]) == ["1", "2", "x"])
        // Beside unsaved changes the context answers for the changed objects.
        let first = try #require(try bench.context.fetch(Person.all).first { $0.name == "1" })
        first.name = "3"
        #expect(try names(bench, "name IN %@", [1, 2.0, 3]) == ["2", "3"])
    }

    /// What a column would be given: `serial == '5'`, in every store and beside unsaved changes.
    @Test(arguments: StoreKind.allCases)
    func aNumberIsFoundByATextThatSpellsIt(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        var people: [Person] = []
        for (name, age) in [("a", 1), ("b", 2), ("c", 3)] {
            let person = try bench.person(name)
            person.age = Int16(age)
            person.score = Double(age) + 0.5
            person.isActive = age == 2
            person.setValue(Decimal(age) / 10, forKey: "balance")
            people.append(person)
        }
        people[0].setValue(people[1], forKey: "manager")
        people[2].friends = [people[1]]
        try bench.context.save()
        bench.context.reset()
        for (format, found) in [
            ("age == '2'", ["b"]), ("'2' == age", ["b"]), ("age != '2'", ["a", "c"]),
            ("age > '1'", ["b", "c"]), ("'2' >= age", ["a", "b"]), ("age == 'x'", []),
            ("age BETWEEN {'2', '9'}", ["b", "c"]), ("age IN {'1', 'x'}", ["a"]),
            ("score == '2.5'", ["b"]), ("balance == '0.3'", ["c"]), ("balance < '0.2'", ["a"]),
            ("active == '1'", ["b"]), ("manager.age == '2'", ["a"]), ("age != 'x'", all),
            ("ANY friends.age == '3'", ["b"]), ("NOT age == '2'", ["a", "c"]),
            ("SUBQUERY(friends, $f, $f.age == '2').@count == 1", ["c"]),
        ] {
            #expect(try names(bench, format) == found, "\(format)")
        }
        #expect(try names(bench, "age == %@", "2") == ["b"])
        #expect(try names(bench, "age BETWEEN %@", ["2", "3"]) == ["b", "c"])
        #expect(throws: (any Error).self) { try names(bench, "age < 'x'") }
        let lines = NSFetchRequest<NSDictionary>(entityName: "Person")
        lines.resultType = .dictionaryResultType
        lines.propertiesToFetch = ["age"]
        lines.propertiesToGroupBy = ["age"]
        lines.havingPredicate = NSPredicate(format: "age > '2'")
        #expect(try bench.context.fetch(lines).map { $0["age"] as? Int } == [3])
        let second = try #require(try bench.context.fetch(Person.all).first { $0.name == "b" })
        second.setValue("changed", forKey: "nick")
        try bench.person("d").age = 2
        #expect(try names(bench, "age == '2'") == ["b", "d"])
    }

    /// Apple's SQLite store takes it, and apps write it.
    @Test(arguments: StoreKind.allCases)
    func anyOfOneValueIsThatValue(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let first = try #require(try bench.context.fetch(Person.all).first { $0.name == "1" })
        first.setValue(
            try bench.context.fetch(Person.all).first { $0.name == "x" }, forKey: "manager")
        try bench.context.save()
        for isChanged in [false, true] {
            if isChanged { first.setValue("changed", forKey: "nick") }
            #expect(try names(bench, "ANY name IN %@", ["2", "x"]) == ["2", "x"])
            #expect(try names(bench, "NONE name IN %@", ["2", "x"]) == ["1"])
            #expect(try names(bench, "ANY manager.name == 'x'") == ["1"])
            #expect(try names(bench, "ALL name == '2'") == ["2"])
            #expect(try names(bench, "ANY manager == %@", first) == [])
            let format = "SUBQUERY(reports, $r, ANY $r.name == '1').@count == 1"
            #expect(try names(bench, format) == ["x"])
        }
    }

    /// A constant object stands in a predicate for what it leads to.
    @Test(arguments: StoreKind.allCases)
    func aPathFromAConstantIsWhatItLeadsTo(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let people = try bench.context.fetch(Person.all).sorted { $0.name ?? "" < $1.name ?? "" }
        people[0].setValue(people[1], forKey: "manager")
        people[2].setValue(people[1], forKey: "manager")
        try bench.context.save()
        for isChanged in [false, true] {
            if isChanged { people[0].setValue("changed", forKey: "nick") }
            let request = NSFetchRequest<Person>(entityName: "Person")
            for (format, count) in [
                ("manager == $O.manager", 2), ("name > $O.name", 2),
                ("SELF IN $O.manager.reports", 2),
                ("SELF == $O.manager", 1), ("manager.name == $O.manager.name", 2),
            ] {
                request.predicate = NSPredicate(format: format)
                    .withSubstitutionVariables(["O": people[0]])
                #expect(try bench.context.fetch(request).count == count, "\(format)")
                #expect(try bench.context.count(for: request) == count, "\(format)")
            }
            request.predicate = NSPredicate(format: "name == $O.nothing")
                .withSubstitutionVariables(["O": people[0]])
            #expect(throws: NSError.self) { try bench.context.fetch(request) }
        }
    }

    private let all = ["a", "b", "c"]

    /// A database has the bytes only; everywhere else predicates look into the value.
    @Test(arguments: StoreKind.allCases.filter { $0 != .sqlite })
    func predicatesLookIntoTransformedValues(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        #expect(try names(bench, "ANY colors == 'red'") == ["1"])
        #expect(try names(bench, "colors CONTAINS 'green'") == ["2"])
        #expect(try names(bench, "colors.@count == 0 OR colors[FIRST] == 'red'") == ["1", "x"])
    }

    @Test(arguments: StoreKind.allCases)
    func membersOfOrderedRelationshipsHavePlaces(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let songs = try ["a", "b", "c"].map { try bench.make("Song", $0) }
        let full = try bench.make("Playlist", "full")
        full.setValue(NSOrderedSet(array: [songs[1], songs[0], songs[2]]), forKey: "songs")
        try bench.make("Playlist", "none")
        try bench.context.save()
        bench.context.reset()
        func lists(_ format: String = "TRUEPREDICATE") throws -> [NSManagedObject] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Playlist")
            request.predicate = NSPredicate(format: format)
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try bench.context.fetch(request)
        }
        func names(_ format: String) throws -> [String] {
            try lists(format).compactMap { $0.value(forKey: "name") as? String }
        }
        #expect(try names("songs[FIRST].name == 'b'") == ["full"])
        #expect(try names("songs[LAST].name == 'c' AND songs[1].name == 'a'") == ["full"])
        #expect(try names("songs[SIZE] == 3 OR songs[0] == nil") == ["full", "none"])
        // Unsaved changes count, too.
        let list = try #require(try lists().first { $0.value(forKey: "name") as? String == "full" })
        let members = list.mutableOrderedSetValue(forKey: "songs")
        members.moveObjects(at: IndexSet(integer: 2), to: 0)
        #expect(try names("songs[FIRST].name == 'c'") == ["full"])
        #expect(try names("songs[FIRST].name == 'b'") == [])
    }

    @Test(arguments: StoreKind.allCases)
    func whatCannotBeAskedIsAnErrorOfTheFetch(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let formats = [
            "nothing == 1", "name isNewerThan: 'x'", "name UTI-EQUALS 'x'", "name MATCHES '['",
            "name == $unbound", "CAST(name, 'NSThing') == 1", "friends[FIRST] == nil",
            "friends[0].name == 'x'",
        ]
        // In memory nobody walks a path that nobody has.
        let paths = [
            "department.nothing == 1", "ANY friends.nothing == 1",
            "SUBQUERY(friends, $f, $f.nothing == 1).@count == 0",
        ]
        for format in kind == .sqlite ? formats + paths : formats {
            #expect(throws: (any Error).self, "\(format)") { try names(bench, format) }
        }
    }

    /// `evaluate(with:)` cannot throw: what cannot be evaluated does not hold, whatever a user
    /// typed.
    @Test func aTextOfAUserNeverEndsTheProgram() throws {
        let person = try Bench(.memory).person("Ada")
        for text in [
            "nothing == 1", "department.nothing == 1", "name.nothing == 1", "ANY name == 'x'",
            "nothing.@count > 0", "FUNCTION(SELF, 'nothing') == 1", "SELF[0] == 1",
            "SUBQUERY(nothing, $x, $x == 1).@count == 0", "name + 1 == 2", "$x == 1",
        ] {
            let predicate = try NSPredicate.parse(text)
            #expect(!predicate.evaluate(with: person), "\(text)")
            #expect(NSPredicate(format: "name == 'Ada'").evaluate(with: person))
        }
        #expect(try NSPredicate.parse("objectID == %@", arguments: [person]).evaluate(with: person))
    }
}

extension Person {
    fileprivate static var all: NSFetchRequest<Person> { NSFetchRequest(entityName: "Person") }
}
