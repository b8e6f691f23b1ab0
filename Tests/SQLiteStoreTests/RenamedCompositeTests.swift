import ObjectModel
import Stores
import Testing

@testable import SQLiteStore

/// Composites of one shape, of which a later model renames one.
@Suite struct RenamedCompositeTests {
    private static func model(
        _ home: String, _ office: String, tellsFormer: Bool = true
    ) -> NSManagedObjectModel {
        let twins = [(home, "home"), (office, "office")].map { name, former in
            let made = NSCompositeAttributeDescription()
            made.name = name
            made.renamingIdentifier = tellsFormer ? former : nil
            made.elements = [
                TestModel.attribute("town", .stringAttributeType),
                TestModel.attribute("zip", .integer32AttributeType),
            ]
            return made
        }
        let person = TestModel.entity(
            "Person", twins + [TestModel.attribute("age", .integer16AttributeType)])
        return TestModel.model([person])
    }

    /// Elements of one name have columns that only a number tells apart, by the composites' order;
    /// that the order has changed is in no version hash.
    @Test(arguments: [("home", "bureau"), ("zenith", "office")], [true, false])
    func eachKeepsItsColumns(names: (home: String, office: String), isTold: Bool) throws {
        let scratch = try Scratch()
        let url = scratch.url("store")
        let person = try StoreFixture(Self.model("home", "office"), url: url).insert(
            "Person", ["home.town": .text("Ulm"), "office.town": .text("Rom")])
        let later = Self.model(names.home, names.office, tellsFormer: isTold)
        for zip in [1, 2] {
            let fixture = try StoreFixture(later, url: url)
            #expect(try fixture.value(person, "\(names.home).town") == .text("Ulm"))
            #expect(try fixture.value(person, "\(names.office).town") == .text("Rom"))
            let zips: [String: AttributeValue] = [
                "\(names.home).zip": .integer(Int64(zip)),
                "\(names.office).zip": .integer(Int64(zip + 10)),
            ]
            _ = try fixture.save { $0.updates = [try fixture.update(person, zips)] }
        }
        let first = try StoreFixture(Self.model("home", "office"), url: url)
        #expect(try first.value(person, "home.zip") == .integer(2))
        #expect(try first.value(person, "office.zip") == .integer(12))
    }
}
