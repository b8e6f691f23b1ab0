import CoreData
import Foundation
import Testing

/// Requests that name a part of the history.
@Suite struct HistoryChoiceTests {
    /// Three saves, the last by another author.
    private func bench(_ kind: StoreKind) throws -> (Bench, [NSPersistentHistoryToken]) {
        let bench = try Bench(kind)
        var tokens: [NSPersistentHistoryToken] = []
        for author in ["one", "one", "two"] {
            bench.context.transactionAuthor = author
            try bench.person(author)
            try bench.context.save()
            let token = bench.coordinator.currentPersistentHistoryToken(fromStores: nil)
            tokens.append(try #require(token))
        }
        return (bench, tokens)
    }

    private func numbers(_ bench: Bench) throws -> [Int64] {
        let all = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        let result = try bench.context.execute(all) as? NSPersistentHistoryResult
        let transactions = result?.result as? [NSPersistentHistoryTransaction]
        return try #require(transactions).map(\.transactionNumber)
    }

    @Test(arguments: StoreKind.logging)
    func whatIsBeforeATokenGoesAndItsOwnStays(_ kind: StoreKind) throws {
        let (bench, tokens) = try bench(kind)
        try bench.context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: tokens[1]))
        #expect(try numbers(bench) == [2, 3])
        let later = NSPersistentHistoryChangeRequest.fetchHistory(after: tokens[1])
        later.resultType = .count
        let result = try bench.context.execute(later) as? NSPersistentHistoryResult
        #expect(result?.result as? Int == 1)
    }

    /// For doubles of tests, and for those who begin without a token.
    @Test(arguments: StoreKind.logging)
    func aTokenOfNothingIsBeforeAll(_ kind: StoreKind) throws {
        let (bench, _) = try bench(kind)
        let all = NSPersistentHistoryChangeRequest.fetchHistory(after: NSPersistentHistoryToken())
        all.resultType = .count
        let result = try bench.context.execute(all) as? NSPersistentHistoryResult
        #expect(result?.result as? Int == 3)
        let request = NSBatchInsertRequest()
        #expect(request.entityName == "" && request.entity == nil)
        #expect(throws: NSError.self) { try bench.context.execute(request) }
    }

    @Test(arguments: StoreKind.logging)
    func aDeletionKeepsWhatItsRequestDoesNotChoose(_ kind: StoreKind) throws {
        let (bench, _) = try bench(kind)
        func delete(of author: String) throws {
            let deletion = NSPersistentHistoryChangeRequest.deleteHistory(before: .distantFuture)
            let choice = NSPersistentHistoryTransaction.fetchRequest
            choice?.predicate = NSPredicate(format: "author == %@", author)
            deletion.fetchRequest = choice
            try bench.context.execute(deletion)
        }
        try delete(of: "two")
        #expect(try numbers(bench) == [1, 2, 3])
        try delete(of: "one")
        #expect(try numbers(bench) == [3])
        try delete(of: "two")
        #expect(try numbers(bench).isEmpty)
    }

    @Test(arguments: StoreKind.logging)
    func aRequestOverChangesIsAnsweredWithChanges(_ kind: StoreKind) throws {
        let (bench, _) = try bench(kind)
        let choice = NSFetchRequest<any NSFetchRequestResult>()
        choice.entity = NSPersistentHistoryChange.entityDescription(with: bench.context)
        choice.predicate = NSPredicate(
            format: "changeType == %d", NSPersistentHistoryChangeType.insert.rawValue)
        let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: choice)
        let result = try bench.context.execute(request) as? NSPersistentHistoryResult
        #expect((result?.result as? [NSPersistentHistoryChange])?.count == 3)
    }

    // MARK: Order, bounds and forms

    private func answer(
        _ bench: Bench, _ choice: NSFetchRequest<any NSFetchRequestResult>?,
        _ type: NSPersistentHistoryResultType? = nil
    ) throws -> Any? {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(
            withFetch: try #require(choice))
        if let type { request.resultType = type }
        return (try bench.context.execute(request) as? NSPersistentHistoryResult)?.result
    }

    @Test(arguments: StoreKind.logging)
    func transactionsAreSortedAndBounded(_ kind: StoreKind) throws {
        let (bench, _) = try bench(kind)
        let choice = NSPersistentHistoryTransaction.fetchRequest
        func found() throws -> [Int64] {
            let all = try answer(bench, choice) as? [NSPersistentHistoryTransaction]
            return try #require(all).map(\.transactionNumber)
        }
        choice?.sortDescriptors = [NSSortDescriptor(key: "transactionNumber", ascending: false)]
        #expect(try found() == [3, 2, 1])
        choice?.fetchLimit = 2
        #expect(try found() == [3, 2])
        choice?.fetchOffset = 2
        #expect(try found() == [1])
        choice?.fetchOffset = 9
        #expect(try found() == [])
        choice?.sortDescriptors = [
            NSSortDescriptor(key: "author", ascending: false),
            NSSortDescriptor(key: "timestamp", ascending: true),
        ]
        choice?.fetchOffset = 0
        choice?.fetchLimit = 0
        #expect(try found() == [3, 1, 2])
        choice?.sortDescriptors = nil
        choice?.fetchOffset = 1
        choice?.fetchLimit = 1
        #expect(try found() == [2])
        choice?.predicate = NSPredicate(format: "author == 'one'")
        #expect(try found() == [2])
    }

    /// In a process of its own, which an overflow would end.
    @Test func aLimitMayBeAnyNumber() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench(.memory)
            for name in ["Ada", "Bob", "Cy"] {
                try bench.person(name)
                try bench.context.save()
            }
            let choice = try #require(NSPersistentHistoryTransaction.fetchRequest)
            choice.fetchOffset = 1
            choice.fetchLimit = .max
            let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: choice)
            let result = try bench.context.execute(request) as? NSPersistentHistoryResult
            let found = result?.result as? [NSPersistentHistoryTransaction]
            #expect(found?.map(\.transactionNumber) == [2, 3])
        }
    }

    /// Three saves of two changes each, newest first, without the first and the last.
    private func changes() -> NSFetchRequest<any NSFetchRequestResult>? {
        let choice = NSPersistentHistoryChange.fetchRequest
        choice?.sortDescriptors = [NSSortDescriptor(key: "changeID", ascending: false)]
        choice?.fetchOffset = 1
        choice?.fetchLimit = 4
        return choice
    }

    private func pairs(_ kind: StoreKind) throws -> Bench {
        let bench = try Bench(kind)
        for number in 1...3 {
            try bench.person("p\(number)")
            _ = try bench.make("Department", "d\(number)")
            try bench.context.save()
        }
        return bench
    }

    @Test(arguments: StoreKind.logging)
    func changesAreSortedAndBounded(_ kind: StoreKind) throws {
        let bench = try pairs(kind)
        let found = try answer(bench, changes()) as? [NSPersistentHistoryChange]
        #expect(found?.map(\.changeID) == [5, 4, 3, 2])
        #expect(found?.map { $0.transaction?.transactionNumber } == [3, 2, 2, 1])
        let unsorted = changes()
        unsorted?.sortDescriptors = nil
        let plain = try answer(bench, unsorted, .changesOnly) as? [NSPersistentHistoryChange]
        #expect(plain?.map(\.changeID) == [2, 3, 4, 5])
        let narrow = changes()
        narrow?.predicate = NSPredicate(format: "changedEntity == 'Person'")
        let people = try answer(bench, narrow) as? [NSPersistentHistoryChange]
        #expect(people?.map { $0.changedObjectID.entity.name } == ["Person", "Person"])
    }

    @Test(arguments: StoreKind.logging)
    func changesAreAnsweredInEachForm(_ kind: StoreKind) throws {
        let bench = try pairs(kind)
        let all = try answer(bench, changes(), .changesOnly) as? [NSPersistentHistoryChange]
        let found = try #require(all)
        #expect(found.count == 4)
        #expect(try answer(bench, changes(), .count) as? Int == 4)
        #expect(try answer(bench, changes(), .statusOnly) as? Bool == true)
        #expect(
            try answer(bench, changes(), .objectIDs) as? [NSManagedObjectID]
                == found.map(\.changedObjectID))
        let transactions =
            try answer(bench, changes(), .transactionsOnly) as? [NSPersistentHistoryTransaction]
        #expect(Set(transactions?.map(\.transactionNumber) ?? []) == [1, 2, 3])
        #expect(transactions?.allSatisfy { $0.changes == nil } == true)
    }

    @Test(arguments: StoreKind.logging)
    func whoAsksForTransactionsOfChosenChangesGetsThoseWithThem(_ kind: StoreKind) throws {
        let bench = try pairs(kind)
        let all = try answer(bench, changes(), .transactionsAndChanges)
        let found = try #require(all as? [NSPersistentHistoryTransaction])
        #expect(found.map(\.transactionNumber) == [3, 2, 1])
        #expect(found.map { $0.changes?.map(\.changeID) } == [[5], [4, 3], [2]])
        for transaction in found {
            #expect(transaction.changes?.allSatisfy { $0.transaction === transaction } == true)
        }
        let narrow = NSPersistentHistoryChange.fetchRequest
        narrow?.predicate = NSPredicate(format: "changedEntity == 'Person'")
        let people = try answer(bench, narrow, .transactionsAndChanges)
        let saves = try #require(people as? [NSPersistentHistoryTransaction])
        #expect(
            saves.map { $0.changes?.map(\.changedObjectID.entity.name) } == [
                ["Person"], ["Person"], ["Person"],
            ])
    }

    @Test(arguments: StoreKind.logging)
    func transactionsAreAnsweredInEachForm(_ kind: StoreKind) throws {
        let bench = try pairs(kind)
        let choice = NSPersistentHistoryTransaction.fetchRequest
        choice?.sortDescriptors = [NSSortDescriptor(key: "transactionNumber", ascending: false)]
        choice?.fetchLimit = 2
        #expect(try answer(bench, choice, .count) as? Int == 2)
        #expect(try answer(bench, choice, .statusOnly) as? Bool == true)
        let changes = try answer(bench, choice, .changesOnly) as? [NSPersistentHistoryChange]
        #expect(changes?.map { $0.transaction?.transactionNumber } == [3, 3, 2, 2])
        let ids = try answer(bench, choice, .objectIDs) as? [NSManagedObjectID]
        #expect(ids == changes?.map(\.changedObjectID))
        let bare = try answer(bench, choice, .transactionsOnly)
        #expect((bare as? [NSPersistentHistoryTransaction])?.map(\.transactionNumber) == [3, 2])
        let whole = try answer(bench, choice) as? [NSPersistentHistoryTransaction]
        #expect(whole?.map { $0.changes?.count } == [2, 2])
    }
}
