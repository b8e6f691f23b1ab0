import Foundation
import ObjectModel
import Platform
import Stores
import Testing

@Suite struct GraphRowStoreTests {
    @Test(arguments: GraphKind.allCases, 1...25)
    func randomGraphsReadBackEqual(kind: GraphKind, seed: UInt64) throws {
        let scratch = try Scratch()
        let store = try kind.open(scratch.file)
        var graph = RandomGraph(seed: seed, store: store)
        try graph.fill()
        let before = try image(of: store)
        #expect(before.count > 100)
        let again = try kind.open(scratch.file)
        #expect(try image(of: again) == before, "seed \(seed)")
        #expect(again.identifier == store.identifier)
        #expect(scratch.names == ["store"])
    }

    @Test(arguments: GraphKind.allCases)
    func edgeValuesAreExact(kind: GraphKind) throws {
        let scratch = try Scratch()
        let store = try kind.open(scratch.file)
        let values: [String: [AttributeValue]] = [
            "title": ["", " ", "\n", "\r", "\u{0}\u{1F}", "\\", "\\\\u2600", "&amp;"].map {
                .text($0)
            },
            "ratio": [
                0.1, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, 1.7976931348623157e308,
            ].map {
                .double($0)
            },
            "weight": [0.1, Float.greatestFiniteMagnitude, .leastNonzeroMagnitude].map {
                .double(Double($0))
            },
            "born": [-63_114_076_800, 0.1, 784_111_777.000001].map { .date($0) },
            "price": decimals.map { .decimal($0) },
            "large": [.integer(.min), .integer(.max), .integer(0)],
            "photo": [.data(Data()), .data(Data([0, 255])), .data(Data(count: 1000))],
            "home": [.uri(""), .uri("file:///a%20b?c=<&>")],
        ]
        let layout = try #require(store.layout.entity(named: "Thing"))
        var changes = ChangeSet()
        for (name, list) in values {
            let slot = try #require(layout.attributeSlot(name))
            for value in list {
                let key = try #require(try store.reserveKeys(entity: layout.number, count: 1).first)
                var row = Row(id: RowID(entity: layout.number, key: key), layout: layout)
                row.attributes[slot] = value
                changes.inserts.append(row)
            }
        }
        _ = try store.save(changes)
        #expect(try image(of: kind.open(scratch.file)) == image(of: store))
    }

    private var decimals: [Decimal] {
        [
            0, Decimal(string: "0.1") ?? 0,
            Decimal(string: "-123456789012345678901234567890.12345678") ?? 0,
            Decimal.greatestFiniteMagnitude, Decimal.leastFiniteMagnitude,
            Decimal.leastNonzeroMagnitude, Decimal.nan,
        ]
    }

    @Test(arguments: GraphKind.allCases)
    func equalGraphsMakeEqualFiles(kind: GraphKind) throws {
        let scratch = try Scratch()
        let store = try kind.open(scratch.file)
        var graph = RandomGraph(seed: 7, store: store)
        try graph.fill()
        let before = try Data(contentsOf: scratch.file)
        let again = try kind.open(scratch.file)
        try again.setMetadata(["note": "x"])
        try again.setMetadata([:])
        #expect(try Data(contentsOf: scratch.file) == before)
    }

