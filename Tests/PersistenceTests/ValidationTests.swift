import CoreData
import Foundation
import Testing

@Suite struct ValidationTests {
    private func code(_ values: [String: Any?]) throws -> Int? {
        let bench = try Bench(.memory)
        let person = try bench.person("Ada")
        for (key, value) in values { person.setValue(value, forKey: key) }
        do {
            try bench.context.save()
            return nil
        } catch let error as NSError {
            #expect(error.domain == NSCocoaErrorDomain)
            #expect(error.userInfo[NSValidationObjectErrorKey] as? Person === person)
            #expect(error.userInfo[NSValidationKeyErrorKey] as? String == values.keys.first)
            return error.code
        }
    }

    @Test func eachRuleHasItsCode() throws {
        #expect(try code(["name": nil]) == 1570)
        #expect(try code(["age": 151]) == 1610)
        #expect(try code(["age": -1]) == 1620)
        #expect(try code(["age": 70_000]) == 1610)
        #expect(try code(["nick": "too long a name"]) == 1660)
        #expect(try code(["nick": "x"]) == 1670)
        #expect(try code(["email": "nobody"]) == 1680)
        #expect(try code(["birthday": Date(timeIntervalSinceReferenceDate: -2e6)]) == 1640)
        #expect(try code(["age": 150]) == nil)
        #expect(try code(["nick": "okay"]) == nil)
        #expect(try code(["email": "a@b"]) == nil)
    }

    /// A bound belongs to what is allowed, with whatever digits it is written.
    @Test(arguments: ["32494.38", "8962.829", "49.5879", "883.2498", "0.07", "-5348.716"])
    func aDecimalMayBeItsBound(_ text: String) throws {
        let model = TestModel.make()
        let tag = try #require(model.entitiesByName["Tag"])
        tag.declaredProperties.append(
            TestModel.attribute(
                "price", .decimalAttributeType, minimum: text, maximum: text))
        tag.declaredProperties.append(TestModel.attribute("real", .doubleAttributeType))
        let bench = try Bench(.memory, model: model)
        let object = try bench.make("Tag", "t")
        let price = try #require(Decimal(string: text))
        object.setValue(price, forKey: "price")
        object.setValue(price, forKey: "real")
        try bench.context.save()
        #expect(object.value(forKey: "real") as? Double == Double(text))
        object.setValue(price + 1, forKey: "price")
        #expect(throws: NSError.self) { try bench.context.save() }
    }

    /// Beyond 2^53 neighbours are one and the same double.
    @Test(arguments: [9_007_199_254_740_993, Int64.max - 1, Int64.min + 1])
    func aWholeNumberIsComparedExactly(_ bound: Int64) throws {
        #expect(try isTaken(bound, .integer64AttributeType, "\(bound)"))
        #expect(try !isTaken(bound - 1, .integer64AttributeType, "\(bound)"))
        #expect(try !isTaken(bound + 1, .integer64AttributeType, "\(bound)"))
    }

    @Test func decimalsAreComparedWithAllTheirDigits() throws {
        let bound = "1234567890.12345678901234567890"
        let price = try #require(Decimal(string: bound))
        let step = try #require(Decimal(string: "0.00000000000000000001"))
        #expect(try isTaken(price, .decimalAttributeType, bound))
        #expect(try !isTaken(price - step, .decimalAttributeType, bound))
        #expect(try !isTaken(price + step, .decimalAttributeType, bound))
    }

    /// Foundation would read the zero before the x.
    @Test func aBoundInHexadecimalIsTheSameForDecimals() throws {
        #expect(try isTaken(Decimal(16), .decimalAttributeType, "0x10"))
        #expect(try !isTaken(Decimal(15), .decimalAttributeType, "0x10"))
        #expect(try !isTaken(Decimal(0), .decimalAttributeType, "0x10"))
    }

    /// Such bounds no length reaches; the complaint shows them as the model does.
    @Test(arguments: ["1e300", "inf", "2.5"])
    func aBoundThatIsNoWholeNumberIsShown(_ bound: String) throws {
        #expect(try !isTaken("x", .stringAttributeType, bound))
    }

    @Test func aBoundThatIsNoNumberBindsNothing() throws {
        #expect(try isTaken("x", .stringAttributeType, "nan"))
        #expect(try isTaken(7, .integer64AttributeType, "many"))
    }

