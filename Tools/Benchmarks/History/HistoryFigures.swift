internal import CSQLite
internal import Foundation
internal import ObjectModel
internal import Persistence

/// Fills a history with plain SQL, adds some changes by saves, and times fetching those.
enum HistoryFigures {
    static let freshChanges = 1_000
    private static let changesPerSave = 100
    private static let rowsPerFilling = 1_000_000
    private static let rounds = 25

    static func play(_ arguments: RoleArguments) throws {
        let (url, old) = (try arguments.url(0), try arguments.count(1))
        _ = try open(url)
        try fillOld(url.path, old)
        let coordinator = try open(url)
        let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
        try save(coordinator)
        var found = Findings()
        let raw = try RawDatabase(path: url.path)
        for _ in 0..<rounds {
            found.note(
                "history",
                seconds: try Stopwatch.processorSeconds {
                    try RawFigures.check(fetch(coordinator, after: token), freshChanges)
                })
            found.note(
                "raw",
                seconds: try Stopwatch.processorSeconds {
                    try RawFigures.check(fetchRaw(raw, above: Int64(old)), freshChanges)
                })
        }
        found.send()
    }

    private static func open(_ url: URL) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleModel.make())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSPersistentHistoryTrackingKey: true])
        return coordinator
    }

    /// A hundred changes to a transaction.
    private static func fillOld(_ path: String, _ count: Int) throws {
        let database = try RawDatabase(path: path)
        try database.run("PRAGMA synchronous = OFF")
        func numbers(_ first: Int, _ last: Int) -> String {
            "WITH RECURSIVE c(n) AS (SELECT \(first) UNION ALL SELECT n + 1 FROM c "
                + "WHERE n < \(last))"
        }
        let transactions = (count + changesPerSave - 1) / changesPerSave
        try database.run(
            "\(numbers(1, transactions)) INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) "
                + "SELECT n, 16002, 700000000 + n FROM c")
        for first in stride(from: 1, through: count, by: rowsPerFilling) {
            let last = min(first + rowsPerFilling - 1, count)
            try database.run(
                "\(numbers(first, last)) INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, "
                    + "ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS) SELECT n, 16001, 1, 1, n % 1000, "
                    + "1 + (n - 1) / \(changesPerSave), x'40' FROM c")
        }
        try database.run(
            "UPDATE Z_PRIMARYKEY SET Z_MAX = \(count) WHERE Z_ENT = 16001; "
                + "UPDATE Z_PRIMARYKEY SET Z_MAX = \(transactions) WHERE Z_ENT = 16002")
    }

    private static func save(_ coordinator: NSPersistentStoreCoordinator) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for first in stride(from: 0, to: freshChanges, by: changesPerSave) {
                for sample in Sample.many(changesPerSave, from: first) {
                    SampleObject(context: context).fill(sample)
                }
                try context.save()
            }
        }
    }

    private static func fetch(
        _ coordinator: NSPersistentStoreCoordinator, after token: NSPersistentHistoryToken?
    ) throws -> Int {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let found = result?.result as? [NSPersistentHistoryTransaction] ?? []
            return found.reduce(0) { $0 + ($1.changes?.count ?? 0) }
        }
    }

    private static func fetchRaw(_ database: RawDatabase, above change: Int64) throws -> Int {
        var rows = 0
        try database.each(
            "SELECT t.Z_PK, t.ZTIMESTAMP, c.Z_PK, c.ZCHANGETYPE, c.ZENTITY, c.ZENTITYPK "
                + "FROM ACHANGE c JOIN ATRANSACTION t ON t.Z_PK = c.ZTRANSACTIONID "
                + "WHERE c.Z_PK > \(change) ORDER BY c.Z_PK"
        ) { row in
            if sqlite3_column_int64(row, 0) > 0 { rows += 1 }
        }
        return rows
    }
}
