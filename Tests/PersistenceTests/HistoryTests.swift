import CoreData
import Foundation
import Testing

@Suite struct HistoryTests {
    private func transactions(
        _ request: NSPersistentHistoryChangeRequest, _ bench: Bench
    ) throws -> [NSPersistentHistoryTransaction] {
        let result = try #require(try bench.context.execute(request) as? NSPersistentHistoryResult)
        return try #require(result.result as? [NSPersistentHistoryTransaction])
    }

    @Test(arguments: StoreKind.logging)
    func eachSaveIsATransactionWithItsChanges(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        bench.context.transactionAuthor = "tester"
        bench.context.name = "lab"
        let ada = try bench.person("Ada")
        let sales = try bench.make("Department", "Sales")
        try bench.context.save()
        let start = bench.coordinator.currentPersistentHistoryToken(fromStores: nil)
        ada.name = "Bea"
        ada.department = sales
        try bench.context.save()
        bench.context.delete(ada)
        try bench.context.save()

        let all = try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?), bench)
        #expect(all.map(\.transactionNumber) == [1, 2, 3])
        #expect(all.allSatisfy { $0.author == "tester" && $0.contextName == "lab" })
        #expect(all[0].changes?.map(\.changeType) == [.insert, .insert])
        #expect(all[0].storeID == bench.store.identifier)

        let later = try transactions(.fetchHistory(after: start), bench)
        #expect(later.map(\.transactionNumber) == [2, 3])
        let changes = try #require(later[0].changes)
        let byID = Dictionary(uniqueKeysWithValues: changes.map { ($0.changedObjectID, $0) })
        let person = try #require(byID[ada.objectID])
        #expect(person.changeType == .update)
        #expect(Set(person.updatedProperties?.map(\.name) ?? []) == ["name", "department"])
        let owner = try #require(byID[sales.objectID])
        #expect(owner.updatedProperties?.map(\.name) == ["employees"])
        let end = try #require(later[1].changes)
        #expect(end.contains { $0.changeType == .delete && $0.changedObjectID == ada.objectID })
    }

    @Test(arguments: StoreKind.logging)
    func historyIsAskedForInOtherForms(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        try bench.context.save()
        ada.age = 4
        try bench.context.save()
        func result(_ type: NSPersistentHistoryResultType) throws -> Any? {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(
                after: nil as NSPersistentHistoryToken?)
            request.resultType = type
            return (try bench.context.execute(request) as? NSPersistentHistoryResult)?.result
        }
        #expect(try result(.count) as? Int == 2)
        #expect((try result(.changesOnly) as? [NSPersistentHistoryChange])?.count == 2)
        #expect(try result(.objectIDs) as? [NSManagedObjectID] == [ada.objectID])
        let bare = try result(.transactionsOnly) as? [NSPersistentHistoryTransaction]
        #expect(bare?.count == 2 && bare?.first?.changes == nil)
        let first = try #require(bare?.first)
        #expect(
            try transactions(.fetchHistory(after: first), bench).map(\.transactionNumber) == [2])
        let past = Date(timeIntervalSinceReferenceDate: 0)
        #expect(try transactions(.fetchHistory(after: past), bench).count == 2)
    }

    @Test(arguments: StoreKind.logging)
    func oldHistoryIsRemovedOnRequest(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        for age in 1...3 {
            ada.age = Int16(age)
            try bench.context.save()
        }
        let all = try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?), bench)
        try bench.context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: all[1]))
        let left = try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?), bench)
        #expect(left.map(\.transactionNumber) == [2, 3])
    }

    @Test(arguments: StoreKind.logging)
    func aTransactionIsMergedThroughItsNotification(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        try bench.context.save()
        let other = bench.newContext()
        let twin = try bench.twin(ada, in: other)
        let token = bench.coordinator.currentPersistentHistoryToken(fromStores: nil)
        ada.name = "Bea"
        try bench.context.save()
        for transaction in try transactions(.fetchHistory(after: token), bench) {
            other.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
        }
        #expect(twin.name == "Bea")
    }

    @Test func aTokenSurvivesArchiving() throws {
        let bench = try Bench(.memory)
        try bench.person("Ada")
        try bench.context.save()
        let token = try #require(bench.coordinator.currentPersistentHistoryToken(fromStores: nil))
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: token, requiringSecureCoding: false)
        let reader = try NSKeyedUnarchiver(forReadingFrom: data)
        reader.requiresSecureCoding = false
        let copy = reader.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
        #expect(copy as? NSPersistentHistoryToken == token)
    }

    /// A program archives its token, and goes on from it when it is started again.
    @Test func aTokenIsGoodForWhoeverOpensTheFile() throws {
        let bench = try MigrationBench()
        let model = TestModel.make()
        let archive = try bench.open(model) { context throws in
            _ = context.make("Person", ["name": "Ada"])
            try context.save()
            let token = try #require(
                context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil))
            _ = context.make("Person", ["name": "Bea"])
            try context.save()
            return try NSKeyedArchiver.archivedData(
                withRootObject: token, requiringSecureCoding: true)
        }
        let token = try #require(
            try NSKeyedUnarchiver.unarchivedObject(
                ofClass: NSPersistentHistoryToken.self, from: archive))
        try bench.open(model) { context throws in
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let found = result?.result as? [NSPersistentHistoryTransaction]
            #expect(found?.map(\.transactionNumber) == [2])
            #expect(found?.first?.processID.isEmpty == false)
            let now = context.persistentStoreCoordinator?.currentPersistentHistoryToken(
                fromStores: nil)
            #expect(now != token && found?.last?.token == now)
        }
    }

    // MARK: Requests over the history

    @Test(arguments: StoreKind.logging)
    func transactionsAreChosenByPredicate(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        for (author, name) in [("app", "Ada"), ("sync", "Bob"), ("app", "Cyd")] {
            bench.context.transactionAuthor = author
            try bench.person(name)
            try bench.context.save()
        }
        func numbers(_ format: String, _ arguments: Any...) throws -> [Int64] {
            let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
            fetch.predicate = NSPredicate(format: format, argumentArray: arguments)
            fetch.sortDescriptors = [NSSortDescriptor(key: "transactionNumber", ascending: false)]
            return try transactions(.fetchHistory(withFetch: fetch), bench).map(
                \.transactionNumber)
        }
        #expect(try numbers("author == %@", "app") == [3, 1])
        #expect(try numbers("author != %@", "app") == [2])
        #expect(
            try numbers("transactionNumber > 1 AND timestamp > %@", Date.distantPast) == [3, 2])
        #expect(try numbers("ANY changes.changedEntity == 'Department'") == [])
        let token = try #require(
            try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?), bench).first
        ).token
        #expect(try numbers("token == %@", token) == [1])
        #expect(throws: (any Error).self) { try numbers("noSuchKey == 1") }
        #expect(NSPersistentHistoryTransaction.entityDescription?.name == "Transaction")
        #expect(NSPersistentHistoryTransaction.entityDescription(with: bench.context) != nil)
    }

    @Test(arguments: StoreKind.logging)
    func changesAreChosenByPredicate(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        try bench.make("Department", "Sales")
        try bench.context.save()
        ada.name = "Bea"
        try bench.context.save()
        func changes(_ format: String, _ arguments: Any...) throws -> [NSPersistentHistoryChange] {
            let fetch = try #require(NSPersistentHistoryChange.fetchRequest)
            fetch.predicate = NSPredicate(format: format, argumentArray: arguments)
            let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
            #expect(request.fetchRequest === fetch)
            request.resultType = .changesOnly
            let result = try bench.context.execute(request) as? NSPersistentHistoryResult
            return try #require(result?.result as? [NSPersistentHistoryChange])
        }
        let update = NSPersistentHistoryChangeType.update.rawValue
        #expect(try changes("changeType == %@", update).map(\.changedObjectID) == [ada.objectID])
        #expect(try changes("changedObjectID == %@", ada.objectID).count == 2)
        #expect(try changes("changedEntity == 'Department'").count == 1)
        #expect(
            try changes("changedObjectID == %@", ada.objectID).map {
                $0.transaction?.transactionNumber
            } == [1, 2])
        #expect(try changes("transaction.transactionNumber == 2").count == 1)
        #expect(NSPersistentHistoryChange.entityDescription?.name == "Change")
        #expect(NSPersistentHistoryChange.entityDescription(with: bench.context) != nil)
    }

    @Test(arguments: StoreKind.logging)
    func tokensAndMomentsMoveTheBeginning(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        for name in ["Ada", "Bob", "Cyd"] {
            try bench.person(name)
            try bench.context.save()
        }
        let all = try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?), bench)
        func numbers(_ format: String, _ arguments: Any...) throws -> [Int64] {
            let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
            fetch.predicate = NSPredicate(format: format, argumentArray: arguments)
            return try transactions(.fetchHistory(withFetch: fetch), bench).map(
                \.transactionNumber)
        }
        #expect(try numbers("token > %@", all[0].token) == [2, 3])
        #expect(try numbers("token >= %@ AND author == nil", all[1].token) == [2, 3])
        #expect(try numbers("token <= %@", all[1].token) == [1, 2])
        #expect(try numbers("timestamp > %@", all[1].timestamp) == [3])
        #expect(try numbers("timestamp >= %@", all[1].timestamp) == [2, 3])
        #expect(try numbers("timestamp == %@", all[1].timestamp) == [2])
        #expect(try numbers("transactionNumber > 1 OR timestamp < %@", all[0].timestamp) == [2, 3])
        #expect(try transactions(.fetchHistory(after: all[1].timestamp), bench).count == 1)
        // Conditions choose; only a token that was handed over can be too old.
        try bench.context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: all[2]))
        #expect(try numbers("transactionNumber > 1") == [3])
        let error = #expect(throws: NSError.self) {
            try transactions(.fetchHistory(after: all[0].token), bench)
        }
        #expect(error?.code == NSPersistentHistoryTokenExpiredError)
    }

    @Test(arguments: StoreKind.logging)
    func aTokenOfBeforeTheFirstTransactionExpires(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let start = try #require(bench.coordinator.currentPersistentHistoryToken(fromStores: nil))
        #expect(try transactions(.fetchHistory(after: start), bench).isEmpty)
        for name in ["Ada", "Bob", "Cyd"] {
            try bench.person(name)
            try bench.context.save()
        }
        let all = try transactions(.fetchHistory(after: start), bench)
        #expect(all.count == 3)
        func check() throws {
            let error = #expect(throws: NSError.self) {
                try transactions(.fetchHistory(after: start), bench)
            }
            #expect(error?.code == NSPersistentHistoryTokenExpiredError)
        }
        try bench.context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: all[2]))
        try check()
        let nothing: NSPersistentHistoryToken? = nil
        #expect(try transactions(.fetchHistory(after: nothing), bench).count == 1)
        try bench.context.execute(
            NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
        try check()
    }

    @Test func historyIsReadInPagesUntilThereIsEnough() throws {
        let bench = try Bench(.sqlite)
        let ada = try bench.person("Ada")
        for age in 0..<1101 {
            ada.age = Int16(age % 100)
            bench.context.transactionAuthor = age.isMultiple(of: 2) ? "even" : "odd"
            try bench.context.save()
        }
        let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
        fetch.predicate = NSPredicate(format: "author == 'odd'")
        #expect(try transactions(.fetchHistory(withFetch: fetch), bench).count == 550)
        fetch.fetchOffset = 3
        fetch.fetchLimit = 2
        #expect(
            try transactions(.fetchHistory(withFetch: fetch), bench).map(\.transactionNumber)
                == [8, 10])
        let removal = try bench.coordinator.purgeHistory()
        #expect(removal.transactionCount == 1101 && removal.changeCount == 1101)
        #expect(try bench.coordinator.purgeHistory() == PersistentHistoryPurge.nothing)
    }

    @Test(arguments: StoreKind.logging)
    func historyBeforeAMomentGoes(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        for name in ["Ada", "Bob", "Cyd"] {
            try bench.person(name)
            try bench.context.save()
        }
        let all = try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?), bench)
        try bench.context.execute(
            NSPersistentHistoryChangeRequest.deleteHistory(before: all[1].timestamp))
        func left() throws -> [Int64] {
            try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?), bench).map(
                \.transactionNumber)
        }
        #expect(try left() == [2, 3])
        try bench.context.execute(
            NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
        #expect(try left() == [])
        try bench.person("Dee")
        try bench.context.save()
        #expect(try left() == [4], "a number is never given again")
    }

    @Test func aTokenOfAnotherStoreIsRefused() throws {
        let (bench, other) = (try Bench(.sqlite), try Bench(.sqlite))
        for one in [bench, other] {
            try one.person("Ada")
            try one.context.save()
        }
        let token = try #require(other.coordinator.currentPersistentHistoryToken(fromStores: nil))
        let error = #expect(throws: NSError.self) {
            try transactions(.fetchHistory(after: token), bench)
        }
        #expect(error?.code == 134_501)
    }

    @Test func storesThatKeepNoHistoryArePassedOverOrSayWhy() throws {
        let bench = try Bench(.xml)
        let all = NSPersistentHistoryChangeRequest.fetchHistory(
            after: nil as NSPersistentHistoryToken?)
        let error = #expect(throws: NSError.self) { try bench.context.execute(all) }
        #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
        try bench.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        #expect(try transactions(all, bench).isEmpty)
    }
}