    /// Whether an attribute takes a value that is to be no less and no more than `bound`.
    private func isTaken(
        _ value: Any, _ type: NSAttributeType, _ bound: String
    ) throws -> Bool {
        let model = TestModel.make()
        let tag = try #require(model.entitiesByName["Tag"])
        tag.declaredProperties.append(
            TestModel.attribute("bounded", type, minimum: bound, maximum: bound))
        let bench = try Bench(.memory, model: model)
        let object = try bench.make("Tag", "t")
        object.setValue(value, forKey: "bounded")
        do {
            try bench.context.save()
            return true
        } catch let error as NSError {
            #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "bounded")
            return false
        }
    }

    /// A length is NSString's: a family of four is eleven units.
    @Test func lengthsAreCountedAsApples() throws {
        #expect(try code(["nick": "👨‍👩‍👧‍👦"]) == NSValidationStringTooLongError)
        #expect(try code(["nick": "é"]) == NSValidationStringTooShortError)
        #expect(try code(["nick": "e\u{301}"]) == nil)
        #expect(try code(["nick": "👍"]) == nil)
    }

    @Test(arguments: [
        ("a|ab", "ab", true), ("a|ab", "abc", false), ("a+?", "aaa", true),
        ("(?i)ab", "AB", true), ("a", "a\n", false), ("^a$", "a", true),
    ])
    func aPatternMatchesTheWholeText(pattern: String, text: String, isFine: Bool) throws {
        let model = TestModel.make()
        let tag = try #require(model.entitiesByName["Tag"])
        tag.properties =
            [TestModel.attribute("name", .stringAttributeType, pattern: pattern)]
            + tag.properties.filter { $0.name != "name" }
        let bench = try Bench(.memory, model: model)
        try bench.make("Tag", text)
        if isFine {
            try bench.context.save()
        } else {
            let error = try #require(throws: NSError.self) { try bench.context.save() }
            #expect(error.code == NSValidationStringPatternMatchingError)
        }
    }

