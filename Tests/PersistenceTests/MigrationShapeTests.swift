import CoreData
import Foundation
import SQLiteDriver
import Testing

/// Relationships and inheritance trees that change their shape.
@Suite struct MigrationShapeTests {
    static let files = LightweightMigrationTests.files

    private func version(
        _ side: TestModel.Side, _ back: TestModel.Side
    ) -> NSManagedObjectModel {
        VersionDraft.model { draft in
            draft.entity("Author", [text("name")])
            draft.entity("Book", [text("name")])
            draft.link("Book", "authors", side, "Author", "books", back)
        }
    }

    @Test(arguments: files) func toOneBecomesToMany(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        try bench.fill(version(.one, .many)) { context throws in
            let ada = context.make("Author", ["name": "Ada"])
            for name in ["B1", "B2"] { _ = context.make("Book", ["name": name, "authors": ada]) }
            _ = context.make("Book", ["name": "B3"])
        }
        try bench.open(version(.many, .many)) { context throws in
            #expect(try context.one("Book", "B1").names("authors") == ["Ada"])
            #expect(try context.one("Author", "Ada").names("books") == ["B1", "B2"])
            #expect(try context.one("Book", "B3").names("authors") == [])
            let eve = context.make("Author", ["name": "Eve"])
            try context.one("Book", "B1").addObject(eve, toRelationshipNamed: "authors")
            try context.save()
        }
        if kind == .sqlite { try bench.expectFreshShape(version(.many, .many)) }
        // Ordered from now on.
        try bench.open(version(.ordered, .many)) { context throws in
            let names = try context.one("Book", "B1").names("authors")
            #expect(Set(names) == ["Ada", "Eve"])
            #expect(try context.one("Author", "Ada").names("books") == ["B1", "B2"])
        }
        if kind == .sqlite { try bench.expectFreshShape(version(.ordered, .many)) }
    }

    @Test(arguments: files) func orderIsKept(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        func model(_ extra: Bool) -> NSManagedObjectModel {
            VersionDraft.model { draft in
                if extra { draft.entity("Able", [text("name")]) }
                draft.entity("List", [text("name")])
                draft.entity("Item", [text("name")] + (extra ? [number("n")] : []))
                draft.link("List", "items", .ordered, "Item", "list", .one)
                draft.link("List", "marked", .ordered, "Item", "marks", .many)
                draft.link("List", "loose", .many, "Item")
            }
        }
        try bench.fill(model(false)) { context throws in
            let list = context.make("List", ["name": "L"])
            let items = ["c", "a", "b"].map { context.make("Item", ["name": $0]) }
            list.setValue(NSOrderedSet(array: items), forKey: "items")
            list.setValue(NSOrderedSet(array: [items[2], items[0]]), forKey: "marked")
            list.setValue(Set([items[1]]), forKey: "loose")
        }
        try bench.open(model(true)) { context throws in
            let list = try context.one("List", "L")
            #expect(list.names("items") == ["c", "a", "b"])
            #expect(list.names("marked") == ["b", "c"])
            #expect(list.names("loose") == ["a"])
        }
        if kind == .sqlite { try bench.expectFreshShape(model(true)) }
    }

    @Test(arguments: files) func anUnrelatedDestinationBeginsEmpty(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        func model(_ end: String) -> NSManagedObjectModel {
            VersionDraft.model { draft in
                for name in ["A", "B", "C"] { draft.entity(name, [text("name")]) }
                draft.link("A", "end", .one, end, "starts", .many)
            }
        }
        try bench.fill(model("B")) { context in
            let end = context.make("B", ["name": "b"])
            _ = context.make("C", ["name": "c"])
            _ = context.make("A", ["name": "a", "end": end])
        }
        try bench.open(model("C")) { context throws in
            #expect(try context.one("A", "a").names("end") == [])
            #expect(try context.one("C", "c").names("starts") == [])
        }
        if kind == .sqlite { try bench.expectFreshShape(model("C")) }
    }

    @Test(arguments: files) func aToManyBecomesAToOne(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        try bench.fill(version(.many, .many)) { context throws in
            let (ada, eve) = (
                context.make("Author", ["name": "Ada"]), context.make("Author", ["name": "Eve"])
            )
            try context.save()
            _ = context.make("Book", ["name": "B1", "authors": Set([ada, eve])])
            _ = context.make("Book", ["name": "B2", "authors": Set([eve])])
            _ = context.make("Book", ["name": "B3"])
        }
        try bench.open(version(.one, .many)) { context throws in
            let kept = try context.one("Book", "B1").names("authors")
            #expect(kept.count == 1)
            #expect(try context.one("Author", kept[0]).names("books").contains("B1"))
            #expect(try context.one("Book", "B2").names("authors") == ["Eve"])
            #expect(try context.one("Book", "B3").names("authors") == [])
        }
        if kind == .sqlite { try bench.expectFreshShape(version(.one, .many)) }
    }

