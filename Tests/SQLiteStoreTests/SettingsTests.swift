import Foundation
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

/// What an app may set, and what speaks against a place.
@Suite struct SettingsTests {
    private let scratch: Scratch
    private var url: URL { scratch.url("store.sqlite") }

    init() throws { scratch = try Scratch() }

    private func open(_ pragmas: [String: String]) throws -> StoreFixture {
        var options = SQLiteStoreOptions()
        options.pragmas = pragmas
        return try StoreFixture(TestModel.society(), url: url, options: options)
    }

    @Test func aChosenJournalModeStays() throws {
        #expect(try open(["journal_mode": "DELETE"]).sql("PRAGMA journal_mode") == [["delete"]])
        #expect(try open(["journal_mode": "wal"]).sql("PRAGMA journal_mode") == [["wal"]])
        let head = try Data(contentsOf: url).prefix(20)
        #expect(Array(head[18...19]) == [2, 2])
        let truncating = try open(["journal_mode": "truncate", "synchronous": "FULL"])
        #expect(try truncating.sql("PRAGMA journal_mode") == [["truncate"]])
        #expect(try truncating.sql("PRAGMA synchronous") == [[2]])
        try truncating.insert("Tag", ["name": .text("x")])
    }

    @Test func settingsOfANewFileAreThoseItWasMadeWith() throws {
        let fixture = try open([
            "page_size": "8192", "fullfsync": "1", "cache_size": "-2000", "temp_store": "MEMORY",
            "mmap_size": "1048576", "wal_autocheckpoint": "500",
        ])
        #expect(try fixture.sql("PRAGMA page_size") == [[8192]])
        #expect(try fixture.sql("PRAGMA cache_size") == [[-2000]])
        #expect(try fixture.sql("PRAGMA wal_autocheckpoint") == [[500]])
        #expect(try open(["page_size": "4096"]).sql("PRAGMA page_size") == [[8192]])
    }

