import Foundation
import ObjectModel
import Predicates
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

@Suite struct OpeningTests {
    let scratch: Scratch
    var url: URL { scratch.url("store.sqlite") }

    init() throws { scratch = try Scratch() }

    private func failure(
        at url: URL, _ model: NSManagedObjectModel = TestModel.society(),
        _ change: (inout SQLiteStoreOptions) -> Void = { _ in }
    ) -> StoreError? {
        var options = SQLiteStoreOptions()
        change(&options)
        return #expect(throws: StoreError.self) {
            try SQLiteRowStore(url: url, model: model, options: options)
        }
    }

    @Test func aNewFileIsAWholeStoreOfApplesForm() throws {
        let model = TestModel.society()
        model.versionIdentifiers = ["7"]
        let fixture = try StoreFixture(model, url: url)
        #expect(try fixture.sql("PRAGMA page_size") == [[4096]])
        #expect(try fixture.sql("PRAGMA auto_vacuum") == [[2]])
        #expect(try fixture.sql("PRAGMA journal_mode") == [["wal"]])
        let metadata = try SQLiteRowStore.metadata(at: url)
        #expect(metadata["NSStoreUUID"] as? String == fixture.store.identifier)
        #expect(
            metadata["NSStoreModelVersionHashes"] as? [String: Data]
                == model.entityVersionHashesByName)
        #expect(metadata["NSStoreModelVersionHashesDigest"] as? String == model.versionHashesDigest)
        #expect(metadata["NSStoreModelVersionChecksumKey"] as? String == model.versionChecksum)
        #expect(metadata["NSStoreModelVersionIdentifiers"] as? [String] == ["7"])
        #expect(metadata["NSStoreModelVersionHashesVersion"] as? Int == 3)
        #expect(metadata["_NSAutoVacuumLevel"] as? String == "2")
        #expect(
            try fixture.sql("SELECT typeof(Z_PLIST), Z_VERSION FROM Z_METADATA") == [["blob", 1]])
        #expect(
            try fixture.sql("SELECT * FROM Z_PRIMARYKEY WHERE Z_ENT < 16000") == [
                [1, "Note", 0, 0], [2, "Person", 0, 0], [3, "Employee", 2, 0],
                [4, "Manager", 3, 0],
                [5, "Place", 0, 0], [6, "Tag", 0, 0],
            ])
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(left.allSatisfy { $0.hasPrefix("store.sqlite") })
    }

    @Test func whatWasWrittenIsThereWhenOpenedAgain() throws {
        let model = TestModel.society()
        let id = try StoreFixture(model, url: url).insert("Person", ["name": .text("Ada")])
        let again = try StoreFixture(model, url: url)
        #expect(try again.value(id, "name") == .text("Ada"))
        let copy = TestModel.society()
        #expect(try StoreFixture(copy, url: url).value(id, "name") == .text("Ada"))
    }

    @Test func applicationMetadataIsKeptBesideTheStoresOwn() throws {
        let fixture = try StoreFixture(TestModel.society(), url: url)
        try fixture.store.setMetadata(["color": "red", "NSStoreModelVersionHashes": ["x": Data()]])
        try fixture.store.setMetadata(["color": "blue"])
        let metadata = try fixture.store.metadata()
        #expect(metadata["color"] as? String == "blue")
        let hashes = try #require(metadata["NSStoreModelVersionHashes"] as? [String: Data])
        #expect(Set(hashes.keys) == ["Person", "Employee", "Manager", "Place", "Tag", "Note"])
        _ = try StoreFixture(TestModel.society(), url: url)
    }

    @Test func aConfigurationHoldsItsEntitiesOnly() throws {
        let model = TestModel.society()
        model.setEntities(
            [
                try #require(model.entitiesByName["Tag"]),
                try #require(model.entitiesByName["Note"]),
            ],
            forConfigurationName: "Loose")
        let store = try SQLiteRowStore(url: url, model: model, configuration: "Loose")
        #expect(store.layout.entities.map(\.name) == ["Note", "Tag"])
        let error = #expect(throws: StoreError.self) {
            try SQLiteRowStore(url: url, model: model, configuration: "None")
        }
        #expect(error?.code == .modelMismatch)
    }

    @Test(arguments: [false, true])
    func aSecondStoreOfAModelIsLikeTheFirst(isInUse: Bool) throws {
        let model = TestModel.model([
            TestModel.entity("Note", [TestModel.attribute("title", .stringAttributeType)])
        ])
        if isInUse { model.freeze() }
        let first = try StoreFixture(model, url: scratch.url("first.sqlite"))
        if !isInUse {
            // What is worked out of a model that may still change must not be kept.
            model.entities[0].declaredProperties.append(
                TestModel.attribute("pages", .integer32AttributeType))
        }
        let second = try StoreFixture(model, url: scratch.url("second.sqlite"))
        #expect(first.store.identifier != second.store.identifier)
        let columns = ["Z_PK", "Z_ENT", "Z_OPT"] + (isInUse ? [] : ["ZPAGES"]) + ["ZTITLE"]
        #expect(
            try second.sql("SELECT name FROM pragma_table_info('ZNOTE')").map { $0[0] }
                == columns.map { .text($0) })
        let kept = try [first, second].map { try $0.sql("SELECT Z_CONTENT FROM Z_MODELCACHE") }
        #expect((kept[0] == kept[1]) == isInUse)
    }

    @Test func eachKindOfWrongFileHasItsOwnError() throws {
        try Data("this is not a database at all".utf8).write(to: scratch.url("text"))
        #expect(failure(at: scratch.url("text"))?.code == .notAStore)
        try Data().write(to: scratch.url("empty"))
        #expect(failure(at: scratch.url("empty"))?.code == .notAStore)
        #expect(failure(at: scratch.folder)?.code == .cannotOpen)
        #expect(failure(at: scratch.url("none/store.sqlite"))?.code == .cannotOpen)
        #expect(failure(at: scratch.url("absent")) { $0.isReadOnly = true }?.code == .cannotOpen)
        let plain = try Connection(path: scratch.url("plain").path)
        try plain.run("CREATE TABLE item (id INTEGER PRIMARY KEY)")
        #expect(failure(at: scratch.url("plain"))?.code == .notAStore)
        #expect(throws: StoreError.self) { try SQLiteRowStore.metadata(at: scratch.url("text")) }
    }

    @Test func damagedPagesAreCorrupt() throws {
        do {
            let fixture = try StoreFixture(TestModel.society(), url: url)
            for number in 0..<300 { try fixture.insert("Tag", ["name": .text("tag \(number)")]) }
        }
        var bytes = try Data(contentsOf: url)
        for index in 4096..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
        try bytes.write(to: url)
        #expect(failure(at: url)?.code == .corrupt)
    }

    @Test func metadataThatIsNoPropertyListIsCorrupt() throws {
        do {
            let fixture = try StoreFixture(TestModel.society(), url: url)
            try fixture.store.write {
                _ = try $0.connection.run("UPDATE Z_METADATA SET Z_PLIST = x'00ff'")
            }
        }
        #expect(failure(at: url)?.code == .corrupt)
    }

    @Test func anotherModelIsRefusedByTheNamesOfItsEntities() throws {
        _ = try StoreFixture(TestModel.society(), url: url)
        let other = TestModel.society()
        let tag = try #require(other.entitiesByName["Tag"])
        tag.declaredProperties.append(TestModel.attribute("extra", .stringAttributeType))
        other.entities =
            other.entities.filter { $0.name != "Place" } + [TestModel.entity("New", [])]
        let error = failure(at: url, other)
        #expect(error?.code == .modelMismatch)
        #expect(error?.fields["changed"]?.contains("Tag") == true)
        #expect(error?.fields["onlyInModel"] == "New" && error?.fields["onlyInStore"] == "Place")
    }

    @Test func withoutVersioningTheColumnsDecide() throws {
        _ = try StoreFixture(TestModel.society(), url: url)
        let same = TestModel.society()
        same.entitiesByName["Tag"]?.versionHashModifier = "2"
        #expect(failure(at: url, same)?.code == .modelMismatch)
        var options = SQLiteStoreOptions()
        options.ignoresVersioning = true
        let fixture = try StoreFixture(same, url: url, options: options)
        try fixture.insert("Tag", ["name": .text("x")])
        same.entitiesByName["Tag"]?.declaredProperties.append(
            TestModel.attribute("extra", .stringAttributeType))
        let error = failure(at: url, same) { $0.ignoresVersioning = true }
        #expect(error?.code == .modelMismatch && error?.fields["missing"] == "ZEXTRA")
    }

    @Test func aReadOnlyStoreReadsAndRefusesToWrite() throws {
        let model = TestModel.society()
        let id = try StoreFixture(model, url: url).insert("Tag", ["name": .text("x")])
        var options = SQLiteStoreOptions()
        options.isReadOnly = true
        let store = try SQLiteRowStore(url: url, model: model, options: options)
        #expect(try store.row(id) != nil)
        #expect(try store.history(after: 0, limit: nil).count == 1)
        var changes = ChangeSet()
        changes.deletes = [RowDelete(id: id)]
        let error = #expect(throws: StoreError.self) { try store.save(changes) }
        #expect(error?.code == .readOnly)
        var many = RowQuery(entity: id.entity)
        many.predicate = .comparison(
            .init(
                left: .evaluatedObject, operator: .in,
                right: .constant((1...900).map { RowID(entity: id.entity, key: Int64($0)) })))
        #expect(try store.count(matching: many) == 1)
    }

    @Test(.enabled(if: geteuid() != 0, "the superuser may write every file"))
    func aFileWithoutWritePermissionIsReadOnly() throws {
        _ = try StoreFixture(TestModel.society(), url: url)
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: url.path)
        #expect(failure(at: url)?.code == .readOnly)
    }

    @Test func aFullDiskIsToldAndLeavesTheStoreAsItWas() throws {
        let model = TestModel.society()
        do { _ = try StoreFixture(model, url: url) }
        var options = SQLiteStoreOptions()
        options.pragmas = ["max_page_count": "60"]
        let fixture = try StoreFixture(model, url: url, options: options)
        try fixture.insert("Tag", ["name": .text("small")])
        let rows = try (0..<500).map { _ in
            try fixture.row("Tag", ["name": .text(String(repeating: "x", count: 2000))])
        }
        let error = #expect(throws: StoreError.self) { try fixture.save { $0.inserts = rows } }
        #expect(error?.code == .diskFull)
        #expect(try fixture.sql("SELECT count(*) FROM ZTAG") == [[1]])
        #expect(try fixture.store.lastTransactionNumber() == 1)
        #expect(try fixture.integrity() == "ok")
    }

    @Test func alockedFileIsBusy() throws {
        let model = TestModel.society()
        let first = try StoreFixture(model, url: url)
        var options = SQLiteStoreOptions()
        options.busyMilliseconds = 20
        let second = try StoreFixture(model, url: url, options: options)
        let row = try second.row("Tag")
        let error = try first.store.write { _ in
            #expect(throws: StoreError.self) { try second.save { $0.inserts = [row] } }
        }
        #expect(error?.code == .busy)
        _ = try second.save { $0.inserts = [row] }
    }

    @Test func namesThatNoColumnCanHaveAreRefused() throws {
        let model = TestModel.model([
            TestModel.entity(
                "Bad", [TestModel.attribute("a); DROP TABLE x; --", .stringAttributeType)])
        ])
        #expect(failure(at: url, model)?.code == .unsupported)
        let untyped = TestModel.model([
            TestModel.entity("Bad", [TestModel.attribute("a", .undefinedAttributeType)])
        ])
        #expect(failure(at: url, untyped)?.code == .unsupported)
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }
}