    @Test(arguments: files) func ofSeveralOneStaysInAOneToOne(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        try bench.fill(version(.one, .many)) { context throws in
            let ada = context.make("Author", ["name": "Ada"])
            for name in ["B1", "B2"] {
                _ = context.make("Book", ["name": name, "authors": ada])
                try context.save()
            }
        }
        try bench.open(version(.one, .one)) { context throws in
            let kept = try context.one("Author", "Ada").names("books")
            #expect(kept.count == 1)
            for name in ["B1", "B2"] {
                let authors = try context.one("Book", name).names("authors")
                #expect(authors == (kept == [name] ? ["Ada"] : []))
            }
        }
        if kind == .sqlite { try bench.expectFreshShape(version(.one, .one)) }
    }

    // MARK: Trees

    private let flat = VersionDraft.model { draft in
        draft.entity("Car", [text("name"), number("wheels")])
        draft.entity("Ship", [text("name"), number("masts")])
        draft.entity("Owner", [text("name")])
        draft.link("Owner", "car", .one, "Car", "owner", .one)
        draft.link("Owner", "ships", .many, "Ship", "owners", .many)
    }

    private let tree = VersionDraft.model { draft in
        draft.entity("Vehicle", [text("name")], isAbstract: true)
        draft.entity("Car", [number("wheels")], below: "Vehicle")
        draft.entity("Ship", [number("masts"), text("port")], below: "Vehicle")
        draft.entity("Owner", [text("name")])
        draft.link("Owner", "car", .one, "Car", "owner", .one)
        draft.link("Owner", "ships", .many, "Ship", "owners", .many)
    }

    private func fill(_ context: NSManagedObjectContext) {
        let owner = context.make("Owner", ["name": "O"])
        for name in ["c1", "c2", "c3"] { _ = context.make("Car", ["name": name, "wheels": 4]) }
        let car = context.make("Car", ["name": "c4", "wheels": 3])
        let ships = ["s1", "s2"].map { context.make("Ship", ["name": $0, "masts": 2]) }
        owner.setValue(car, forKey: "car")
        owner.setValue(Set(ships), forKey: "ships")
    }

    private func expectFleet(_ context: NSManagedObjectContext) throws {
        #expect(try context.all("Car").map { $0.string("name") } == ["c1", "c2", "c3", "c4"])
        #expect(try context.one("Car", "c4").int("wheels") == 3)
        #expect(try context.one("Ship", "s2").int("masts") == 2)
        #expect(try context.all("Ship").count == 2)
        let owner = try context.one("Owner", "O")
        #expect(owner.names("car") == ["c4"])
        #expect(owner.names("ships") == ["s1", "s2"])
        #expect(try context.one("Ship", "s1").names("owners") == ["O"])
    }

    @Test(arguments: files) func entitiesGetACommonParent(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        try bench.fill(flat, fill)
        try bench.open(tree) { context throws in
            try expectFleet(context)
            #expect(try context.all("Vehicle").count == 6)
            let more = context.make("Car", ["name": "c9"])
            try context.save()
            #expect(try context.all("Vehicle").count == 7)
            context.delete(more)
            try context.save()
        }
        if kind == .sqlite { try bench.expectFreshShape(tree) }
        // And part again.
        try bench.open(flat) { try expectFleet($0) }
        if kind == .sqlite { try bench.expectFreshShape(flat) }
    }

    @Test(arguments: files) func attributesMoveWithinTheTree(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        try bench.fill(tree) { context throws in
            _ = context.make("Ship", ["name": "s", "port": "P", "masts": 1])
            _ = context.make("Car", ["name": "c", "wheels": 4])
        }
        let moved = VersionDraft.model { draft in
            draft.entity("Vehicle", [text("port")])
            draft.entity("Car", [text("name"), number("wheels")], below: "Vehicle")
            draft.entity("Racer", [], below: "Car")
            draft.entity("Boat", [text("name"), number("masts")], below: "Vehicle", from: "Ship")
        }
        try bench.open(moved) { context throws in
            let boat = try context.one("Boat", "s")
            #expect(boat.string("port") == "P" && boat.int("masts") == 1)
            let car = try context.one("Car", "c")
            #expect(car.value(forKey: "port") == nil && car.int("wheels") == 4)
        }
        if kind == .sqlite { try bench.expectFreshShape(moved) }
    }