    @Test func oneChangeIsOneLineOfAnXMLStore() throws {
        let scratch = try Scratch()
        let store = try GraphKind.xml.open(scratch.file)
        var graph = RandomGraph(seed: 3, store: store)
        try graph.fill()
        let before = try String(contentsOf: scratch.file, encoding: .utf8).split(separator: "\n")
        let layout = try #require(store.layout.entity(named: "Box"))
        let slot = try #require(layout.attributeSlot("title"))
        var changes = ChangeSet()
        let row = try #require(
            try store.rows(matching: RowQuery(entity: layout.number)).first {
                !$0.attributes[slot].isNull
            })
        var update = RowUpdate(id: row.id)
        update.attributes = [(slot, .text("another"))]
        changes.updates = [update]
        _ = try store.save(changes)
        let after = try String(contentsOf: scratch.file, encoding: .utf8).split(separator: "\n")
        let difference = after.difference(from: before)
        #expect(difference.insertions.count == 1)
        #expect(
            after.contains {
                $0 == "        <attribute name=\"title\" type=\"string\">another</attribute>"
            })
    }

    @Test(arguments: GraphKind.allCases)
    func metadataKeepsTheStoresOwnKeys(kind: GraphKind) throws {
        let scratch = try Scratch()
        let store = try kind.open(scratch.file)
        let stamp = Date(timeIntervalSinceReferenceDate: 700_000_000)
        let own: [String: Any] = [
            "author": "A & <B\u{301}>", "count": 7, "ratio": 0.5, "flag": true, "when": stamp,
            "bytes": Data([1, 2]), "list": ["a", 2] as [Any], "NSStoreUUID": "forged",
        ]
        try store.setMetadata(own)
        let found = try kind.open(scratch.file).metadata()
        #expect(found["author"] as? String == "A & <B\u{301}>")
        #expect(found["count"] as? Int == 7 && found["ratio"] as? Double == 0.5)
        #expect(found["flag"] as? Bool == true && found["when"] as? Date == stamp)
        #expect(found["bytes"] as? Data == Data([1, 2]))
        #expect((found["list"] as? [Any])?.last as? Int == 2)
        #expect(found["NSStoreUUID"] as? String == store.identifier)
        let hashes = found["NSStoreModelVersionHashes"] as? [String: Data]
        #expect(hashes?.count == 4)
        #expect(found["NSStoreModelVersionHashesVersion"] as? Int == 3)
        #expect(throws: StoreError.self) { try store.setMetadata(["bad": Scratch.self]) }
        #expect(try store.metadata()["author"] as? String == "A & <B\u{301}>")
    }

    @Test(arguments: GraphKind.allCases)
    func keysOfDeletedRowsAreNotHandedOutAgain(kind: GraphKind) throws {
        let scratch = try Scratch()
        let store = try kind.open(scratch.file)
        let number = try #require(store.layout.entity(named: "Label")).number
        let layout = try #require(store.layout.entity(number))
        #expect(try store.reserveKeys(entity: number, count: 2) == [102, 103])
        var changes = ChangeSet()
        changes.inserts = [Row(id: RowID(entity: number, key: 103), layout: layout)]
        _ = try store.save(changes)
        changes = ChangeSet()
        changes.deletes = [RowDelete(id: RowID(entity: number, key: 103))]
        _ = try store.save(changes)
        #expect(try kind.open(scratch.file).reserveKeys(entity: number, count: 1) == [104])
    }

    @Test(arguments: GraphKind.allCases)
    func historyIsRefusedWithAReason(kind: GraphKind) throws {
        let scratch = try Scratch()
        let store = try kind.open(scratch.file)
        #expect(!store.keepsHistory)
        let error = try #require(throws: StoreError.self) {
            try store.history(after: 0, limit: nil)
        }
        #expect(error.code == .unsupported && error.message.contains("no history"))
        #expect(throws: StoreError.self) { try store.deleteHistory(.upTo(1)) }
        #expect(throws: StoreError.self) { try store.lastTransactionNumber() }
    }

    @Test(arguments: GraphKind.allCases)
    func derivedAttributesAreRefusedInApplesWords(kind: GraphKind) throws {
        let scratch = try Scratch()
        let derived = NSDerivedAttributeDescription()
        derived.name = "folded"
        derived.attributeType = .stringAttributeType
        derived.derivationExpressionText = "canonical:(title)"
        let model = NSManagedObjectModel()
        model.entities = [EverythingModel.entity("Note", [derived])]
        let error = try #require(throws: StoreError.self) { try kind.open(scratch.file, model) }
        #expect(
            error.message.hasPrefix(
                "Core Data provided atomic stores do not support derived properties"))
        #expect(scratch.names.isEmpty)
    }

    @Test(arguments: GraphKind.allCases)
    func anotherModelIsRefusedUnlessVersioningIsIgnored(kind: GraphKind) throws {
        let scratch = try Scratch()
        let store = try kind.open(scratch.file)
        var graph = RandomGraph(seed: 1, store: store)
        try graph.fill()
        let other = EverythingModel.make()
        other.entitiesByName["Label"]?.declaredProperties.append(
            EverythingModel.attribute("added", .stringAttributeType))
        let error = try #require(throws: StoreError.self) { try kind.open(scratch.file, other) }
        #expect(error.code == .modelMismatch && error.fields["changed"] == "Label")
        var options = GraphFileOptions()
        options.ignoresVersioning = true
        let opened = try kind.open(scratch.file, other, options)
        #expect(try allRows(of: opened).count == allRows(of: store).count)
        let poorer = NSManagedObjectModel()
        poorer.entities = [EverythingModel.entity("Label", [])]
        let refusal = try #require(throws: StoreError.self) {
            try kind.open(scratch.file, poorer, options)
        }
        #expect(refusal.code == .modelMismatch)
    }

    @Test(arguments: GraphKind.allCases)
    func readOnlyStoresAreNeitherMadeNorWritten(kind: GraphKind) throws {
        let scratch = try Scratch()
        var options = GraphFileOptions()
        options.isReadOnly = true
        let model = EverythingModel.make()
        let missing = try #require(throws: StoreError.self) {
            try kind.open(scratch.file, model, options)
        }
        #expect(missing.code == .cannotOpen && scratch.names.isEmpty)
        _ = try kind.open(scratch.file, model)
        let before = try Data(contentsOf: scratch.file)
        let store = try kind.open(scratch.file, model, options)
        let refusal = try #require(throws: StoreError.self) { try store.setMetadata(["a": 1]) }
        #expect(refusal.code == .readOnly)
        #expect(throws: StoreError.self) { try store.save(ChangeSet()) }
        #expect(try Data(contentsOf: scratch.file) == before)
        #expect(throws: StoreError.self) { try kind.open(nil, model) }
    }

    @Test func namesThatDifferInCaseOnlyAreRefused() throws {
        let scratch = try Scratch()
        let model = NSManagedObjectModel()
        model.entities = [
            EverythingModel.entity(
                "Note",
                [
                    EverythingModel.attribute("text", .stringAttributeType),
                    EverythingModel.attribute("Text", .stringAttributeType),
                ])
        ]
        let error = try #require(throws: StoreError.self) {
            try GraphKind.xml.open(scratch.file, model)
        }
        #expect(error.code == .unsupported && scratch.names.isEmpty)
    }
}
