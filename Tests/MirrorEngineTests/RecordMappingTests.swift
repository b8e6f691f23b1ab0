import Foundation
import MirrorEngine
import MirrorTestKit
import RecordWire
import Stores
import Testing

@Suite struct RecordMappingTests {
    let layout = ModelLayout(model: SampleModel.make())

    @Test func recordsAreSpelledAsCloudKitContainersSpellThem() throws {
        let entity = try #require(layout.entity(named: "TodoNote"))
        var state = ObjectState(empty: entity)
        state.attributes[try #require(entity.attributeSlot("title"))] = .text("x")
        state.attributes[try #require(entity.attributeSlot("isDone"))] = .integer(1)
        state.attributes[try #require(entity.attributeSlot("edited"))] = .date(0)
        state.toOnes[try #require(entity.toOneSlot("folder"))] = NamedLink("F", orderKey: 2048)
        let record = try RecordMapping(layout: layout).record(named: "N", for: state)
        #expect(record.recordType == "CD_Note")
        #expect(
            record.fields == [
                "CD_entityName": .string("TodoNote"), "CD_title": .string("x"),
                "CD_isDone": .int64(1),
                "CD_edited": .timestamp(978_307_200_000), "CD_edited_exact": nil,
                "CD_folder": .string("F"), "CD_folder_order": .int64(2048),
            ])
    }

    @Test func randomStatesReadBackExactly() throws {
        let mapping = RecordMapping(layout: layout)
        let dice = SeededRandomness(seed: 5)
        let entity = try #require(layout.entity(named: "Note"))
        for _ in 0..<500 {
            var state = ObjectState(empty: entity)
            state.attributes[try #require(entity.attributeSlot("edited"))] =
                .date(Double(Int64(truncatingIfNeeded: dice.next()) >> 12) / 1_000_003)
            state.attributes[try #require(entity.attributeSlot("price"))] =
                .decimal(Decimal(Int64(truncatingIfNeeded: dice.next())) / 1_000)
            state.attributes[try #require(entity.attributeSlot("rating"))] =
                .double(Double(bitPattern: dice.next() & 0x7FEF_FFFF_FFFF_FFFF))
            let record = try mapping.record(named: "n", for: state)
            #expect(try mapping.state(of: record, entity: entity) == state)
        }
    }

    /// Of these decimals Foundation makes the double beside the nearest; who writes the nearest
    /// means the same decimal. Another double is an edit of a client that knows no exact field.
    @Test(arguments: ["8962.829", "0.07", "123456789.012345678"])
    func theNearestDoubleIsTheSameDecimal(text: String) throws {
        let mapping = RecordMapping(layout: layout)
        let entity = try #require(layout.entity(named: "Note"))
        let price = try #require(entity.attributeSlot("price"))
        let decimal = try #require(Decimal(string: text))
        let nearest = try #require(Double(text))
        let written = NSDecimalNumber(decimal: decimal).doubleValue
        var record = Record(recordName: "n", recordType: "CD_Note")
        record.fields["CD_price_exact"] = .string(text)
        for double in [nearest, written] {
            record.fields["CD_price"] = .double(double)
            let state = try mapping.state(of: record, entity: entity)
            #expect(state.attributes[price] == .decimal(decimal))
        }
        record.fields["CD_price"] = .double(nearest + 1)
        let edited = try mapping.state(of: record, entity: entity)
        #expect(edited.attributes[price] != .decimal(decimal))
    }

    @Test(arguments: [Double.infinity, -.infinity, 1e300, -1e18])
    func aDateThatNoTimestampHoldsReadsBack(seconds: Double) throws {
        let mapping = RecordMapping(layout: layout)
        let entity = try #require(layout.entity(named: "Note"))
        var state = ObjectState(empty: entity)
        state.attributes[try #require(entity.attributeSlot("edited"))] = .date(seconds)
        let record = try mapping.record(named: "n", for: state)
        #expect(try mapping.state(of: record, entity: entity) == state)
    }

    @Test func aFieldOfAnotherTypeIsNamed() throws {
        let entity = try #require(layout.entity(named: "Note"))
        var record = Record(recordName: "n", recordType: "CD_Note")
        record.fields["CD_title"] = .int64(1)
        let error = #expect(throws: MirrorError.self) {
            try RecordMapping(layout: layout).state(of: record, entity: entity)
        }
        #expect(error?.code == .fieldMismatch && error?.fields["field"] == "CD_title")
    }

    @Test func pairsLeadWithTheSmallerEntityName() throws {
        let kinds = PairCatalog(layout: layout).kinds
        #expect(
            kinds.contains { $0.entityNames == "Note:Tag" && $0.relationshipNames == "tags:notes" })
        #expect(
            kinds.contains {
                $0.entityNames == "Note:Note" && $0.relationshipNames == "linkedFrom:linksTo"
            })
        #expect(
            kinds.contains { $0.entityNames == "Tag:Note" && $0.relationshipNames == "pinned:" })
    }
}
