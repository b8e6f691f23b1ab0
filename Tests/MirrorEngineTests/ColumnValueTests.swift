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
}