    /// A minimum is looked at after removals, too; without one, none is needed.
    @Test(arguments: [0, 1, 2])
    func aToManyThatIsNotOptionalNeedsItsMinimumOnly(minimum: Int) throws {
        let model = TestModel.make()
        let employees = try #require(
            model.entitiesByName["Department"]?.relationshipsByName["employees"])
        employees.isOptional = false
        employees.minCount = minimum
        let bench = try Bench(.sqlite, model: model)
        let department = try bench.make("Department", "d")
        func save() -> Int? {
            do {
                try bench.context.save()
                return nil
            } catch { return (error as NSError).code }
        }
        let lacks = [
            nil, NSValidationMissingMandatoryPropertyError,
            NSValidationRelationshipLacksMinimumCountError,
        ][minimum]
        #expect(save() == lacks)
        let people = try (0..<2).map { try bench.person("\($0)") }
        for person in people { person.department = department }
        #expect(save() == nil)
        for person in people { person.department = nil }
        #expect(save() == lacks)
    }

    @Test func severalErrorsComeTogether() throws {
        let bench = try Bench(.memory)
        let person = try bench.person("Ada")
        person.setValue(nil, forKey: "name")
        person.setValue(200, forKey: "age")
        let other = try bench.person("Bob")
        other.setValue("nobody", forKey: "email")
        let error = try #require(throws: NSError.self) { try bench.context.save() }
        #expect(error.code == NSValidationMultipleErrorsError)
        let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
        #expect(Set(details.map(\.code)) == [1570, 1610, 1680])
        #expect(bench.context.hasChanges)
    }

    @Test func relationshipsKeepTheirCounts() throws {
        let model = NSManagedObjectModel()
        let team = TestModel.entity("Team")
        let player = TestModel.entity("Player")
        TestModel.link(team, "players", .many, player, "team", .one)
        let players = try #require(team.relationshipsByName["players"])
        players.minCount = 2
        players.maxCount = 3
        players.isOptional = false
        try #require(player.relationshipsByName["team"]).isOptional = false
        model.entities = [team, player]
        let bench = try Bench(.memory, model: model)

        let lone = try bench.make("Player")
        var error = try #require(throws: NSError.self) { try bench.context.save() }
        #expect(error.code == NSValidationMissingMandatoryPropertyError)
        let team1 = try bench.make("Team")
        lone.setValue(team1, forKey: "team")
        error = try #require(throws: NSError.self) { try bench.context.save() }
        #expect(error.code == NSValidationRelationshipLacksMinimumCountError)
        #expect(error.userInfo[NSValidationValueErrorKey] as? Set<NSManagedObject> == [lone])
        for _ in 0..<3 { try bench.make("Player").setValue(team1, forKey: "team") }
        error = try #require(throws: NSError.self) { try bench.context.save() }
        #expect(error.code == NSValidationRelationshipExceedsMaximumCountError)
        let members = error.userInfo[NSValidationValueErrorKey] as? Set<NSManagedObject>
        #expect(members?.count == 4 && members?.contains(lone) == true)
        bench.context.delete(lone)
        try bench.context.save()
    }

    @Test func subclassesAddRulesOfTheirOwn() throws {
        final class Strict: NSManagedObject {
            override func validateForInsert() throws {
                try super.validateForInsert()
                throw CocoaError(.managedObjectValidation)
            }
        }
        let model = NSManagedObjectModel()
        model.entities = [TestModel.entity("Strict")]
        let bench = try Bench(.memory, model: model)
        _ = Strict(entity: model.entities[0], insertInto: bench.context)
        let error = try #require(throws: CocoaError.self) { try bench.context.save() }
        #expect(error.code == .managedObjectValidation)
    }

    /// Errors of the program's rules are counted with the model's, and leave as Foundation's.
    @Test func rulesOfTheProgramMayThrowSwiftErrors() throws {
        enum Broken: Error { case rule }
        final class Strict: NSManagedObject {
            override func validateForInsert() throws {
                try super.validateForInsert()
                throw Broken.rule
            }
        }
        let model = NSManagedObjectModel()
        model.entities = [TestModel.entity("Strict")]
        let bench = try Bench(.memory, model: model)
        _ = Strict(entity: model.entities[0], insertInto: bench.context)
        var error = #expect(throws: NSError.self) { try bench.context.save() }
        #expect(error?.userInfo[NSUnderlyingErrorKey] is Broken)
        _ = Strict(entity: model.entities[0], insertInto: bench.context)
        error = #expect(throws: NSError.self) { try bench.context.save() }
        #expect(error?.code == NSValidationMultipleErrorsError)
        let details = error?.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
        #expect(details.count == 2)
        #expect(details.allSatisfy { $0.userInfo[NSUnderlyingErrorKey] is Broken })
    }

    @Test func aPolicyOfTheProgramMayThrowASwiftError() throws {
        enum Undecided: Error { case all }
        final class Doubtful: NSMergePolicy, @unchecked Sendable {
            // @unchecked: it holds nothing.
            override func resolve(mergeConflicts list: [Any]) throws { throw Undecided.all }
        }
        let bench = try Bench(.memory)
        let ada = try bench.person("Ada")
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = Doubtful(merge: .errorMergePolicyType)
        try bench.twin(ada, in: other).name = "Bea"
        ada.name = "Cid"
        try bench.context.save()
        let error = #expect(throws: NSError.self) { try other.save() }
        #expect(error?.userInfo[NSUnderlyingErrorKey] is Undecided)
    }

    @Test func aValueCanBeValidatedBeforeItIsSet() throws {
        let bench = try Bench(.memory)
        let person = try bench.person("Ada")
        try person.validateValue(5, forKey: "age")
        let error = try #require(throws: NSError.self) {
            try person.validateValue(500, forKey: "age")
        }
        #expect(error.code == NSValidationNumberTooLargeError)
    }

    /// The value that is passed is looked at, whatever the object has.
    @Test func linksCanBeValidatedBeforeTheyAreSet() throws {
        let model = TestModel.make()
        let person = try #require(model.entitiesByName["Person"])
        try #require(person.relationshipsByName["department"]).isOptional = false
        let members = try #require(
            model.entitiesByName["Project"]?.relationshipsByName["members"])
        (members.minCount, members.maxCount, members.isOptional) = (1, 2, false)
        let bench = try Bench(.memory, model: model)
        let sales = try bench.make("Department", "Sales")
        let people = try ["Ada", "Bea", "Cid"].map { try bench.person($0) }
        for person in people { person.department = sales }
        let project = try bench.make("Project")
        project.setValue([people[0]] as Set, forKey: "members")
        try bench.context.save()
        func code(_ object: NSManagedObject, _ value: Any?, _ key: String) -> Int? {
            do {
                try object.validateValue(value, forKey: key)
                return nil
            } catch {
                return (error as NSError).code
            }
        }
        let missing = NSValidationMissingMandatoryPropertyError
        let tooMany = NSValidationRelationshipExceedsMaximumCountError
        #expect(code(people[0], nil, "department") == missing)
        #expect(code(people[0], sales, "department") == nil)
        #expect(code(project, Set<NSManagedObject>(), "members") == missing)
        #expect(code(project, nil, "members") == missing)
        #expect(code(project, Set(people[..<2]), "members") == nil)
        #expect(code(project, Set(people), "members") == tooMany)
        #expect(code(project, NSSet(array: people), "members") == tooMany)
        bench.context.refresh(people[0], mergeChanges: false)
        #expect(code(people[0], nil, "department") == missing)
        #expect(code(people[0], sales, "department") == nil)
    }
}
