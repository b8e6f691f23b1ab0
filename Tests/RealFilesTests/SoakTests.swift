import Foundation
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Several processes at one file for a while: three seconds, or as long as DIPTYCH_SOAK_SECONDS
/// says.
@Suite(.serialized) struct SoakTests {
    private let scratch: Scratch
    private var path: String { scratch.url("shared.sqlite").path }

    init() throws { scratch = try Scratch() }

    private static var seconds: Double {
        ProcessInfo.processInfo.environment["DIPTYCH_SOAK_SECONDS"].flatMap(Double.init) ?? 3
    }

    @Test(arguments: [1, 3]) func readersAndWritersAgree(writers: Int) async throws {
        _ = try TwoProcesses.open(path)
        await withTaskGroup(of: Void.self) { group in
            for number in 1...4 {
                group.addTask {
                    if number <= writers {
                        await writes(as: number)
                    } else {
                        await reads(as: number)
                    }
                }
            }
        }
        let store = try TwoProcesses.open(path)
        let saved = try TwoProcesses.check(store)
        #expect(saved.count == writers && saved.values.allSatisfy { $0 > 0 })
        #expect(try store.read { try $0.connection.value("PRAGMA integrity_check") } == "ok")
        let large = try store.read {
            try $0.connection.value("SELECT count(*) FROM ZNOTE WHERE length(ZLARGE) = 38")?.int64
        }
        let folder = scratch.url(".shared_SUPPORT/_EXTERNAL_DATA").path
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(files.count == Int(large ?? -1))
        for number in 1...4 {
            let report = try String(
                contentsOfFile: scratch.url("report\(number)").path, encoding: .utf8)
            print("soak, \(writers) writing: \(report)")
            #expect(!report.contains(" 0 "))
        }
    }

    /// Adds pairs of notes, and gives pairs new large values.
    private func writes(as writer: Int) async {
        let report = scratch.url("report\(writer)").path
        await #expect(processExitsWith: .success) {
            [
                path = path as String, writer = writer as Int, report = report as String,
                seconds = Self.seconds as Double
            ] in
            let store = try TwoProcesses.open(path)
            var random = SeededRandomness(UInt64(writer))
            var pace = Pace()
            var number: Int64 = 0
            while pace.goesOn(for: seconds) {
                let bytes = Data(repeating: UInt8(number & 0x7F), count: 110_000)
                try pace.measure {
                    if number == 0 || random.next() % 3 > 0 {
                        number += 1
                        let isLarge = number == 1 || random.next() % 2 == 0
                        try TwoProcesses.write(
                            store, writer: Int64(writer), number: number,
                            bytes: isLarge ? bytes : Data([1]))
                    } else {
                        try SoakPair.change(
                            store, writer: writer,
                            number: Int64(random.next() % UInt64(number)) + 1,
                            to: bytes)
                    }
                }
            }
            try pace.text("saves").write(toFile: report, atomically: true, encoding: .utf8)
        }
    }

    private func reads(as reader: Int) async {
        let report = scratch.url("report\(reader)").path
        await #expect(processExitsWith: .success) {
            [path = path as String, report = report as String, seconds = Self.seconds as Double] in
            let store = try TwoProcesses.open(path)
            var pace = Pace()
            while pace.goesOn(for: seconds) {
                try pace.measure {
                    _ = try TwoProcesses.check(store)
                    guard try SoakPair.areEqual(store) else { exit(3) }
                }
            }
            try pace.text("looks").write(toFile: report, atomically: true, encoding: .utf8)
        }
    }
}

/// Two notes that always have the same large value.
enum SoakPair {
    static func change(
        _ store: SQLiteRowStore, writer: Int, number: Int64, to bytes: Data
    ) throws {
        guard let layout = store.layout.entities.first, let slot = layout.attributeSlot("large")
        else { return }
        try store.write { transaction in
            let keys = try transaction.connection.rows(
                "SELECT Z_PK FROM ZNOTE WHERE ZWRITER = ? AND ZNUMBER = ?",
                [SQLiteValue(writer), .integer(number)])
            var changes = ChangeSet()
            for key in keys.compactMap({ $0[0].int64 }) {
                var update = RowUpdate(id: RowID(entity: layout.number, key: key))
                update.attributes = [(slot, .data(bytes))]
                changes.updates.append(update)
            }
            _ = try transaction.apply(changes)
        }
    }

    /// Whether the newest and the oldest pairs are whole, in one state of the store.
    static func areEqual(_ store: SQLiteRowStore) throws -> Bool {
        try store.read { transaction in
            guard let layout = transaction.layout.entities.first,
                let slot = layout.attributeSlot("large")
            else { return false }
            let pairs = try transaction.connection.rows(
                "SELECT min(Z_PK), max(Z_PK) FROM ZNOTE GROUP BY ZWRITER, ZNUMBER "
                    + "ORDER BY 1 DESC LIMIT 5")
            for pair in pairs {
                let values = try pair.compactMap(\.int64).map {
                    try transaction.row(RowID(entity: layout.number, key: $0))?.attributes[slot]
                }
                guard values.count == 2, values[0] == values[1], values[0] != .null else {
                    return false
                }
            }
            return true
        }
    }
}

/// How often something was done, and how long it took at most.
struct Pace {
    private var count = 0
    private var longest = 0.0
    private let start = Date()

    /// Whether there is time left, or nothing was done yet.
    func goesOn(for seconds: Double) -> Bool {
        count == 0 || Date().timeIntervalSince(start) < seconds
    }

    mutating func measure(_ body: () throws -> Void) rethrows {
        let start = Date().timeIntervalSinceReferenceDate
        try body()
        count += 1
        longest = max(longest, Date().timeIntervalSinceReferenceDate - start)
    }

    func text(_ what: String) -> String {
        "\(count) \(what), the longest \(Int((longest * 1000).rounded(.up))) ms"
    }
}
