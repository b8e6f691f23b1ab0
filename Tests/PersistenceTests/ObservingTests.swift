import CoreData
import Foundation
import Testing

/// Following values, in place of key-value observing.
@Suite struct ObservingTests {
    @Test func changesAreTold() throws {
        let bench = try Bench(.sqlite)
        let ada = try bench.person("Ada")
        var told: [[String?]] = []
        let observation = ada.observe(\.name, options: [.old, .new]) { object, change in
            #expect(object === ada && change.kind == .setting && !change.isPrior)
            told.append([change.oldValue.flatMap { $0 }, change.newValue.flatMap { $0 }])
        }
        ada.name = "Bea"
        ada.setValue("Cid", forKey: "name")
        ada.score = 2
        #expect(told == [["Ada", "Bea"], ["Bea", "Cid"]])
        try bench.context.save()
        let other = bench.newContext()
        try bench.twin(ada, in: other).name = "Dan"
        try other.save()
        bench.context.refresh(ada, mergeChanges: false)
        #expect(told.count == 3)
        observation.invalidate()
        ada.name = "Eve"
        #expect(told.count == 3)
    }

    @Test func inversesUndoAndComputedPropertiesAreTold() throws {
        let bench = try Bench(.memory)
        bench.context.undoManager = UndoManager()
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        try bench.context.save()
        var spouses = 0
        var greetings: [String?] = []
        let first = bob.observe(\.spouse) { _, _ in spouses += 1 }
        let second = bob.observe(\.greeting, options: [.new, .initial]) { _, change in
            greetings.append(change.newValue)
        }
        ada.spouse = bob
        #expect(spouses == 1)
        bench.context.undo()
        #expect(spouses == 2 && bob.spouse == nil)
        bob.name = "Rob"
        bob.age = 5
        #expect(greetings == ["Bob, 0", "Rob, 0", "Rob, 5"])
        var keys = 0
        let third = bob.observe(key: "friends", options: .prior) { _, change in
            keys += change.isPrior ? 1 : 10
        }
        ada.friends = [bob]
        #expect(keys == 11)
        for observation in [first, second, third] { observation.invalidate() }
    }
}

extension Person {
    fileprivate var greeting: String { "\(name ?? ""), \(age)" }

    @Test func whatAChildSavesIsTold() throws {
        let bench = try Bench(.memory)
        let ada = try bench.person("Ada")
        try bench.context.save()
        var told: [String?] = []
        let observation = ada.observe(\.name, options: .new) { _, change in
            told.append(change.newValue.flatMap { $0 })
        }
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = bench.context
        try bench.twin(ada, in: child).name = "Bea"
        try child.save()
        #expect(told == ["Bea"])
        observation.invalidate()
    }
}