    @Test func linksToWhatIsGoneEnd() throws {
        let bench = try MigrationBench()
        let before = VersionDraft.model { draft in
            draft.entity("Base", [text("name")])
            draft.entity("A", below: "Base")
            draft.entity("B", below: "Base")
            draft.entity("Holder", [text("name")])
            draft.link("Holder", "one", .one, "Base", "holders", .many)
            draft.link("Holder", "many", .many, "Base", "others", .many)
        }
        let after = VersionDraft.model { draft in
            draft.entity("Base", [text("name")])
            draft.entity("A", below: "Base")
            draft.entity("Holder", [text("name")])
            draft.link("Holder", "one", .one, "Base", "holders", .many)
            draft.link("Holder", "many", .many, "Base", "others", .many)
        }
        try bench.fill(before) { context throws in
            let (a, b) = (context.make("A", ["name": "a"]), context.make("B", ["name": "b"]))
            for (name, end) in [("x", a), ("y", b)] {
                let holder = context.make("Holder", ["name": name, "one": end])
                holder.setValue(Set([a, b]), forKey: "many")
            }
        }
        try bench.open(after) { context throws in
            #expect(try context.one("Holder", "x").names("one") == ["a"])
            #expect(try context.one("Holder", "y").names("one") == [])
            #expect(try context.one("Holder", "y").names("many") == ["a"])
        }
        try bench.expectFreshShape(after)
    }

