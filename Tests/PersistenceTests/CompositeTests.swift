import CoreData
import Foundation
import Testing

/// Composites within composites, and values that no composite can hold.
@Suite struct CompositeTests {
    private static func model(
        of type: NSManagedObject.Type = NSManagedObject.self
    ) -> NSManagedObjectModel {
        func composite(
            _ name: String, _ elements: [NSAttributeDescription]
        ) -> NSCompositeAttributeDescription {
            let made = NSCompositeAttributeDescription()
            made.name = name
            made.elements = elements
            return made
        }
        let place = TestModel.entity("Place", of: type)
        place.properties = [
            composite(
                "address",
                [
                    text("street"), number("zip"),
                    composite(
                        "geo",
                        [
                            number("lat", .doubleAttributeType),
                            composite("grid", [text("square"), number("row")]),
                        ]),
                ])
        ]
        TestModel.link(place, "region", .one, place, "places", .many)
        let model = NSManagedObjectModel()
        model.entities = [place]
        return model
    }

    private func address(_ lat: Double = 51.5, _ row: Int = 7) -> [String: Any] {
        [
            "street": "Elm",
            "geo": ["lat": lat, "grid": ["square": "TQ", "row": row] as [String: Any]],
        ]
    }

    private func row(of value: Any?) -> Int? {
        let geo = (value as? [String: Any])?["geo"] as? [String: Any]
        return (geo?["grid"] as? [String: Any])?["row"] as? Int
    }

    @Test(arguments: StoreKind.allCases)
    func elementsOfInnerCompositesAreStored(_ kind: StoreKind) throws {
        let bench = try Bench(kind, model: Self.model())
        let place = try bench.make("Place")
        place.setValue(address(), forKey: "address")
        #expect(row(of: place.value(forKey: "address")) == 7)
        try bench.context.save()
        let other = bench.newContext()
        let twin = try bench.twin(place, in: other)
        let read = try #require(twin.value(forKey: "address") as? [String: Any])
        #expect(read["street"] as? String == "Elm" && read["zip"] == nil && row(of: read) == 7)
        #expect((read["geo"] as? [String: Any])?["lat"] as? Double == 51.5)
        #expect(twin.value(forKeyPath: "address.geo.grid.square") as? String == "TQ")
        twin.setValue(["square": "SU", "row": 8], forKeyPath: "address.geo.grid")
        #expect(row(of: twin.committedValues(forKeys: ["address"])["address"]) == 7)
        try other.save()
        let third = try bench.twin(place, in: bench.newContext())
        #expect(row(of: third.value(forKey: "address")) == 8)
        #expect(third.value(forKeyPath: "address.geo.lat") as? Double == 51.5)
    }

    @Test(arguments: StoreKind.allCases)
    func predicatesReachInnerElements(_ kind: StoreKind) throws {
        let bench = try Bench(kind, model: Self.model())
        for (lat, row) in [(51.5, 7), (40, 8)] {
            try bench.make("Place").setValue(address(lat, row), forKey: "address")
        }
        try bench.make("Place")
        try bench.context.save()
        for format in [
            "address.geo.grid.row == 7", "address.geo.lat > 50", "address.geo.grid.row < 8",
            "address.geo.grid.square == 'TQ' AND address.geo.lat == 51.5",
        ] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
            request.predicate = NSPredicate(format: format)
            let found = try bench.newContext().fetch(request)
            #expect(found.map { row(of: $0.value(forKey: "address")) } == [7], "\(format)")
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
        request.predicate = NSPredicate(format: "address.geo.grid.row == nil")
        #expect(try bench.newContext().fetch(request).count == 1)
        request.predicate = nil
        request.sortDescriptors = [NSSortDescriptor(key: "address.geo.grid.row", ascending: false)]
        let rows = try bench.newContext().fetch(request).map {
            row(of: $0.value(forKey: "address"))
        }
        #expect(rows == [8, 7, nil])
    }

