import CoreData
import Foundation
import Testing

import class CoreData.NSExpression

/// Numbers for which an attribute has no room are refused by name.
@Suite struct NumberWidthTests {
    private static let tooWide: [(value: any Sendable, code: Int)] = [
        (70_000, NSValidationNumberTooLargeError), (-70_000, NSValidationNumberTooSmallError),
        (1e30, NSManagedObjectValidationError), (UInt64.max, NSManagedObjectValidationError),
        (Double.nan, NSManagedObjectValidationError),
        (Decimal(sign: .plus, exponent: 30, significand: 1), NSManagedObjectValidationError),
    ]
    private static let cases = tooWide.indices

    private func expect(_ code: Int, _ work: () throws -> Void) throws {
        let error = try #require(throws: NSError.self) { try work() }
        #expect(error.domain == NSCocoaErrorDomain && error.code == code)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "age")
    }

    private func ages(_ bench: Bench) throws -> [Int16] {
        let context = bench.newContext()
        return try context.fetch(NSFetchRequest<Person>(entityName: "Person")).map(\.age).sorted()
    }

    @Test(arguments: [StoreKind.memory, .sqlite], Self.cases)
    func batchInsertionsRefuseThem(_ kind: StoreKind, _ place: Int) throws {
        let (value, code) = Self.tooWide[place]
        let bench = try Bench(kind)
        try expect(code) {
            try bench.context.execute(
                NSBatchInsertRequest(
                    entityName: "Person", objects: [["name": "Ada", "age": value]]))
        }
        var isDone = false
        let filling = NSBatchInsertRequest(
            entity: try bench.named("Person"),
            managedObjectHandler: { object in
                defer { isDone = true }
                object.setValue("Ada", forKey: "name")
                object.setValue(value, forKey: "age")
                return isDone
            })
        try expect(code) { try bench.context.execute(filling) }
        #expect(try ages(bench) == [])
    }

    @Test(arguments: [StoreKind.memory, .sqlite], Self.cases)
    func batchUpdatesRefuseThem(_ kind: StoreKind, _ place: Int) throws {
        let (value, code) = Self.tooWide[place]
        let bench = try Bench(kind)
        try bench.person("Ada").age = 20
        try bench.context.save()
        let update = NSBatchUpdateRequest(entityName: "Person")
        update.propertiesToUpdate = ["age": value]
        try expect(code) { try bench.context.execute(update) }
        #expect(try ages(bench) == [20])
    }

    @Test(arguments: [StoreKind.memory, .sqlite])
    func batchUpdatesRefuseToComputeThem(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        for age: Int16 in [10, 20] { try bench.person("P\(age)").age = age }
        try bench.context.save()
        let update = NSBatchUpdateRequest(entityName: "Person")
        update.propertiesToUpdate = ["age": NSExpression(format: "age * 2000")]
        try expect(NSValidationNumberTooLargeError) { try bench.context.execute(update) }
        update.propertiesToUpdate = ["age": NSExpression(format: "age * (0 - 2000)")]
        try expect(NSValidationNumberTooSmallError) { try bench.context.execute(update) }
        #expect(try ages(bench) == [10, 20])
        // Of the rows that are chosen alone.
        update.predicate = NSPredicate(format: "age < 15")
        update.propertiesToUpdate = ["age": NSExpression(format: "age * 2000")]
        try bench.context.execute(update)
        #expect(try ages(bench) == [20, 20_000])
    }

