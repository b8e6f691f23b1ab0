import CoreData
import Foundation
import Testing

/// Composites whose elements change from one version to the next.
struct CompositeMigrationTests {
    private static func composite(
        _ name: String, from former: String? = nil, _ elements: [NSAttributeDescription]
    ) -> NSCompositeAttributeDescription {
        let made = NSCompositeAttributeDescription()
        made.name = name
        made.renamingIdentifier = former
        made.isOptional = true
        made.elements = elements
        return made
    }

    private static func model(
        _ home: NSCompositeAttributeDescription, _ more: [NSPropertyDescription] = []
    ) -> NSManagedObjectModel {
        VersionDraft.model { $0.entity("Person", [text("name"), home] + more) }
    }

    /// Addresses with a place within them.
    private static var old: NSManagedObjectModel {
        model(
            composite(
                "home",
                [
                    text("town"), number("zip"),
                    composite("geo", [number("lat", .doubleAttributeType), text("map")]),
                ]))
    }

    private static func filled(_ kind: StoreKind) throws -> MigrationBench {
        let bench = try MigrationBench(kind)
        try bench.fill(old) { context in
            let geo: [String: Any] = ["lat": 1.5, "map": "m"]
            let home: [String: Any] = ["town": "Ulm", "zip": 7, "geo": geo]
            _ = context.make("Person", ["name": "whole", "home": home])
            _ = context.make("Person", ["name": "part", "home": ["zip": 8] as [String: Any]])
            _ = context.make("Person", ["name": "none"])
        }
        return bench
    }

    @Test(arguments: [StoreKind.sqlite, .xml, .binary])
    func renamedElementsKeepTheirValues(_ kind: StoreKind) throws {
        let bench = try Self.filled(kind)
        let zip = number("postcode")
        zip.renamingIdentifier = "zip"
        let latitude = number("latitude", .doubleAttributeType)
        latitude.renamingIdentifier = "lat"
        let place = Self.composite("place", from: "geo", [latitude, text("map")])
        let address = Self.composite("address", from: "home", [text("town"), zip, place])
        try bench.open(Self.model(address)) { context in
            let whole = try context.one("Person", "whole")
            #expect(whole.value(forKeyPath: "address.town") as? String == "Ulm")
            #expect(whole.value(forKeyPath: "address.postcode") as? Int == 7)
            #expect(whole.value(forKeyPath: "address.place.latitude") as? Double == 1.5)
            #expect(whole.value(forKeyPath: "address.place.map") as? String == "m")
            let part = try context.one("Person", "part").value(forKey: "address")
            #expect((part as? [String: Any])?.keys.sorted() == ["postcode"])
            #expect(try context.one("Person", "none").value(forKey: "address") == nil)
        }
    }

    @Test(arguments: [StoreKind.sqlite, .xml, .binary])
    func elementsComeAndGo(_ kind: StoreKind) throws {
        let bench = try Self.filled(kind)
        let zip = number("zip", optional: false, 1)
        let home = Self.composite("home", [zip, text("state", "BW")])
        try bench.open(Self.model(home)) { context in
            let values = try context.all("Person").map { person in
                let home = person.value(forKey: "home") as? [String: Any]
                return (home?["zip"] as? Int, home?["state"] as? String, home?.count)
            }
            // In order of the names: none, part, whole.
            #expect(values.map(\.0) == [1, 8, 7])
            #expect(values.map(\.1) == ["BW", "BW", "BW"])
            #expect(values.map(\.2) == [2, 2, 2])
        }
    }

    /// Names of composites are in no version hash, so that nothing is migrated.
    @Test(arguments: [StoreKind.sqlite, .xml, .binary])
    func compositesThatAloneAreRenamedKeepTheirValues(_ kind: StoreKind) throws {
        let bench = try Self.filled(kind)
        let place = [number("lat", .doubleAttributeType), text("map")]
        let house = Self.composite(
            "house", from: "home",
            [text("town"), number("zip"), Self.composite("place", from: "geo", place)])
        #expect(Self.model(house).entityVersionHashesByName == Self.old.entityVersionHashesByName)
        for options in [MigrationBench.migrating, [:]] {
            try bench.open(Self.model(house), options: options) { context in
                let whole = try context.one("Person", "whole")
                #expect(whole.value(forKeyPath: "house.place.lat") as? Double == 1.5)
                #expect(whole.value(forKeyPath: "house.town") as? String == "Ulm")
                #expect(try context.one("Person", "none").value(forKey: "house") == nil)
                whole.setValue("Ulm", forKeyPath: "house.place.map")
                try context.save()
            }
        }
    }

    /// Several versions have the store's hashes: the values go on from the one that it was used
    /// with last, whatever the next one says of former names.
    @Test(arguments: [StoreKind.sqlite, .xml, .binary], [nil, "home", "house"] as [String?])
    func aRenamedCompositeGoesOnWithTheVersionAfter(_ kind: StoreKind, _ former: String?) throws {
        let place = [number("lat", .doubleAttributeType), text("map")]
        func renamed(_ former: String?, _ more: [NSPropertyDescription]) -> NSManagedObjectModel {
            let inner = Self.composite("place", from: former.map { _ in "geo" }, place)
            return Self.model(
                Self.composite("house", from: former, [text("town"), number("zip"), inner]), more)
        }
        for isSaved in [true, false] {
            let bench = try Self.filled(kind)
            let second = renamed("home", [])
            try bench.open(second, at: isSaved ? nil : bench.folder.appendingPathComponent("x")) {
                guard isSaved else { return }
                try $0.one("Person", "none").setValue(["zip": 9] as [String: Any], forKey: "house")
                try $0.save()
            }
            try bench.open(renamed(former, [number("age")])) { context in
                let whole = try context.one("Person", "whole")
                #expect(whole.value(forKeyPath: "house.town") as? String == "Ulm")
                #expect(whole.value(forKeyPath: "house.place.lat") as? Double == 1.5)
                let part = try context.one("Person", "part").value(forKeyPath: "house.zip")
                #expect(part as? Int == 8)
                let none = try context.one("Person", "none").value(forKeyPath: "house.zip")
                #expect(none as? Int == (isSaved ? 9 : nil))
            }
        }
    }

    /// As an attribute of another type is: a text would have become the number 0.
    @Test(arguments: [StoreKind.sqlite, .xml])
    func anElementOfAnotherTypeIsRefused(_ kind: StoreKind) throws {
        let bench = try Self.filled(kind)
        let home = Self.composite("home", [number("town"), number("zip")])
        let error = try cocoaError { try bench.open(Self.model(home)) { _ in } }
        #expect(error.code == NSMigrationMissingMappingModelError)
        try bench.open(Self.old) { context in
            let whole = try context.one("Person", "whole")
            #expect(whole.value(forKeyPath: "home.town") as? String == "Ulm")
        }
    }

    @Test func aWiderNumberIsNoOtherType() throws {
        let bench = try Self.filled(.sqlite)
        let zip = number("zip", .integer64AttributeType)
        try bench.open(Self.model(Self.composite("home", [zip]))) { context in
            let whole = try context.one("Person", "whole")
            #expect(whole.value(forKeyPath: "home.zip") as? Int == 7)
        }
    }
}
