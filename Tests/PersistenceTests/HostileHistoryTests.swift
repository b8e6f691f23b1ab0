import CoreData
import Foundation
import SQLiteDriver
import Testing

/// Numbers that only strangers write: in archives of tokens, in transactions, in readers' marks.
@Suite struct HostileHistoryTests {
    private static let extremes: [Int64] = [.min, .min + 1, -1, 0, .max - 1, .max]

    private func bench(_ kind: StoreKind) throws -> Bench {
        let bench = try Bench(kind)
        for name in ["a", "b", "c"] {
            try bench.person(name)
            try bench.context.save()
        }
        return bench
    }

    /// A token as it comes out of an archive.
    private func token(_ number: Int64, _ bench: Bench) throws -> NSPersistentHistoryToken {
        let made = NSPersistentHistoryToken(numbers: [bench.store.identifier: number])
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: made, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: NSPersistentHistoryToken.self, from: data)
        return try #require(read)
    }

    private func numbers(
        _ request: NSPersistentHistoryChangeRequest, _ bench: Bench
    ) throws -> [Int64] {
        let result = try bench.context.execute(request) as? NSPersistentHistoryResult
        let found = result?.result as? [NSPersistentHistoryTransaction]
        return try #require(found).map(\.transactionNumber)
    }

    private func all(_ bench: Bench) throws -> [Int64] {
        try numbers(.fetchHistory(after: Date.distantPast), bench)
    }

    @Test(arguments: StoreKind.logging, extremes)
    func fetchesTakeAnyToken(_ kind: StoreKind, _ number: Int64) throws {
        let bench = try bench(kind)
        let token = try token(number, bench)
        let expected: [Int64] = number > 0 ? [] : [1, 2, 3]
        #expect(try numbers(.fetchHistory(after: token), bench) == expected)
        let choice = try #require(NSPersistentHistoryTransaction.fetchRequest)
        for (format, expected) in [
            ("token > %@", expected), ("token == %@", []), ("token >= %@", expected),
            ("token <= %@", number > 0 ? [1, 2, 3] : []),
        ] {
            choice.predicate = NSPredicate(format: format, token)
            #expect(try numbers(.fetchHistory(withFetch: choice), bench) == expected, "\(format)")
        }
    }

    @Test(arguments: StoreKind.logging, extremes)
    func deletionsTakeAnyToken(_ kind: StoreKind, _ number: Int64) throws {
        let bench = try bench(kind)
        let token = try token(number, bench)
        let choice = try #require(NSPersistentHistoryTransaction.fetchRequest)
        choice.predicate = NSPredicate(format: "token > %@", token)
        let chosen = NSPersistentHistoryChangeRequest.deleteHistory(before: token)
        chosen.fetchRequest = choice
        try bench.context.execute(chosen)
        #expect(try all(bench) == [1, 2, 3])
        try bench.context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: token))
        #expect(try all(bench) == (number > 0 ? [] : [1, 2, 3]))
        try bench.coordinator.setHistoryConsumer("reader", lastSeen: token)
        let purge = try bench.coordinator.purgeHistory()
        #expect(purge.waitingConsumers == (number > 0 ? [] : ["reader"]))
        try bench.coordinator.removeHistoryConsumer("reader")
        try bench.person("later")
        try bench.context.save()
        #expect(try all(bench).last == 4)
    }

    /// A file whose transactions have the numbers of nobody's counter; those below 1 are not read,
    /// and go with the others.
    private func strange(_ sql: String) throws -> (MigrationBench, NSManagedObjectModel) {
        let bench = try MigrationBench()
        let model = VersionDraft.model { $0.entity("Note", [text("name")]) }
        try bench.fill(model) { _ = $0.make("Note", ["name": "a"]) }
        try Connection(path: bench.url.path, access: .readWrite).script(sql)
        return (bench, model)
    }

    private static let transactions = [Int64.max, Int64.max - 1, -5, Int64.min].map {
        "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) VALUES (\($0), 16002, 100.0); "
            + "INSERT INTO ACHANGE (Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) "
            + "VALUES (16001, 0, 1, 1, \($0)); "
    }.joined()

    private func find(_ context: NSManagedObjectContext, after date: Date) throws -> [Int64] {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: date)
        let result = try context.execute(request) as? NSPersistentHistoryResult
        let found = result?.result as? [NSPersistentHistoryTransaction]
        return try #require(found).map(\.transactionNumber).sorted()
    }

    @Test func transactionsOfAnyNumberAreReadAndRemoved() throws {
        for way in 0..<4 {
            let (bench, model) = try strange(Self.transactions)
            try bench.open(model) { context throws in
                let coordinator = try #require(context.persistentStoreCoordinator)
                #expect(
                    try find(context, after: Date.distantPast)
                        == [1, .max - 1, .max])
                switch way {
                case 0: try coordinator.purgeHistory()
                case 1: try coordinator.purgeHistory(before: .distantFuture)
                case 2:
                    try context.execute(
                        NSPersistentHistoryChangeRequest.deleteHistory(before: .distantFuture))
                default:
                    try context.execute(
                        NSPersistentHistoryChangeRequest.deleteHistory(
                            before: nil as NSPersistentHistoryToken?))
                }
                #expect(try find(context, after: Date.distantPast).isEmpty)
            }
            #expect(try bench.value("SELECT count(*) FROM ACHANGE") == 0)
        }
    }

    @Test func aPurgeBeforeAMomentStopsAtTheFirstThatStays() throws {
        let (bench, model) = try strange(
            Self.transactions
                + "UPDATE ATRANSACTION SET ZTIMESTAMP = 900.0 WHERE Z_PK >= \(Int64.max - 1)")
        try bench.open(model) { context throws in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let moment = Date(timeIntervalSinceReferenceDate: 500)
            try coordinator.purgeHistory(before: moment)
            #expect(try find(context, after: Date.distantPast) == [1, .max - 1, .max])
            let nothing = try coordinator.purgeHistory(before: moment)
            #expect(nothing.transactionCount == 0)
        }
    }

    @Test(arguments: ["\(Int64.min)", "\(Int64.max)", "'text'", "NULL", "x'00ff'", "1.5"])
    func marksOfAnyKindHoldOrLetGo(_ mark: String) throws {
        let (bench, model) = try strange(
            "CREATE TABLE ADIPTYCHCONSUMER (ZNAME VARCHAR PRIMARY KEY, ZTRANSACTION INTEGER, "
                + "ZDATE TIMESTAMP) WITHOUT ROWID; "
                + "INSERT INTO ADIPTYCHCONSUMER VALUES ('odd', \(mark), \(mark)); "
                + "INSERT INTO ADIPTYCHCONSUMER VALUES (x'ff', 9, 'x')")
        try bench.open(model) { context throws in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let store = try #require(coordinator.persistentStores.first)
            #expect(try coordinator.historyConsumers(of: store).count == 2)
            let purge = try coordinator.purgeHistory()
            let isHeld = purge.waitingConsumers.contains("odd")
            #expect(try find(context, after: Date.distantPast) == (isHeld ? [1] : []))
            if mark == "\(Int64.max)" { #expect(!isHeld) }
            if [mark == "NULL", mark == "\(Int64.min)"].contains(true) { #expect(isHeld) }
            try coordinator.removeHistoryConsumer("odd")
            try coordinator.purgeHistory()
            #expect(try find(context, after: Date.distantPast).isEmpty)
        }
    }
}