    @Test(arguments: [
        ("journal_mode", "OFF"), ("journal_mode", "MEMORY"), ("writable_schema", "1"),
        ("locking_mode", "EXCLUSIVE"), ("user_version", "3"), ("recursive_triggers", "ON"),
        ("cache_size", "1; DROP TABLE ZTAG"), ("synchronous", "sometimes"), ("nonsense", "1"),
        ("page_size", "1000"), ("cache_size = 1; --", "2"), ("mmap_size", "-1"),
    ])
    func whatCanHurtIsRefusedWithAReason(name: String, value: String) throws {
        let error = #expect(throws: StoreError.self) { try open([name: value]) }
        #expect(error?.code == .invalidValue)
        #expect(error?.message.count ?? 0 > 40)
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func aStoreIsRewrittenAndAnalyzedWhenAskedTo() throws {
        do {
            let fixture = try open([:])
            let rows = try (0..<400).map {
                try fixture.row("Tag", ["name": .text(String(repeating: "x", count: 500 + $0))])
            }
            _ = try fixture.save { $0.inserts = rows }
            _ = try fixture.save { $0.deletes = rows.map { RowDelete(id: $0.id) } }
            #expect(try fixture.sql("PRAGMA freelist_count")[0][0].int64 ?? 0 > 20)
        }
        var options = SQLiteStoreOptions()
        options.vacuumsOnOpening = true
        options.analyzesOnOpening = true
        let fixture = try StoreFixture(TestModel.society(), url: url, options: options)
        #expect(try fixture.sql("PRAGMA freelist_count") == [[0]])
        #expect(try fixture.sql("PRAGMA auto_vacuum") == [[2]])
        #expect(try !fixture.sql("SELECT tbl FROM sqlite_stat1").isEmpty)
        #expect(try fixture.integrity() == "ok")
    }

    @Test func aReadOnlyStoreIsLeftAsItIs() throws {
        do { _ = try open(["journal_mode": "DELETE"]).insert("Tag", ["name": .text("x")]) }
        let before = try Data(contentsOf: url)
        var options = SQLiteStoreOptions()
        options.isReadOnly = true
        options.vacuumsOnOpening = true
        options.pragmas = ["journal_mode": "WAL", "cache_size": "-1000"]
        do {
            let store = try SQLiteRowStore(url: url, model: TestModel.society(), options: options)
            #expect(try store.history(after: 0, limit: nil).count == 1)
        }
        #expect(try Data(contentsOf: url) == before)
        #expect(!FileManager.default.fileExists(atPath: url.path + "-wal"))
    }

    // MARK: Places

    private static let mounts = """
        22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
        30 22 0:30 / /net/share rw shared:5 - nfs4 host:/export rw
        31 22 0:31 / /net/share/local rw - ext4 /dev/sdb1 rw
        32 22 0:32 / /media/my\\040disk rw - fuse.sshfs host: rw
        """

    @Test(arguments: [
        ("/data/store.sqlite", nil), ("/net/share/a/store.sqlite", "nfs4"),
        ("/net/shared/store.sqlite", nil), ("/net/share/local/store.sqlite", nil),
        ("/media/my disk/store.sqlite", "fuse.sshfs"),
    ])
    func aNetworkFileSystemIsWarnedOf(path: String, kind: String?) {
        let system = FileSystem(mounts: Self.mounts) { _ in true }
        let warning = system.warning(for: URL(fileURLWithPath: path))
        #expect((warning == nil) == (kind == nil))
        #expect(kind.map { warning?.contains("(\($0))") == true } ?? true)
    }

    @Test func aPlaceWithoutLocksIsWarnedOf() {
        let system = FileSystem(mounts: nil) { _ in false }
        let warning = system.warning(for: URL(fileURLWithPath: "/data/store.sqlite"))
        #expect(warning?.contains("no byte-range locks") == true)
        let unknown = FileSystem(mounts: nil) { _ in nil }
        #expect(unknown.warning(for: URL(fileURLWithPath: "/data/store.sqlite")) == nil)
    }

    @Test func theFolderOfTheseTestsHasLocks() throws {
        #expect(FileSystem.present.locks(scratch.folder.path) != false)
        #expect(FileSystem.present.locks("/nowhere/at/all") == nil)
    }

    // MARK: Others

    @Test func whatOthersWriteIsNoticedOnce() throws {
        let model = TestModel.society()
        let (mine, other) = (
            try StoreFixture(model, url: url), try StoreFixture(model, url: url)
        )
        #expect(try !mine.store.hasForeignChanges())
        try mine.insert("Tag", ["name": .text("own")])
        #expect(try !mine.store.hasForeignChanges())
        let id = try other.insert("Tag", ["name": .text("theirs")])
        #expect(try mine.store.hasForeignChanges())
        #expect(try !mine.store.hasForeignChanges())
        _ = try other.save { $0.updates = [try other.update(id, ["name": .text("again")])] }
        let told = try #require(try mine.store.foreignTransactions())
        #expect(told.flatMap(\.changes).map(\.kind) == [.insert, .update])
        #expect(try mine.store.foreignTransactions() == nil)
        _ = try other.store.reserveKeys(entity: id.entity, count: 5)
        #expect(try mine.store.foreignTransactions() == nil, "reserved keys are no news")
        let (one, two) = (try mine.row("Tag"), try other.row("Tag"))
        _ = try mine.save { $0.inserts = [one] }
        _ = try other.save { $0.inserts = [two] }
        try mine.insert("Tag")
        let between = try #require(try mine.store.foreignTransactions())
        #expect(between.flatMap(\.changes).map(\.id) == [two.id])
        _ = try other.save { $0.deletes = [RowDelete(id: id)] }
        try other.store.deleteHistory(.all)
        #expect(try mine.store.foreignTransactions()?.isEmpty == true)
    }
}
