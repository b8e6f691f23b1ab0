import ObjectModel
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

@Suite struct ColumnOrderTests {
    /// Whole numbers, then links, then everything else by kind, as in Apple's files; within each
    /// by name.
    @Test func columnsStandInTheOrderOfApplesFiles() throws {
        let item = TestModel.entity(
            "Item",
            [
                TestModel.attribute("zeta", .integer64AttributeType),
                TestModel.attribute("beta", .booleanAttributeType),
                TestModel.attribute("amount", .decimalAttributeType),
                TestModel.attribute("name", .stringAttributeType),
                TestModel.attribute("born", .dateAttributeType),
            ])
        let box = TestModel.entity("Box", [])
        TestModel.relate(item, "alpha", box, inverse: "items", inverseToMany: true)
        let fixture = try StoreFixture(TestModel.model([item, box]))
        let columns = try fixture.sql("PRAGMA table_info(ZITEM)").compactMap { $0[1].string }
        #expect(
            columns == [
                "Z_PK", "Z_ENT", "Z_OPT", "ZBETA", "ZZETA", "ZALPHA", "ZBORN", "ZAMOUNT", "ZNAME",
            ])
    }

    /// The bits of a change's bitmap go from the root's properties to the leaf's, each by name.
    @Test func bitsOfInheritedPropertiesComeFirst() throws {
        let layout = ModelLayout(model: TestModel.society())
        let schema = try SchemaBuilder.schema(of: layout)
        let manager = try #require(layout.entity(named: "Manager"))
        let columns = try #require(schema.columns(of: manager.number))
        let bits = ChangedColumns(schema: schema, columns: columns, layout: manager)
        func ordered(_ names: [String], _ bits: [Int]) -> [String] {
            zip(names, bits).sorted { $0.1 < $1.1 }.map(\.0)
        }
        #expect(
            ordered(manager.attributes.map(\.name), bits.attributeBits) == [
                "age", "born", "email", "name", "salary", "level",
            ])
        #expect(ordered(manager.toOnes.map(\.name), bits.toOneBits) == ["home", "boss"])
        #expect(bits.toOneBits.min() == 0)
        #expect(try #require(bits.toOneBits.max()) < #require(bits.attributeBits.min()))
        #expect(try #require(bits.attributeBits.max()) < #require(bits.toManyBits.min()))
    }
}
