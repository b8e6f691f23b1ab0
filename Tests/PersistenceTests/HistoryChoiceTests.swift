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
}
