import CoreData
import Foundation
import Testing

/// Values that another version of the app, another device or another program wrote, read by the
/// declarations of this one: no program ends by them.
@Suite struct OthersValueTests {
    private enum Rank: Int16 { case low = 3, high = 4 }
    private enum Stage: String, CaseIterable { case open, closed }

    /// A person whom somebody else saved, as it is fetched here.
    private func fetched(
        _ kind: StoreKind, _ fill: (NSManagedObject) -> Void
    ) throws -> (Bench, NSManagedObject) {
        let bench = try Bench(kind)
        fill(try bench.person("Ada"))
        try bench.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        return (bench, try #require(try bench.newContext().fetch(request).first))
    }

    @Test(arguments: [StoreKind.memory, .sqlite])
    func anUnknownCaseIsTheFirstAndStaysAsItIs(_ kind: StoreKind) throws {
        let (bench, person) = try fetched(kind) {
            $0.setValue(9, forKey: "age")
            $0.setValue("paused", forKey: "nick")
        }
        #expect(person.managedValue(forKey: "age") as Rank == .low)
        #expect(person.managedValue(forKey: "age") as Rank? == nil)
        #expect(person.managedValue(forKey: "nick") as Stage == .open)
        #expect(person.managedValue(forKey: "nick") as Stage? == nil)
        #expect(person.value(forKey: "age") as? Int == 9 && !person.hasChanges)
        person.setManagedValue(Rank.high, forKey: "age")
        #expect(person.managedValue(forKey: "age") as Rank == .high)
        withExtendedLifetime(bench) {}
    }

    @Test(arguments: [StoreKind.memory, .sqlite])
    func anArchiveOfAnotherClassIsNoValue(_ kind: StoreKind) throws {
        let (bench, person) = try fetched(kind) { $0.setValue(["red", "blue"], forKey: "colors") }
        #expect(person.managedValue(forKey: "colors") as [String: String]? == nil)
        #expect((person.managedValue(forKey: "colors") as [String: String]).isEmpty)
        #expect(person.managedValue(forKey: "colors") as Date? == nil)
        #expect(person.managedValue(forKey: "colors") as [String] == ["red", "blue"])
        #expect(!person.hasChanges)
        withExtendedLifetime(bench) {}
    }

    /// Nothing can stand for a case of texts that tells none of its cases.
    @Test func aCaseThatNothingStandsForSaysWhatToDo() async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            enum Silent: String { case open }
            let bench = try Bench(.memory)
            let person = try bench.person("Ada")
            person.setValue("paused", forKey: "nick")
            _ = person.managedValue(forKey: "nick") as Silent
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("Let it be CaseIterable"))
    }
}
