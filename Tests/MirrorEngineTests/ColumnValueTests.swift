import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import Stores
import Testing

/// Values that a column does not hold as a record has them: what was rounded is no edit, and what
/// the attribute cannot be ends nothing.
@Suite struct ColumnValueTests {
    let service: SimulatedService
    let device: Device
    let stranger: Stranger

    init() throws {
        service = try Device.service()
        device = try Device(1, service, model: Self.model())
        stranger = Stranger(service, beside: device)
        // Makes the zone.
        try device.sync()
    }

    private static func model(isUnique: Bool = false) -> NSManagedObjectModel {
        let model = SampleModel.make()
        let tag = model.entitiesByName["Tag"]
        let preset = SampleModel.attribute("preset", .floatAttributeType)
        preset.defaultValue = 0.1
        tag?.properties += [
            SampleModel.attribute("part", .floatAttributeType), preset,
            SampleModel.attribute("flag", .booleanAttributeType),
            SampleModel.attribute("ratio", .doubleAttributeType),
            SampleModel.attribute("cost", .decimalAttributeType),
            SampleModel.attribute("time", .dateAttributeType),
        ]
        if isUnique { tag?.uniquenessConstraints = [["part"]] }
        return model
    }

    // MARK: Decimals

    /// A number that no decimal can be stays the double that it is.
    @Test(arguments: [Double.infinity, -.infinity, 1e200, -1e200, 1e-200])
    func aDoubleThatNoDecimalCanBeStaysOne(number: Double) throws {
        try stranger.write(
            Record("n", "Note", ["CD_price": .double(number), "CD_title": .string("x")]))
        let other = try Device(2, service, model: Self.model())
        for device in [device, other] {
            #expect(try device.sync().error == nil)
            #expect(try device.value(device.only("Note"), "price") == .double(number))
        }
        try device.set(device.only("Note"), "title", .text("y"))
        #expect(try device.sync().error == nil)
        #expect(try other.sync().error == nil)
        #expect(try other.value(other.only("Note"), "title") == .text("y"))
        #expect(try other.value(other.only("Note"), "price") == .double(number))
        let kept = try #require(try stranger.record("n"))
        #expect(kept.fields["CD_price"] == .some(.double(number)))
        #expect(kept.fields["CD_title"] == .some(.string("y")))
        #expect(try device.mirrored.conflicts().isEmpty && other.mirrored.conflicts().isEmpty)
    }

    @Test func aDecimalThatIsNoNumberIsOne() throws {
        try stranger.write(Record("n", "Note", ["CD_price": .double(.nan)]))
        #expect(try device.sync().error == nil)
        #expect(try device.value(device.only("Note"), "price") == .decimal(.nan))
        try stranger.write(Record("n", "Note", ["CD_price": .double(2)]))
        let result = try device.sync()
        #expect(result.error == nil && result.exported == 0)
        #expect(try device.value(device.only("Note"), "price") == .decimal(2))
    }

    /// What was added to a number that no decimal can be is not told.
    @Test func nothingIsCountedUponWhatNoDecimalCanBe() throws {
        let entity = try #require(ModelLayout(model: Self.model()).entity(named: "Note"))
        let slot = try #require(entity.attributeSlot("price"))
        func state(_ value: AttributeValue) -> ObjectState {
            var state = ObjectState(empty: entity)
            state.attributes[slot] = value
            return state
        }
        let merge = ObjectMerge(policy: MergePolicy(standard: .counter), entity: entity)
        let outcome = merge.merge(
            base: state(.double(.infinity)), local: state(.decimal(1)), remote: state(.decimal(2)))
        #expect(outcome.merged.attributes[slot] == .decimal(1))
    }

    // MARK: What a column rounds

    /// A record's field before and after an edit elsewhere, and what the store has of it then.
    struct Rounded: Sendable {
        let name: String
        let first: [String: FieldValue]
        let second: FieldValue
        let stored: AttributeValue

        init(
            _ name: String, _ first: FieldValue, _ second: FieldValue, _ stored: AttributeValue,
            exact: FieldValue? = nil
        ) {
            self.name = name
            self.second = second
            self.stored = stored
            var fields = ["CD_\(name)": first]
            fields["CD_\(name)_exact"] = exact
            self.first = fields
        }
    }