    @Test(arguments: Self.cases)
    func savesRefuseThem(_ place: Int) throws {
        let (value, code) = Self.tooWide[place]
        let bench = try Bench(.memory)
        try bench.person("Ada").setValue(value, forKey: "age")
        try expect(code) { try bench.context.save() }
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e200])
    func decimalsRefuseWhatTheyCannotBe(_ number: Double) throws {
        let bench = try Bench(.sqlite)
        let ada = try bench.person("Ada")
        ada.setValue(number, forKey: "balance")
        let error = try #require(throws: NSError.self) { try bench.context.save() }
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "balance")
        ada.setValue(nil, forKey: "balance")
        ada.score = number
        try bench.context.save()
        let update = NSBatchUpdateRequest(entityName: "Person")
        update.propertiesToUpdate = ["balance": number]
        #expect(throws: NSError.self) { try bench.context.execute(update) }
        let team = try bench.make("Department", "Sales")
        ada.department = team
        #expect(team.value(forKeyPath: "employees.@sum.score") as? NSNumber != 0)
        #expect(team.value(forKeyPath: "employees.@avg.score") as? NSNumber != 0)
    }

    /// What stands there until a save refuses it is cut as `NSNumber` cuts it, and ends nothing.
    @Test func accessorsReadThemBeforeTheSave() throws {
        let bench = try Bench(.memory)
        let ada = try bench.person("Ada")
        let employee = try #require(try bench.make("Employee", "Bob") as? Employee)
        let values: [(value: Any, age: Int16)] = [
            (70_000, 4464), (-70_000, -4464), (UInt64.max, -1), (Int64.max, -1),
            (Int64.min, 0), (UInt16.max, -1), (Decimal(70_000), 4464), (70_000.9, 4464),
        ]
        for (value, age) in values {
            ada.setValue(value, forKey: "age")
            #expect(ada.age == age, "\(value)")
        }
        for value: Any in [
            1e30, -1e30, Double.nan, Double.infinity, Decimal.nan,
            Decimal(sign: .plus, exponent: 30, significand: 1),
        ] as [Any] {
            ada.setValue(value, forKey: "age")
            employee.setValue(value, forKey: "salary")
            // Whatever they read, they read something, and the save refuses what was set.
            _ = (ada.age, employee.salary, ada.managedValue(forKey: "age") as Int)
            _ = (ada.managedValue(forKey: "age") as Bool, ada.managedValue(forKey: "age") as Float)
            _ = (ada.managedValue(forKey: "age") as Double, ada.managedValue(forKey: "age") as Int?)
            _ = (ada.managedValue(forKey: "age") as UInt8, ada.managedValue(forKey: "age") as Int64)
        }
        #expect(throws: NSError.self) { try bench.context.save() }
        ada.setValue(40, forKey: "age")
        employee.setValue(Int64(5_000_000_000), forKey: "salary")
        #expect(employee.salary == 705_032_704)
        ada.setValue(300, forKey: "age")
        #expect(ada.managedValue(forKey: "age") as Int8 == 44)
    }

    @Test func fractionsAreCutAsEver() throws {
        let bench = try Bench(.memory)
        let ada = try bench.person("Ada")
        for (value, kept): (Any, Int16) in [(7.9, 7), (Decimal(8.5), 8), (UInt8(9), 9), (true, 1)] {
            ada.setValue(value, forKey: "age")
            #expect(ada.age == kept)
        }
    }

    /// What views measure with.
    @Test(arguments: [StoreKind.memory, .sqlite])
    func aCGFloatIsANumber(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        ada.setValue(CGFloat(2.5), forKey: "score")
        ada.setValue(CGFloat(7), forKey: "age")
        try bench.context.save()
        #expect(ada.score == 2.5 && ada.age == 7)
        #expect(ada.managedValue(forKey: "score") as CGFloat == 2.5)
        #expect(ada.managedValue(forKey: "age") as CGFloat? == 7)
        ada.setManagedValue(CGFloat(3.5), forKey: "score")
        #expect(ada.value(forKey: "score") as? Double == 3.5)
        ada.setValue(nil, forKey: "score")
        #expect(ada.managedValue(forKey: "score") as CGFloat == 0)
        #expect((ada.managedValue(forKey: "colors") as [String: String]).isEmpty)
        let request = NSFetchRequest<Person>(entityName: "Person")
        let update = NSBatchUpdateRequest(entityName: "Person")
        update.propertiesToUpdate = ["score": CGFloat(4.5)]
        try bench.context.execute(update)
        #expect(try bench.newContext().fetch(request).map(\.score) == [4.5])
    }

    /// A double has not every number of 64 bits, a decimal has.
    @Test(arguments: StoreKind.allCases)
    func decimalsTakeWholeNumbersAsTheyAre(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let given: [any Sendable] = [9_007_199_254_740_993, Int64.min + 1, true, 7]
        let wanted = ["9007199254740993", "-9223372036854775807", "1", "7"]
        let people = try given.map { number in
            let person = try bench.person("Ada")
            person.setValue(number, forKey: "balance")
            return person
        }
        func found() -> [String] {
            people.map { ($0.value(forKey: "balance") as? NSDecimalNumber)?.stringValue ?? "none" }
        }
        #expect(found() == wanted)
        try bench.context.save()
        bench.context.refreshAllObjects()
        #expect(found() == wanted)
        people[0].setValue(UInt64.max, forKey: "balance")
        #expect(found().first == "18446744073709551615")
    }
}
