import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteStore
import Stores
import Testing

/// Elements of composites under new names, on devices side by side.
@Suite struct ElementRenamingTests {
    let world: VersionedWorld

    init() throws {
        world = try VersionedWorld(
            from: Self.model("zip", "geo", "lat"), to: Self.model("code", "place", "latitude"))
    }

    private static func model(_ zip: String, _ geo: String, _ lat: String) -> NSManagedObjectModel {
        let zip = SampleModel.attribute(zip, .integer64AttributeType)
        zip.renamingIdentifier = "zip"
        let lat = SampleModel.attribute(lat, .doubleAttributeType)
        lat.renamingIdentifier = "lat"
        let inner = composite(geo, [lat])
        inner.renamingIdentifier = "geo"
        let home = composite("home", [zip, inner])
        let model = NSManagedObjectModel()
        model.entities = [SampleModel.entity("Person", [home])]
        return model
    }

    private static func composite(
        _ name: String, _ elements: [NSAttributeDescription]
    ) -> NSCompositeAttributeDescription {
        let made = NSCompositeAttributeDescription()
        made.name = name
        made.isOptional = true
        made.elements = elements
        return made
    }

    @Test func renamedElementsAreTheSameOnBothSides() throws {
        let (old, new) = (try world.device(), try world.device(isLater: true))
        let person = try old.insert(
            "Person", ["home.zip": .integer(7), "home.geo.lat": .double(1.5)])
        try world.settle(old, new)
        let row = try new.only("Person")
        #expect(try new.value(row, "home.code") == .integer(7))
        #expect(try new.value(row, "home.place.latitude") == .double(1.5))
        try new.set(row, "home.code", .integer(8))
        try new.set(row, "home.place.latitude", .double(2.5))
        try world.settle(new, old)
        #expect(try old.value(person, "home.zip") == .integer(8))
        #expect(try old.value(person, "home.geo.lat") == .double(2.5))
    }

    @Test func anUpdateSendsNothingOfElementsThatAreRenamed() throws {
        let old = try world.device()
        try old.insert("Person", ["home.zip": .integer(7), "home.geo.lat": .double(1.5)])
        try world.settle(old)
        let updated = try world.updated(old)
        #expect(try updated.sync().exported == 0)
        #expect(try updated.value(updated.only("Person"), "home.code") == .integer(7))
        try updated.set(updated.only("Person"), "home.code", .integer(8))
        #expect(try updated.sync().exported == 1)
        let fields = try world.record("CD_Person").fields
        #expect(fields["CD_home_zip"] == .some(.int64(8)) && fields["CD_home_code"] == nil)
    }
}