    static let rounded: [Rounded] = [
        Rounded("part", .double(0.1), .double(0.2), .double(Double(Float(0.2)))),
        Rounded("part", .double(.nan), .double(0.5), .double(0.5)),
        Rounded("flag", .int64(5), .int64(0), .integer(0)),
        Rounded("flag", .int64(-1), .int64(2), .integer(1)),
        Rounded("ratio", .double(.nan), .double(1), .double(1)),
        Rounded(
            "time", .timestamp(.max), .timestamp(978_307_201_000), .date(1),
            exact: .double(.nan)),
        Rounded(
            "cost", .double(NSDecimalNumber(string: manyDigits).doubleValue), .double(2),
            .decimal(2), exact: .string(manyDigits)),
    ]

    /// More than a real has.
    private static let manyDigits = "1.23456789012345678901"

    @Test(arguments: rounded)
    func whatAColumnRoundsIsNoEdit(value: Rounded) throws {
        try stranger.write(Record("t", "Tag", value.first))
        #expect(try device.sync().error == nil)
        try stranger.write(Record("t", "Tag", ["CD_\(value.name)": value.second]))
        let result = try device.sync()
        #expect(result.error == nil && result.exported == 0)
        #expect(try device.value(device.only("Tag"), value.name) == value.stored)
        #expect(try stranger.record("t")?.fields["CD_\(value.name)"] == .some(value.second))
        #expect(try device.mirrored.conflicts().isEmpty)
    }

    /// An edit of another property leaves the service what a column here cannot hold.
    @Test(arguments: rounded)
    func whatAColumnRoundsIsNotSentAlong(value: Rounded) throws {
        try stranger.write(Record("t", "Tag", value.first))
        #expect(try device.sync().error == nil)
        let before = device.requests.count
        try device.set(device.only("Tag"), "label", .text("x"))
        #expect(try device.sync().error == nil)
        var sent: Set<String> = []
        for case .modifyRecords(let modify) in device.requests[before...] {
            for operation in modify.operations { sent.formUnion(operation.record.fields.keys) }
        }
        #expect(sent.contains("CD_label"))
        #expect(sent.isDisjoint(with: value.first.keys))
    }

    /// An object that nobody here edited goes with its deletion, without a line in the log.
    @Test(arguments: rounded)
    func whatAColumnRoundsKeepsNoDeletedObject(value: Rounded) throws {
        let device = try Device(
            3, service, model: Self.model(), policy: MergePolicy(deletion: .keepEdited))
        try stranger.write(Record("t", "Tag", value.first))
        try device.sync()
        try stranger.delete("t", type: "CD_Tag")
        #expect(try device.sync().error == nil)
        #expect(try device.rows("Tag").isEmpty && device.mirrored.conflicts().isEmpty)
    }

    /// A default that a column rounds is no edit of what the record says nothing of.
    @Test func aRoundedDefaultIsNoEdit() throws {
        try stranger.write(Record("t", "Tag", ["CD_label": .string("x")]))
        try device.sync()
        try stranger.write(Record("t", "Tag", ["CD_preset": .double(0.5)]))
        let result = try device.sync()
        #expect(result.error == nil && result.exported == 0)
        #expect(try device.value(device.only("Tag"), "preset") == .double(0.5))
        #expect(try device.mirrored.conflicts().isEmpty)
    }

    /// Keys are equal as the columns have them.
    @Test func aUniqueKeyIsFoundAsTheColumnHasIt() throws {
        let device = try Device(3, service, model: Self.model(isUnique: true))
        try stranger.write(Record("a", "Tag", ["CD_part": .double(0.1)]))
        try device.sync()
        try stranger.write(
            Record("b", "Tag", ["CD_part": .double(0.1)]),
            Record("c", "Tag", ["CD_part": .double(0.3)]))
        #expect(try device.sync().error == nil)
        let parts = try device.rows("Tag").map { try device.value($0.id, "part") }
        #expect(parts == [.double(Double(Float(0.1))), .double(Double(Float(0.3)))])
    }
}
