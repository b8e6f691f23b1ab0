import Foundation
import Platform
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Large values in files, and several processes that come, read and die.
@Suite(.serialized) struct ExternalProcessTests {
    private let scratch: Scratch
    private var path: String { scratch.url("shared.sqlite").path }
    private var folder: String { scratch.url(".shared_SUPPORT/_EXTERNAL_DATA").path }

    init() throws { scratch = try Scratch() }

    private func files() -> Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    }

    private func marks() -> [String] {
        let all = try? FileManager.default.contentsOfDirectory(
            atPath: scratch.url(".shared_SUPPORT").path)
        return (all ?? []).filter { $0 != "_EXTERNAL_DATA" }
    }

    @Test func aReaderOfAnOlderStateKeepsReplacedValues() async throws {
        let store = try TwoProcesses.open(path)
        try LargeNote.write(store, key: 1, seed: 1)
        let old = files()
        let seen = try await whileAnotherReads {
            try LargeNote.write(store, key: 1, seed: 2)
            let replaced = files()
            // Neither another save nor another opening may take the file away.
            try LargeNote.write(store, key: 2, seed: 3)
            _ = try TwoProcesses.open(path)
            return (replaced: replaced, later: files(), marks: marks())
        }
        #expect(seen.replaced.count == 2 && seen.replaced.isSuperset(of: old))
        #expect(seen.later.count == 3 && seen.marks.count == 2)
        try LargeNote.write(store, key: 2, seed: 4)
        #expect(files().count == 2 && files().isDisjoint(with: old))
        #expect(marks().isEmpty)
        #expect(try LargeNote.seed(store, key: 1) == 2)
        #expect(try LargeNote.seed(store, key: 2) == 4)
    }

    @Test func whatAReaderKeptGoesWithTheNextOpening() async throws {
        do {
            let store = try TwoProcesses.open(path)
            try LargeNote.write(store, key: 1, seed: 1)
            try await whileAnotherReads { try LargeNote.write(store, key: 1, seed: 2) }
        }
        #expect(files().count == 2)
        let store = try TwoProcesses.open(path)
        #expect(files().count == 1 && marks().isEmpty)
        #expect(try LargeNote.seed(store, key: 1) == 2)
    }

    /// Runs `work` after another process has read the first note, and before it reads it again.
    private func whileAnotherReads<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let (reading, proceed) = (scratch.url("reading").path, scratch.url("proceed").path)
        let meanwhile = Meanwhile(start: reading, end: proceed, work)
        await readsTwice(reading, proceed)
        return try meanwhile.value()
    }

    /// Reads a note, waits, and reads it again in the same state.
    private func readsTwice(_ reading: String, _ proceed: String) async {
        await #expect(processExitsWith: .success) {
            [path = path as String, reading = reading as String, proceed = proceed as String] in
            try TwoProcesses.open(path).read { transaction in
                let id = RowID(
                    entity: try #require(transaction.layout.entities.first).number, key: 1)
                guard try LargeNote.seed(transaction.row(id)) == 1 else { exit(3) }
                _ = FileManager.default.createFile(atPath: reading, contents: nil)
                for _ in 0..<24_000 where !FileManager.default.fileExists(atPath: proceed) {
                    usleep(10_000)
                }
                guard try LargeNote.seed(transaction.row(id)) == 1 else { exit(4) }
            }
        }
    }

    @Test(arguments: 1...12)
    func aKilledWriterLeavesWholeValuesAndNoOrphans(seed: Int) async throws {
        do { try LargeNote.write(TwoProcesses.open(path), key: 1, seed: 1) }
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, seed = seed as Int] in
            var random = SeededRandomness(UInt64(seed))
            let microseconds = UInt32(random.next() % 120_000)
            Thread.detachNewThread {
                usleep(microseconds)
                kill(getpid(), SIGKILL)
            }
            let store = try TwoProcesses.open(path)
            for step in 0..<100_000 {
                let key = Int64(random.next() % 4 + 1)
                if random.next() % 5 == 0 {
                    try LargeNote.delete(store, key: key)
                } else {
                    try LargeNote.write(store, key: key, seed: UInt8(step % 200 + 1))
                }
            }
        }
        let store = try TwoProcesses.open(path)
        let layout = try #require(store.layout.entities.first)
        var query = RowQuery(entity: layout.number)
        query.sort = []
        let rows = try store.rows(matching: query)
        for row in rows { #expect(LargeNote.seed(row) != nil, "row \(row.id.key) is whole") }
        #expect(files().count == rows.count)
        #expect(marks().isEmpty)
        #expect(try store.read { try $0.connection.value("PRAGMA integrity_check") } == "ok")
        try LargeNote.write(store, key: 9, seed: 77)
        #expect(try LargeNote.seed(store, key: 9) == 77)
    }

    @Test func filesBesideTheStoreHaveItsAccess() throws {
        let store = try TwoProcesses.open(path)
        #expect(chmod(path, 0o640) == 0)
        try LargeNote.write(store, key: 1, seed: 1)
        func mode(_ path: String) throws -> Int {
            let facts = try FileManager.default.attributesOfItem(atPath: path)
            return (facts[.posixPermissions] as? NSNumber)?.intValue ?? 0
        }
        #expect(try mode("\(folder)/\(try #require(files().first))") == 0o640)
        #expect(try mode(folder) == 0o750)
        #expect(try mode(scratch.url(".shared_SUPPORT").path) == 0o750)
    }
}

/// A note whose large value and number tell the same seed: half a save would show.
enum LargeNote {
    private static func value(_ seed: UInt8) -> Data {
        Data(repeating: seed, count: 110_000 + Int(seed) * 100)
    }

    /// Makes the note or changes it.
    static func write(_ store: SQLiteRowStore, key: Int64, seed: UInt8) throws {
        guard let layout = store.layout.entities.first,
            let number = layout.attributeSlot("number"), let large = layout.attributeSlot("large")
        else { return }
        let id = RowID(entity: layout.number, key: key)
        var changes = ChangeSet()
        if try store.row(id) == nil {
            var row = Row(id: id, layout: layout)
            row.attributes[number] = .integer(Int64(seed))
            row.attributes[large] = .data(value(seed))
            changes.inserts = [row]
        } else {
            var update = RowUpdate(id: id)
            update.attributes = [(number, .integer(Int64(seed))), (large, .data(value(seed)))]
            changes.updates = [update]
        }
        _ = try store.save(changes)
    }

    static func delete(_ store: SQLiteRowStore, key: Int64) throws {
        guard let layout = store.layout.entities.first else { return }
        var changes = ChangeSet()
        changes.deletes = [RowDelete(id: RowID(entity: layout.number, key: key))]
        _ = try store.save(changes)
    }

    static func seed(_ store: SQLiteRowStore, key: Int64) throws -> UInt8? {
        guard let layout = store.layout.entities.first else { return nil }
        return seed(try store.row(RowID(entity: layout.number, key: key)))
    }

    /// The seed of a whole note; nil for one whose parts do not agree.
    static func seed(_ row: Row?) -> UInt8? {
        for case .data(let data) in row?.attributes ?? [] {
            guard let seed = data.first, data == value(seed),
                row?.attributes.contains(.integer(Int64(seed))) == true
            else { return nil }
            return seed
        }
        return nil
    }
}

/// Random words from a seed (SplitMix64).
struct SeededRandomness {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
