import Foundation
import ObjectModel
import Platform
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

/// Values that have files of their own.
@Suite struct ExternalDataTests {
    private let scratch: Scratch
    private let faults = StrikingFaults()
    private var url: URL { scratch.url("store.sqlite") }
    private var folder: URL { scratch.url(".store_SUPPORT/_EXTERNAL_DATA") }

    init() throws { scratch = try Scratch() }

    private func open(_ change: (inout SQLiteStoreOptions) -> Void = { _ in }) throws
        -> StoreFixture
    {
        var options = SQLiteStoreOptions()
        change(&options)
        return try StoreFixture(TestModel.kinds(), url: url, options: options, faults: faults)
    }

    private func bytes(_ count: Int, _ seed: UInt8 = 7) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0) ^ seed })
    }

    private func files() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    private func leftovers() -> [String] {
        let all = try? FileManager.default.contentsOfDirectory(
            atPath: scratch.url(".store_SUPPORT").path)
        return (all ?? []).filter { $0 != "_EXTERNAL_DATA" }
    }

    @Test func aLargeValueHasAFileAndASmallOneStaysInline() throws {
        let fixture = try open()
        let (small, large) = (bytes(102_399), bytes(102_400))
        let first = try fixture.insert("Kinds", ["large": .data(small)])
        #expect(files() == [])
        let second = try fixture.insert("Kinds", ["large": .data(large)])
        let name = try #require(files().first)
        #expect(files().count == 1 && UUID(uuidString: name)?.uuidString == name)
        #expect(try Data(contentsOf: folder.appendingPathComponent(name)) == large)
        let cells = try fixture.sql("SELECT ZLARGE FROM ZKINDS ORDER BY Z_PK")
        #expect(cells[0][0] == .blob(Data([1]) + small))
        #expect(cells[1][0] == .blob(Data([2]) + Data(name.utf8) + Data([0])))
        #expect(try fixture.value(first, "large") == .data(small))
        #expect(try fixture.value(second, "large") == .data(large))
        #expect(leftovers() == [])
    }

    @Test func aFileGoesWithItsValueAndWithItsRow() throws {
        let fixture = try open { $0.externalBytesMin = 100 }
        let ids = try (0..<3).map {
            try fixture.insert("Kinds", ["large": .data(bytes(200, UInt8($0)))])
        }
        #expect(files().count == 3)
        _ = try fixture.save {
            $0.updates = [try fixture.update(ids[0], ["large": .data(bytes(300))])]
        }
        #expect(files().count == 3)
        _ = try fixture.save { $0.updates = [try fixture.update(ids[0], ["large": .null])] }
        #expect(files().count == 2)
        _ = try fixture.save { $0.updates = [try fixture.update(ids[1], ["text": .text("x")])] }
        #expect(files().count == 2)
        _ = try fixture.save { $0.deletes = [RowDelete(id: ids[1])] }
        #expect(files().count == 1)
        #expect(try fixture.value(ids[2], "large") == .data(bytes(200, 2)))
    }

    @Test func aValueStaysReadableAfterItsFileIsGone() throws {
        let fixture = try open { $0.externalBytesMin = 100 }
        let id = try fixture.insert("Kinds", ["large": .data(bytes(70_000))])
        let value = try fixture.value(id, "large")
        _ = try fixture.save { $0.deletes = [RowDelete(id: id)] }
        #expect(files() == [])
        #expect(value == .data(bytes(70_000)))
    }

    @Test func aSaveThatFailsLeavesTheFilesOfBefore() throws {
        let fixture = try open { $0.externalBytesMin = 100 }
        let id = try fixture.insert("Kinds", ["large": .data(bytes(200))])
        let before = files()
        for point in [
            "external.halfWritten", "external.beforeRename", "external.afterRename",
            "store.beforeCommit",
        ] {
            faults.arm(point)
            #expect(throws: StrikingFaults.Strike.self, "\(point)") {
                try fixture.save {
                    $0.updates = [try fixture.update(id, ["large": .data(bytes(300))])]
                }
            }
            #expect(files() == before, "\(point)")
            #expect(leftovers() == [], "\(point)")
            #expect(try fixture.value(id, "large") == .data(bytes(200)))
        }
        let stale = #expect(throws: SaveConflicts.self) {
            try fixture.save {
                $0.updates = [
                    try fixture.update(id, expecting: 9, ["large": .data(bytes(300))])
                ]
            }
        }
        #expect(stale?.conflicts.count == 1)
        #expect(files() == before)
    }

    @Test func aPartOfATransactionThatIsUndoneTakesItsFilesAlong() throws {
        let fixture = try open { $0.externalBytesMin = 100 }
        let kept = try fixture.insert("Kinds", ["large": .data(bytes(200))])
        let row = try fixture.row("Kinds", ["large": .data(bytes(300))])
        try fixture.store.write { transaction in
            var changes = ChangeSet()
            changes.updates = [try fixture.update(kept, ["large": .null])]
            changes.inserts = [row, row]
            #expect(throws: (any Error).self) { try transaction.apply(changes) }
            changes.updates = []
            changes.inserts = [row]
            _ = try transaction.apply(changes)
        }
        #expect(files().count == 2)
        #expect(try fixture.value(kept, "large") == .data(bytes(200)))
        #expect(try fixture.value(row.id, "large") == .data(bytes(300)))
    }

    @Test func aValueWhoseFileIsGoneIsMarkedAndKeepsItsReference() throws {
        let fixture = try open { $0.externalBytesMin = 100 }
        let id = try fixture.insert("Kinds", ["large": .data(bytes(200))])
        let none = try fixture.insert("Kinds")
        let name = try #require(files().first)
        let slot = try #require(try fixture.layout("Kinds").attributeSlot("large"))
        #expect(try fixture.store.row(id)?.missing == [])
        let file = folder.appendingPathComponent(name)
        try FileManager.default.removeItem(at: file)
        for row in try fixture.store.rows(matching: RowQuery(entity: id.entity)) {
            #expect(row.attributes[slot] == .null)
            #expect(row.missing == (row.id == none ? [] : [slot]))
        }
        let (text, _) = try #require(
            try fixture.layout("Kinds").attributes.enumerated().first {
                $1.attribute.attributeType == .stringAttributeType
            })
        var changes = ChangeSet()
        var update = RowUpdate(id: id)
        update.attributes = [(text, .text("changed"))]
        changes.updates = [update]
        _ = try fixture.store.save(changes)
        // Its file is back from a copy, and so is the value.
        try bytes(200).write(to: file)
        #expect(try fixture.value(id, "large") == .data(bytes(200)))
        #expect(try fixture.store.row(id)?.missing == [])
    }

    @Test func openingRemovesWhatACrashLeft() throws {
        let id = try open { $0.externalBytesMin = 100 }.insert(
            "Kinds", ["large": .data(bytes(200))])
        let kept = files()
        let orphan = folder.appendingPathComponent(UUID().uuidString)
        try bytes(10).write(to: orphan)
        let foreign = folder.appendingPathComponent("notes.txt")
        try bytes(10).write(to: foreign)
        _ = try open()
        #expect(FileManager.default.fileExists(atPath: orphan.path), "without a mark no search")
        try Data().write(to: scratch.url(".store_SUPPORT/.unsettled-\(UUID().uuidString)"))
        try bytes(5).write(to: folder.appendingPathComponent(".draft-\(UUID().uuidString)"))
        let again = try open()
        #expect(files() == (kept + ["notes.txt"]).sorted())
        #expect(leftovers() == [])
        #expect(try again.value(id, "large") == .data(bytes(200)))
    }

    @Test func openingLeavesTheFilesOfAnotherWriterAlone() throws {
        let fixture = try open { $0.externalBytesMin = 100 }
        let row = try fixture.row("Kinds", ["large": .data(bytes(200))])
        var changes = ChangeSet()
        changes.inserts = [row]
        try fixture.store.write { transaction in
            _ = try transaction.apply(changes)
            #expect(files().count == 1)
            _ = try SQLiteRowStore(
                url: url, model: TestModel.kinds(),
                options: {
                    var options = SQLiteStoreOptions()
                    options.tracksHistory = false
                    return options
                }())
            #expect(files().count == 1)
        }
        #expect(try fixture.value(row.id, "large") == .data(bytes(200)))
    }

    @Test func hostileReferencesAreErrorsOrNothing() throws {
        let fixture = try open { $0.externalBytesMin = 100 }
        let id = try fixture.insert("Kinds", ["large": .data(bytes(200))])
        func plant(_ blob: Data) throws {
            try fixture.store.write {
                _ = try $0.connection.run("UPDATE ZKINDS SET ZLARGE = ?", [.blob(blob)])
            }
        }
        try plant(Data([2]) + Data("../../../../etc/passwd".utf8) + Data([0]))
        let error = #expect(throws: StoreError.self) { try fixture.value(id, "large") }
        #expect(error?.code == .corrupt)
        try plant(Data([2]) + Data(UUID().uuidString.utf8) + Data([0]))
        #expect(try fixture.value(id, "large") == .null)
        let link = UUID().uuidString
        try FileManager.default.createSymbolicLink(
            atPath: folder.appendingPathComponent(link).path, withDestinationPath: "/dev/zero")
        try plant(Data([2]) + Data(link.utf8) + Data([0]))
        #expect(throws: StoreError.self) { try fixture.value(id, "large") }
        let inner = UUID().uuidString
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent(inner), withIntermediateDirectories: true)
        try plant(Data([2]) + Data(inner.utf8) + Data([0]))
        #expect(throws: StoreError.self) { try fixture.value(id, "large") }
    }

    @Test func aStoreInMemoryKeepsItsLargeValues() throws {
        let fixture = try StoreFixture(TestModel.kinds())
        let id = try fixture.insert("Kinds", ["large": .data(bytes(300_000))])
        #expect(try fixture.value(id, "large") == .data(bytes(300_000)))
    }

    // MARK: Links to the store

    /// A link to the store in a folder of its own, under another name.
    private func link() throws -> URL {
        let place = scratch.url("elsewhere")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let link = place.appendingPathComponent("other.db")
        try FileManager.default.createSymbolicLink(
            atPath: link.path, withDestinationPath: "../store.sqlite")
        return link
    }

    private func open(through link: URL) throws -> StoreFixture {
        var options = SQLiteStoreOptions()
        options.externalBytesMin = 100
        return try StoreFixture(TestModel.kinds(), url: link, options: options)
    }

    @Test func allNamesOfAStoreSeeTheSameLargeValues() throws {
        let first = try open { $0.externalBytesMin = 100 }.insert(
            "Kinds", ["large": .data(bytes(200))])
        let link = try link()
        let through = try open(through: link)
        #expect(try through.value(first, "large") == .data(bytes(200)))
        let second = try through.insert("Kinds", ["large": .data(bytes(300))])
        #expect(files().count == 2)
        #expect(try open().value(second, "large") == .data(bytes(300)))
        _ = try through.save { $0.deletes = [RowDelete(id: first)] }
        #expect(files().count == 1)
        #expect(
            try FileManager.default.contentsOfDirectory(
                atPath: link.deletingLastPathComponent().path) == ["other.db"])
    }

    @Test func whatFormerVersionsKeptBesideALinkIsFoundAndComesToTheStore() throws {
        let fixture = try open { $0.externalBytesMin = 100 }
        let first = try fixture.insert("Kinds", ["large": .data(bytes(200))])
        let name = try #require(files().first)
        let second = try fixture.insert("Kinds", ["large": .data(bytes(300))])
        let link = try link()
        let beside = link.deletingLastPathComponent()
            .appendingPathComponent(".other_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: beside, withIntermediateDirectories: true)
        try FileManager.default.moveItem(
            at: folder.appendingPathComponent(name), to: beside.appendingPathComponent(name))
        // Nothing of this store: it stays where it is.
        let stranger = UUID().uuidString
        try bytes(10).write(to: beside.appendingPathComponent(stranger))
        var reading = SQLiteStoreOptions()
        reading.isReadOnly = true
        let readOnly = try StoreFixture(TestModel.kinds(), url: link, options: reading)
        #expect(try readOnly.value(first, "large") == .data(bytes(200)))
        #expect(try readOnly.value(second, "large") == .data(bytes(300)))
        #expect(!files().contains(name))
        let copy = scratch.url("copy.sqlite")
        try SQLiteRowStore.replace(copy, with: link)
        let copied = try StoreFixture(TestModel.kinds(), url: copy)
        #expect(try copied.value(first, "large") == .data(bytes(200)))
        #expect(try copied.value(second, "large") == .data(bytes(300)))
        let through = try open(through: link)
        #expect(try through.value(first, "large") == .data(bytes(200)))
        #expect(try through.value(second, "large") == .data(bytes(300)))
        #expect(try open().value(first, "large") == .data(bytes(200)))
        #expect(files().contains(name) && !files().contains(stranger))
    }

    @Test func whatLinksToOtherStoresHaveBesideAStoreStays() throws {
        let fixture = try open { $0.externalBytesMin = 100 }
        try fixture.insert("Kinds", ["large": .data(bytes(200))])
        let place = scratch.url("another.sqlite")
        _ = try StoreFixture(TestModel.kinds(), url: place)
        try FileManager.default.createSymbolicLink(
            atPath: scratch.url("store.db").path, withDestinationPath: place.path)
        let kept = folder.appendingPathComponent(UUID().uuidString)
        try bytes(300).write(to: kept)
        try SQLiteRowStore.destroy(at: url)
        #expect(FileManager.default.fileExists(atPath: kept.path))
    }
}