    @Test func aRelationshipGetsAnInverse() throws {
        let bench = try MigrationBench()
        func model(_ isLinked: Bool) -> NSManagedObjectModel {
            VersionDraft.model { draft in
                draft.entity("Box", [text("name")])
                draft.entity("Thing", [text("name")])
                if isLinked {
                    draft.link("Box", "things", .many, "Thing", "box", .one)
                } else {
                    draft.link("Box", "things", .many, "Thing")
                }
            }
        }
        try bench.fill(model(false)) { context throws in
            let box = context.make("Box", ["name": "b"])
            box.setValue(
                Set(["t1", "t2"].map { context.make("Thing", ["name": $0]) }), forKey: "things")
        }
        for isLinked in [true, false] {
            try bench.open(model(isLinked)) { context throws in
                #expect(try context.one("Box", "b").names("things") == ["t1", "t2"])
                if isLinked { #expect(try context.one("Thing", "t2").names("box") == ["b"]) }
            }
            try bench.expectFreshShape(model(isLinked))
        }
    }

    // MARK: Special attributes

    @Test func derivedCompositeAndLargeValues() throws {
        let bench = try MigrationBench()
        let large = Data(repeating: 7, count: 200_000)
        func model(_ isNew: Bool) -> NSManagedObjectModel {
            VersionDraft.model { draft in
                let data = TestModel.attribute("data", .binaryDataAttributeType)
                data.allowsExternalBinaryDataStorage = !isNew
                let small = TestModel.attribute("small", .binaryDataAttributeType)
                small.allowsExternalBinaryDataStorage = isNew
                let place = NSCompositeAttributeDescription()
                place.name = isNew ? "spot" : "place"
                place.isOptional = true
                place.renamingIdentifier = isNew ? "place" : nil
                place.elements = [number("x", .doubleAttributeType), text("label")]
                var properties: [NSPropertyDescription] = [text("name"), data, small, place]
                if isNew {
                    for (name, expression) in [
                        ("parts", "items.@count"), ("shout", "uppercase:(name)"),
                        ("total", "items.n.@sum"),
                    ] {
                        let derived = NSDerivedAttributeDescription()
                        derived.name = name
                        derived.isOptional = true
                        derived.attributeType =
                            name == "shout" ? .stringAttributeType : .integer64AttributeType
                        derived.derivationExpressionText = expression
                        properties.append(derived)
                    }
                }
                draft.entity("Whole", properties)
                draft.entity("Item", [text("name"), number("n")])
                draft.link("Whole", "items", .many, "Item", "whole", .one)
            }
        }
        try bench.fill(model(false)) { context throws in
            let whole = context.make(
                "Whole",
                [
                    "name": "w", "data": large, "small": Data([1, 2]),
                    "place": ["x": 2.5, "label": "here"] as [String: Any],
                ])
            for n in 1...3 { _ = context.make("Item", ["name": "i\(n)", "n": n, "whole": whole]) }
        }
        try bench.open(model(true)) { context throws in
            let whole = try context.one("Whole", "w")
            #expect(whole.value(forKey: "data") as? Data == large)
            #expect(whole.value(forKey: "small") as? Data == Data([1, 2]))
            let spot = whole.value(forKey: "spot") as? [String: Any]
            #expect(spot?["x"] as? Double == 2.5 && spot?["label"] as? String == "here")
            #expect(whole.int("parts") == 3 && whole.int("total") == 6)
            #expect(whole.string("shout") == "W")
            _ = context.make("Item", ["name": "i4", "n": 10, "whole": whole])
            try context.save()
            context.refreshAllObjects()
            #expect(whole.int("parts") == 4 && whole.int("total") == 16)
        }
        try bench.expectFreshShape(model(true))
    }

    /// A model of photos, whose images may have files of their own.
    private func photos(
        _ isExternal: Bool, in owner: String = "Photo", optional: Bool = true
    ) -> NSManagedObjectModel {
        VersionDraft.model { draft in
            let image = TestModel.attribute("image", .binaryDataAttributeType)
            image.allowsExternalBinaryDataStorage = isExternal
            image.isOptional = optional
            draft.entity("Photo", [text("name")] + (owner == "Photo" ? [image] : []))
            draft.entity("Poster", owner == "Photo" ? [] : [image], below: "Photo")
        }
    }

    private let image = Data(repeating: 7, count: 200_000)

    private func fillPhotos(_ context: NSManagedObjectContext) {
        for entity in ["Photo", "Poster"] {
            _ = context.make(entity, ["name": entity, "image": image])
        }
        _ = context.make("Photo", ["name": "small", "image": Data([1, 2])])
    }

    private func values(_ bench: MigrationBench) -> URL {
        bench.folder.appendingPathComponent(".store_SUPPORT/_EXTERNAL_DATA")
    }

    /// The files of large values, in the order of their names.
    private func valueFiles(_ bench: MigrationBench) -> [String] {
        let found = try? FileManager.default.contentsOfDirectory(atPath: values(bench).path)
        return (found ?? []).sorted()
    }

    @Test func valuesThatComeIntoTheirRowsLeaveNoFiles() throws {
        let bench = try MigrationBench()
        try bench.fill(photos(true), fillPhotos)
        #expect(valueFiles(bench).count == 2)
        try bench.open(photos(false)) { context throws in
            for name in ["Photo", "Poster"] {
                let photo = try context.one("Photo", name)
                #expect(photo.value(forKey: "image") as? Data == image)
            }
            let small = try context.one("Photo", "small")
            #expect(small.value(forKey: "image") as? Data == Data([1, 2]))
        }
        try bench.open(photos(false)) { _ in }
        #expect(valueFiles(bench).isEmpty)
        try bench.expectFreshShape(photos(false))
    }

    @Test func valuesThatMoveDownLeaveNoFilesOfOthers() throws {
        let bench = try MigrationBench()
        try bench.fill(photos(true), fillPhotos)
        try bench.open(photos(true, in: "Poster")) { context throws in
            let poster = try context.one("Poster", "Poster")
            #expect(poster.value(forKey: "image") as? Data == image)
        }
        try bench.open(photos(true, in: "Poster")) { context throws in
            let poster = try context.one("Poster", "Poster")
            #expect(poster.value(forKey: "image") as? Data == image)
        }
        #expect(valueFiles(bench).count == 1)
    }

    /// The value itself would be lost for good: nothing is changed until its file is there again.
    @Test(arguments: [true, false])
    func aValueWhoseFileIsGoneStopsItsWayIntoTheRow(_ isOptional: Bool) throws {
        let bench = try MigrationBench()
        try bench.fill(photos(true), fillPhotos)
        let aside = bench.folder.appendingPathComponent("aside")
        let file = values(bench).appendingPathComponent(try #require(valueFiles(bench).first))
        try FileManager.default.moveItem(at: file, to: aside)
        let next = photos(false, optional: isOptional)
        let error = try cocoaError { try bench.open(next) { _ in } }
        #expect(error.code == NSMigrationError)
        let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
        #expect(cause.code == NSMigrationError)
        #expect(cause.userInfo["attribute"] as? String == "image")
        #expect(cause.localizedDescription.contains(file.lastPathComponent))
        // The rows name their files still.
        try bench.open(photos(true), options: [:]) { context throws in
            #expect(try context.all("Photo").count == 3)
        }
        #expect(valueFiles(bench).count == 1)
        try FileManager.default.moveItem(at: aside, to: file)
        try bench.open(next) { context throws in
            for name in ["Photo", "Poster"] {
                let photo = try context.one("Photo", name)
                #expect(photo.value(forKey: "image") as? Data == image)
            }
        }
    }
}
