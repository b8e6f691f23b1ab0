import CoreData
import Foundation
import ObjectModel
import Stores
import Testing

@Suite struct AttributeTests {
    /// Foundation's archiver never ends with a decimal: the program would end with all that it has
    /// not saved.
    @Test(arguments: [false, true])
    func aDecimalInATransformableFailsTheSave(isNested: Bool) throws {
        let bench = try Bench(.memory)
        let person = try bench.person("Ada")
        let price = try #require(Decimal(string: "12.50"))
        person.setValue(
            isNested ? ["a": ["b", price as Any]] : NSDecimalNumber(decimal: price) as Any,
            forKey: "colors")
        let error = #expect(throws: NSError.self) { try bench.context.save() }
        #expect(error?.code == NSManagedObjectValidationError)
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "colors")
        person.setValue(["a": ["b", 12.5, 3]], forKey: "colors")
        try bench.context.save()
    }

    private final class Sample: NSManagedObject {
        @Managed("small") var small: Int16
        @Managed("middle") var middle: Int32
        @Managed("large") var large: Int64
        @Managed("maybe") var maybe: Int?
        @Managed("single") var single: Float
        @Managed("amount") var amount: Decimal?
        @Managed("flag") var flag: Bool?
        @Managed("page") var page: URL?
        @Managed("bytes") var bytes: Data?
    }

    private func model() -> NSManagedObjectModel {
        let sample = TestModel.entity("Sample", of: Sample.self)
        let address = NSCompositeAttributeDescription()
        address.name = "address"
        address.elements = [
            TestModel.attribute("street", .stringAttributeType),
            TestModel.attribute("zip", .integer32AttributeType),
        ]
        sample.properties = [
            TestModel.attribute("small", .integer16AttributeType),
            TestModel.attribute("middle", .integer32AttributeType),
            TestModel.attribute("large", .integer64AttributeType),
            TestModel.attribute("maybe", .integer64AttributeType),
            TestModel.attribute("single", .floatAttributeType),
            TestModel.attribute("amount", .decimalAttributeType),
            TestModel.attribute("flag", .booleanAttributeType),
            TestModel.attribute("page", .URIAttributeType),
            TestModel.attribute("bytes", .binaryDataAttributeType), address,
        ]
        let model = NSManagedObjectModel()
        model.entities = [sample]
        return model
    }

    @Test(arguments: StoreKind.allCases)
    func typedPropertiesOfEveryWidthAreStored(_ kind: StoreKind) throws {
        let bench = try Bench(kind, model: model())
        let sample = Sample(context: bench.context)
        #expect(
            sample.small == 0 && sample.single == 0 && sample.maybe == nil && sample.flag == nil)
        sample.small = .min
        sample.middle = .max
        sample.large = .min
        sample.maybe = 7
        sample.single = 0.1
        sample.amount = Decimal(string: "0.1")
        sample.flag = true
        sample.page = URL(string: "https://example.org")
        sample.bytes = Data([0, 255])
        try bench.context.save()
        let twin = try bench.twin(sample, in: bench.newContext())
        #expect(twin.small == .min && twin.middle == .max && twin.large == .min && twin.maybe == 7)
        #expect(twin.single == 0.1 && twin.amount == Decimal(string: "0.1") && twin.flag == true)
        #expect(twin.page?.host == "example.org" && twin.bytes == Data([0, 255]))
        twin.maybe = nil
        twin.flag = nil
        #expect(twin.maybe == nil && twin.flag == nil)
        #expect(Set(twin.changedValues().keys) == ["maybe", "flag"])
    }

    @Test(arguments: StoreKind.allCases)
    func aCompositeIsReadAndWrittenAsADictionary(_ kind: StoreKind) throws {
        let bench = try Bench(kind, model: model())
        let sample = Sample(context: bench.context)
        #expect(sample.value(forKey: "address") == nil)
        sample.setValue(["street": "Elm", "zip": 12], forKey: "address")
        try bench.context.save()
        let other = bench.newContext()
        let twin = try bench.twin(sample, in: other)
        let address = try #require(twin.value(forKey: "address") as? [String: Any])
        #expect(address["street"] as? String == "Elm" && address["zip"] as? Int == 12)
        #expect(twin.value(forKeyPath: "address.street") as? String == "Elm")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
        request.predicate = NSPredicate(format: "address.zip == 12")
        #expect(try other.count(for: request) == 1)
        twin.setValue(["street": "Oak"], forKey: "address")
        try other.save()
        let third = try bench.twin(sample, in: bench.newContext())
        let changed = try #require(third.value(forKey: "address") as? [String: Any])
        #expect(changed["street"] as? String == "Oak" && changed["zip"] == nil)
    }

    @Test func derivedValuesArriveWithTheSave() throws {
        let model = TestModel.make()
        let department = try #require(model.entitiesByName["Department"])
        let size = NSDerivedAttributeDescription()
        size.name = "size"
        size.attributeType = .integer64AttributeType
        size.derivationExpressionText = "employees.@count"
        department.declaredProperties.append(size)
        let bench = try Bench(.sqlite, model: model)
        let sales = try bench.make("Department", "Sales")
        try bench.person("Ada").department = sales
        try bench.person("Bob").department = sales
        try bench.context.save()
        #expect(sales.value(forKey: "size") as? Int == 2 && !sales.hasChanges)
        try bench.person("Cy").department = sales
        try bench.context.save()
        #expect(sales.value(forKey: "size") as? Int == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func transformersOfOnesOwnTurnValuesIntoBytes(_ kind: StoreKind) throws {
        final class Upside: ValueTransformer, @unchecked Sendable {
            // @unchecked: it holds nothing.
            override func transformedValue(_ value: Any?) -> Any? {
                (value as? String).map { Data($0.utf8.reversed()) }
            }
            override func reverseTransformedValue(_ value: Any?) -> Any? {
                (value as? Data).map { String(decoding: $0.reversed(), as: UTF8.self) }
            }
        }
        ValueTransformer.setValueTransformer(Upside(), forName: NSValueTransformerName("Upside"))
        let model = TestModel.make()
        let note = TestModel.attribute("note", .transformableAttributeType)
        note.valueTransformerName = "Upside"
        try #require(model.entitiesByName["Tag"]).declaredProperties.append(note)
        let bench = try Bench(kind, model: model)
        let tag = try bench.make("Tag", "t")
        tag.setValue("abc", forKey: "note")
        try bench.context.save()
        let row = try #require(tag.objectID.rowID)
        let slot = try #require(
            bench.store.rowStore.layout.entity(row.entity)?.attributeSlot("note"))
        #expect(try bench.store.rowStore.row(row)?.attributes[slot] == .data(Data("cba".utf8)))
        let twin = try bench.twin(tag, in: bench.newContext())
        #expect(twin.value(forKey: "note") as? String == "abc")
        tag.setValue(5, forKey: "note")
        let error = try #require(throws: NSError.self) { try bench.context.save() }
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "note")
    }

    /// "é" is one scalar or two, and Foundation's collections take both for equal; the attribute
    /// has what it was set to.
    @Test(arguments: StoreKind.allCases)
    func anotherSpellingOfStringsIsAnotherTransformable(_ kind: StoreKind) throws {
        let model = TestModel.make()
        let note = TestModel.attribute("note", .transformableAttributeType)
        note.valueTransformerName = "NSSecureUnarchiveFromData"
        try #require(model.entitiesByName["Tag"]).declaredProperties.append(note)
        let bench = try Bench(kind, model: model)
        let shapes: [(String) -> NSObject] = [
            { NSArray(array: [$0, 1]) }, { NSDictionary(dictionary: ["k": [$0]]) },
            { NSDictionary(dictionary: [$0: 1]) }, { NSSet(array: [$0, "x"]) },
        ]
        for (number, shape) in shapes.enumerated() {
            let (one, two) = (shape("caf\u{e9}"), shape("cafe\u{301}"))
            let tag = try bench.make("Tag", "t\(number)")
            tag.setValue(one, forKey: "note")
            try bench.context.save()
            tag.setValue(two, forKey: "note")
            #expect(Set(tag.changedValues().keys) == ["note"], "\(number)")
            try bench.context.save()
            let twin = try bench.twin(tag, in: bench.newContext())
            twin.setValue(two, forKey: "note")
            #expect(twin.changedValues().isEmpty, "\(number)")
            twin.setValue(one, forKey: "note")
            #expect(Set(twin.changedValues().keys) == ["note"], "\(number)")
        }
    }

    /// Foundation would follow it until the stack ends.
    @Test func anArchiveThatHoldsItselfIsNoValue() throws {
        let nodes: [PropertyListNode] = [
            .string("$null"), .string("NS.objects"), .string("$class"), .string("$classname"),
            .string("NSArray"), .uid(1), .array([5]), .uid(2),
            .dictionary([.init(key: 1, value: 6), .init(key: 2, value: 7)]),
            .dictionary([.init(key: 3, value: 4), .init(key: 15, value: 16)]),
            .array([0, 8, 9]), .string("$objects"), .string("$top"), .string("root"),
            .dictionary([.init(key: 13, value: 5)]), .string("$classes"), .array([4]),
            .string("$archiver"), .string("NSKeyedArchiver"), .string("$version"),
            .integer(100_000),
            .dictionary([
                .init(key: 11, value: 10), .init(key: 12, value: 14), .init(key: 17, value: 18),
                .init(key: 19, value: 20),
            ]),
        ]
        let archive = PropertyListWriter.data(PropertyListTable(nodes: nodes, root: 21))
        let model = TestModel.make()
        let note = TestModel.attribute("note", .transformableAttributeType)
        try #require(model.entitiesByName["Tag"]).declaredProperties.append(note)
        let bench = try Bench(.sqlite, model: model)
        let tag = try bench.make("Tag", "t")
        try bench.context.save()
        let id = try #require(tag.objectID.rowID)
        let store = bench.store.rowStore
        let slot = try #require(store.layout.entity(id.entity)?.attributeSlot("note"))
        var update = RowUpdate(id: id)
        update.attributes = [(slot: slot, value: .data(archive))]
        var changes = ChangeSet()
        changes.updates = [update]
        _ = try store.save(changes)
        let twin = try bench.twin(tag, in: bench.newContext())
        #expect(twin.value(forKey: "note") == nil)
        #expect(twin.value(forKey: "name") as? String == "t")
    }
}
