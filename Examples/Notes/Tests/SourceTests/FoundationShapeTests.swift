import CoreData
import Testing

/// What sources for Core Data take of Foundation, and Foundation lacks off Apple's platforms.
@Suite struct FoundationShapeTests {
    @Test func loopsRunInAutoreleasePools() throws {
        let sum = autoreleasepool { 1 + 1 }
        #expect(sum == 2)
        let text: String = try autoreleasepool { () throws -> String in "x" }
        #expect(text == "x")
        #expect(throws: CocoaError.self) {
            try autoreleasepool { throw CocoaError(.coreData) }
        }
    }

    @Test func coordinatorsRunBlocksLaterAndInOrder() async {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        let words: [String] = await withCheckedContinuation { continuation in
            func enqueue() {
                nonisolated(unsafe) var words: [String] = []
                coordinator.perform { words.append("a") }
                coordinator.perform {
                    words.append("b")
                    continuation.resume(returning: words)
                }
            }
            enqueue()
        }
        #expect(words == ["a", "b"])
    }

    @Test func notificationsComeAsASequence() async {
        let (center, name) = (NotificationCenter(), Notification.Name("FoundationShapeTests"))
        let (mine, other) = (NSObject(), NSObject())
        var iterator = center.notifications(named: name, object: mine).makeAsyncIterator()
        center.post(name: name, object: other, userInfo: ["number": 0])
        center.post(name: name, object: mine, userInfo: ["number": 1])
        center.post(name: name, object: mine, userInfo: ["number": 2])
        #expect(await iterator.next()?.userInfo?["number"] as? Int == 1)
        #expect(await iterator.next()?.userInfo?["number"] as? Int == 2)
        let task = Task {
            for await _ in center.notifications(named: name) {}
            return true
        }
        task.cancel()
        #expect(await task.value)
    }

    @Test func collectionsAnswerByKey() {
        let people: [[String: Any]] = [["age": 3, "name": "Ada"], ["age": 5, "name": "Bob"]]
        let rows = people as NSArray
        #expect(rows.value(forKey: "name") as? [String] == ["Ada", "Bob"])
        #expect((rows.value(forKeyPath: "@avg.age") as? NSNumber)?.doubleValue == 4)
        #expect((rows.value(forKeyPath: "@count") as? NSNumber)?.intValue == 2)
        let ordered = NSOrderedSet(array: [["name": "Cy"]])
        #expect((ordered.value(forKey: "name") as? NSOrderedSet)?.array as? [String] == ["Cy"])
    }

    @Test func handlersOfInsertionsSetValuesByKey() {
        let values = NSMutableDictionary()
        values.setValue("Ada", forKey: "name")
        values.setValue(3, forKey: "age")
        values.setValue(nil, forKey: "age")
        #expect(values["name"] as? String == "Ada")
        #expect(values.count == 1)
    }
}