    /// A composite is there where one of its elements is, at whatever depth.
    @Test(arguments: StoreKind.allCases)
    func predicatesTellWhetherACompositeIsThere(_ kind: StoreKind) throws {
        let bench = try Bench(kind, model: Self.model())
        let full = try bench.make("Place")
        full.setValue(address(40, 1), forKey: "address")
        let deep = try bench.make("Place")
        deep.setValue(["geo": ["grid": ["row": 2]]], forKey: "address")
        let shallow = try bench.make("Place")
        shallow.setValue(["zip": 3], forKey: "address")
        let bare = try bench.make("Place")
        deep.setValue(full, forKey: "region")
        bare.setValue(shallow, forKey: "region")
        try bench.context.save()
        for (format, expected) in [
            ("address == nil", [bare]), ("nil != address", [full, deep, shallow]),
            ("address.geo == nil", [shallow, bare]), ("address.geo.grid != nil", [full, deep]),
            ("NOT (address.geo == nil)", [full, deep]), ("region.address.geo != nil", [deep]),
            ("region != nil AND region.address.geo == nil", [bare]),
            ("ANY places.address == nil", [shallow]), ("ANY places.address.geo != nil", [full]),
            ("SUBQUERY(places, $p, $p.address.geo.grid == nil).@count == 1", [shallow]),
        ] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
            request.predicate = NSPredicate(format: format)
            let found = try bench.newContext().fetch(request).map(\.objectID)
            #expect(Set(found) == Set(expected.map(\.objectID)), "\(format)")
        }
    }

    @Test func dictionariesNestAsObjectsDo() throws {
        let bench = try Bench(.sqlite, model: Self.model())
        try bench.make("Place").setValue(address(), forKey: "address")
        try bench.context.save()
        let request = NSFetchRequest<NSDictionary>(entityName: "Place")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["address"].compactMap {
            bench.coordinator.managedObjectModel.entitiesByName["Place"]?.propertiesByName[$0]
        }
        let found = try #require(try bench.context.fetch(request).first)
        #expect(row(of: found["address"]) == 7)
    }

    private static let misfits: [any Sendable] = [
        "Elm Street", ["zip": "many"], ["geo": 3], ["geo": ["lat": "north"]], ["city": "London"],
        ["geo": ["grid": ["row": "x"], "lat": 1.0] as [String: any Sendable]],
    ]

    @Test(arguments: Self.misfits.indices, [true, false])
    func whatDoesNotFitFailsTheSave(_ place: Int, _ isOverridden: Bool) throws {
        let value = Self.misfits[place]
        let model = Self.model(of: isOverridden ? Permissive.self : NSManagedObject.self)
        let bench = try Bench(.sqlite, model: model)
        let object = Permissive.make(isOverridden, try bench.named("Place"), bench.context)
        object.setValue(address(), forKey: "address")
        try bench.context.save()
        object.setValue(value, forKey: "address")
        let error = try #require(throws: NSError.self) { try bench.context.save() }
        #expect(error.code == NSManagedObjectValidationError)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "address")
        let twin = try bench.twin(object, in: bench.newContext())
        #expect(row(of: twin.value(forKey: "address")) == 7)
        object.setValue(address(1, 9), forKey: "address")
        try bench.context.save()
    }

    @Test(arguments: ["region", "places"])
    func noOverrideLetsMistypedLinksPass(_ key: String) throws {
        let bench = try Bench(.sqlite, model: Self.model(of: Permissive.self))
        let object = Permissive.make(true, try bench.named("Place"), bench.context)
        try bench.context.save()
        object.setValue("elsewhere", forKey: key)
        let error = try #require(throws: NSError.self) { try bench.context.save() }
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == key)
    }

    @Test func anElementsMisfitEndsWithTheWholesNextValue() throws {
        let bench = try Bench(.memory, model: Self.model())
        let place = try bench.make("Place")
        place.setValue("many", forKey: "address.zip")
        #expect(throws: NSError.self) { try bench.context.save() }
        place.setValue(address(), forKey: "address")
        try bench.context.save()
    }

    @Test(arguments: Self.misfits.indices)
    func batchesRefuseWhatDoesNotFit(_ place: Int) throws {
        let value = Self.misfits[place]
        let bench = try Bench(.sqlite, model: Self.model())
        try bench.context.execute(
            NSBatchInsertRequest(entityName: "Place", objects: [["address": address()]]))
        let insert = NSBatchInsertRequest(entityName: "Place", objects: [["address": value]])
        #expect(throws: NSError.self) { try bench.context.execute(insert) }
        let update = NSBatchUpdateRequest(entityName: "Place")
        update.propertiesToUpdate = ["address": value]
        #expect(throws: NSError.self) { try bench.context.execute(update) }
        let found = try bench.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Place"))
        #expect(found.map { row(of: $0.value(forKey: "address")) } == [7])
        update.propertiesToUpdate = ["address": address(2, 8)]
        try bench.context.execute(update)
        let twin = try bench.twin(found[0], in: bench.newContext())
        #expect(row(of: twin.value(forKey: "address")) == 8)
    }
}

/// Finds nothing wrong with any value.
private final class Permissive: NSManagedObject {
    override func validateValue(_ value: Any?, forKey key: String) throws {}

    static func make(
        _ isWanted: Bool, _ entity: NSEntityDescription, _ context: NSManagedObjectContext
    ) -> NSManagedObject {
        isWanted
            ? Permissive(entity: entity, insertInto: context)
            : NSManagedObject(entity: entity, insertInto: context)
    }
}
