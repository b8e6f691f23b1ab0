import Foundation
import ObjectModel
import Persistence
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Stores that were cut, flipped or forged: an error with a reason, or the right data; never a
/// crash, and in bounded time.
@Suite struct DamageTests {
    @Test(.enabled(if: Corpus.isPresent, "set DIPTYCH_CORPUS to the corpus"))
    func twoThousandMutationsOfRealStoresAreErrorsOrData() async throws {
        let small = try Corpus.stores.compactMap { store -> Victim? in
            let scratch = try Scratch()
            let url = try store.copy(to: scratch)
            guard let model = try store.knownModels(copy: url).first?.model,
                try Data(contentsOf: url).count < 60_000
            else { return nil }
            // Without a log all pages are in the file itself.
            try Connection(path: url.path).script("PRAGMA journal_mode = DELETE")
            return Victim(name: "\(store)", bytes: try Data(contentsOf: url), model: model)
        }
        try #require(small.count > 5)
        var tally = Tally()
        let scratch = try Scratch()
        for seed in 0..<2000 {
            let victim = small[seed % small.count]
            try victim.suffer(UInt64(seed), at: scratch.url("mutant.sqlite"), &tally)
            // Other tests wait for a thread.
            await Task.yield()
        }
        print("mutations · \(tally)")
        #expect(tally.untyped == [])
        #expect(tally.refused > 100 && tally.read > 100)
        #expect(tally.slowest < 5)
    }

    @Test func forgedStoresAreRefusedOrRead() throws {
        let scratch = try Scratch()
        let url = scratch.url("forged.sqlite")
        let forgeries = [
            "UPDATE Z_PRIMARYKEY SET Z_ENT = 2147483648 WHERE Z_NAME = 'Note'",
            "UPDATE Z_PRIMARYKEY SET Z_NAME = x'00ff'",
            "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807",
            "UPDATE Z_PRIMARYKEY SET Z_MAX = 'many'",
            "DELETE FROM Z_PRIMARYKEY",
            "UPDATE Z_METADATA SET Z_PLIST = zeroblob(1000000)",
            "UPDATE Z_METADATA SET Z_UUID = NULL",
            "UPDATE Z_MODELCACHE SET Z_CONTENT = randomblob(5000)",
            "UPDATE ZNOTE SET Z_ENT = 77, Z_OPT = 'x', ZNUMBER = 'text', ZTEXT = x'ff00', "
                + "ZLARGE = 'text'",
            "UPDATE ZNOTE SET ZLARGE = x'02', ZNUMBER = 1e300",
            "UPDATE ACHANGE SET ZCHANGETYPE = 9, ZCOLUMNS = zeroblob(100000)",
            "UPDATE ACHANGE SET ZENTITY = 12345678901234, ZENTITYPK = -1, ZTRANSACTIONID = NULL",
            "UPDATE ATRANSACTION SET ZTIMESTAMP = 'never', ZAUTHORTS = 99",
            "DROP TABLE ZNOTE",
            "DROP TABLE ATRANSACTION",
            "ALTER TABLE ZNOTE DROP COLUMN ZTEXT",
            "CREATE TRIGGER evil AFTER INSERT ON ZNOTE BEGIN SELECT no_such_function(1); END",
            "CREATE VIEW Z_METADATA2 AS SELECT * FROM Z_METADATA2",
        ]
        var tally = Tally()
        for forgery in forgeries {
            for suffix in ["", "-wal", "-shm"] { unlink(url.path + suffix) }
            do {
                let store = try TwoProcesses.open(url.path)
                try TwoProcesses.write(store, writer: 1, number: 1)
            }
            try Connection(path: url.path).script(forgery)
            try Victim.look(at: url, TwoProcesses.model(), forgery, &tally)
        }
        #expect(tally.untyped == [])
        #expect(tally.refused + tally.read == forgeries.count)
    }
}

/// What became of the damaged stores.
struct Tally: CustomStringConvertible {
    var refused = 0
    var read = 0
    /// Errors that say nothing of what failed.
    var untyped: [String] = []
    /// In seconds of the processor.
    var slowest = 0.0

    var description: String {
        "\(refused) refused with a typed error, \(read) read, \(untyped.count) with other errors, "
            + "slowest \(slowest)"
    }
}

/// A small store to be damaged.
struct Victim {
    let name: String
    let bytes: Data
    let model: NSManagedObjectModel

    /// Damages a copy by the seed and looks at what is left.
    func suffer(_ seed: UInt64, at url: URL, _ tally: inout Tally) throws {
        var random = Seeded(state: seed)
        var damaged = bytes
        switch seed % 4 {
        case 0: damaged = damaged.prefix(random.below(damaged.count))
        case 1:
            for _ in 0..<(1 + random.below(8)) {
                damaged[random.below(damaged.count)] ^= 1 << UInt8(random.below(8))
            }
        case 2:
            let start = random.below(damaged.count)
            for place in start..<min(damaged.count, start + 1 + random.below(600)) {
                damaged[place] = UInt8(random.below(256))
            }
        default:
            // A page in another one's place.
            let pages = damaged.count / 4096
            let (from, to) = (random.below(pages) * 4096, random.below(pages) * 4096)
            damaged.replaceSubrange(to..<to + 4096, with: bytes[from..<from + 4096])
        }
        for suffix in ["-wal", "-shm", "-journal"] { unlink(url.path + suffix) }
        try damaged.write(to: url)
        if seed % 8 == 0 { _ = try? SQLiteRowStore.cachedModel(at: url) }
        try Self.look(at: url, model, "\(name), seed \(seed)", &tally)
    }

    /// Reads everything through a context and writes a little.
    static func look(
        at url: URL, _ model: NSManagedObjectModel, _ name: String, _ tally: inout Tally
    ) throws {
        let time = processorSeconds { lookInside(url, model, name, &tally) }
        tally.slowest = max(tally.slowest, time)
    }

    private static func lookInside(
        _ url: URL, _ model: NSManagedObjectModel, _ name: String, _ tally: inout Tally
    ) {
        do {
            // What a power cut leaves is not the question here.
            let opened = try OpenedStore(
                url, model, options: [NSSQLitePragmasOption: ["synchronous": "OFF"]])
            for layout in opened.rows.layout.entities {
                let properties = layout.entity.propertiesByName.keys
                for object in try opened.objects(layout.name).prefix(12) {
                    for property in properties {
                        _ = object.value(forKey: property)
                    }
                }
            }
            _ = try opened.rows.history(after: 0, limit: 50)
            if let layout = opened.rows.layout.entities.first(where: { !$0.entity.isAbstract }) {
                let keys = try opened.rows.reserveKeys(entity: layout.number, count: 1)
                var changes = ChangeSet()
                changes.inserts = [
                    Row(id: RowID(entity: layout.number, key: keys[0]), layout: layout)
                ]
                _ = try opened.rows.save(changes)
            }
            tally.read += 1
        } catch let error as StoreError {
            tally.refused += error.message.isEmpty ? 0 : 1
        } catch let error as NSError where error.domain == NSCocoaErrorDomain {
            tally.refused += error.localizedDescription.isEmpty ? 0 : 1
        } catch is UniquenessViolation {
            tally.refused += 1
        } catch {
            tally.untyped.append("\(name): \(error)")
        }
    }
}

/// The same numbers for the same seed. Source: SplitMix64.
struct Seeded {
    var state: UInt64

    mutating func below(_ limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return limit > 0 ? Int((word ^ (word >> 31)) % UInt64(limit)) : 0
    }
}
