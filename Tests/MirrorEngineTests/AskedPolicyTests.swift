import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import Persistence
import RecordWire
import Stores
import Testing

/// A merge policy of the app's decides for the mirror as it does for saves.
@Suite struct AskedPolicyTests {
    private let service: SimulatedService

    init() throws { service = try Device.service() }

    private func pair(_ policy: NSMergePolicy) throws -> (a: Device, b: Device, note: RowID) {
        let own = MergePolicy(asking: policy)
        let (a, b) = (
            try Device(1, service, policy: own), try Device(2, service, policy: own)
        )
        let note = try a.insert("Note", ["title": .text("old"), "rating": .double(1)])
        try a.sync()
        try b.sync()
        return (a, b, note)
    }

    private func meet(_ devices: [Device]) throws {
        for _ in 0..<3 { for device in devices { try device.sync() } }
    }

    @Test func aSubclassSeesAllThreeSidesAndDecides() throws {
        let policy = LongerTitle()
        let (a, b, note) = try pair(policy)
        try a.set(note, "title", .text("much longer"))
        try b.set(b.only("Note"), "title", .text("short"))
        try meet([a, b])
        for device in [a, b] {
            #expect(try device.value(device.only("Note"), "title") == .text("much longer"))
        }
        #expect(policy.seen == ["old short much longer"])
        let line = try #require(try b.mirrored.conflicts().first)
        #expect(line.rule == "policy" && line.local == .string("short"))
    }

    /// A property that nobody changed may be set too.
    @Test func whatItChangesBesidesTravelsAndIsLogged() throws {
        let (a, b, note) = try pair(Marking())
        try a.set(note, "title", .text("from a"))
        try b.set(b.only("Note"), "title", .text("from b"))
        try meet([a, b])
        for device in [a, b] {
            #expect(try device.value(device.only("Note"), "title") == .text("merged"))
            #expect(try device.value(device.only("Note"), "rating") == .double(9))
        }
        #expect(try b.mirrored.conflicts().map(\.property).sorted() == ["rating", "title"])
    }

    @Test func oneThatThrowsLetsTheConflictWait() throws {
        let (a, b, note) = try pair(Refusing(merge: .mergeByPropertyObjectTrumpMergePolicyType))
        try a.set(note, "title", .text("from a"))
        try b.set(b.only("Note"), "title", .text("from b"))
        try meet([a, b])
        let waiting = try b.mirrored.conflicts(waitingOnly: true)
        #expect(waiting.map(\.property) == ["title"])
        #expect(try b.value(b.only("Note"), "title") == .text("from b"))
    }

    @Test func changesOfDifferentPropertiesAreItsAffairToo() throws {
        let policy = LongerTitle()
        let (a, b, note) = try pair(policy)
        try a.set(note, "title", .text("longer"))
        try b.set(b.only("Note"), "rating", .double(3))
        try meet([a, b])
        #expect(try b.value(b.only("Note"), "title") == .text("longer"))
        #expect(try a.value(note, "rating") == .double(3))
        #expect(policy.seen.count == 1)
        #expect(try b.mirrored.conflicts().isEmpty)
    }

    @Test(arguments: [
        (NSMergePolicy.error, "error"), (.mergeByPropertyStoreTrump, "remote"),
        (.mergeByPropertyObjectTrump, "local"), (.overwrite, "overwrite"),
        (.rollback, "rollback"),
    ])
    func oneOfTheFiveIsTheRuleOfItsKind(policy: NSMergePolicy, rule: String) {
        #expect(MergePolicy(asking: policy).standard.name == rule)
        #expect(MergePolicy(asking: Marking()).standard.name == "policy")
    }
}

/// Keeps the longer title, and all else by property.
private final class LongerTitle: NSMergePolicy, @unchecked Sendable {
    // @unchecked: the tests of it run rounds one after another.
    private(set) var seen: [String] = []

    init() { super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType) }

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        for conflict in list {
            let object = conflict.sourceObject
            let own = object.value(forKey: "title") as? String ?? ""
            let other = conflict.cachedSnapshot?["title"] as? String ?? ""
            let base = conflict.objectSnapshot?["title"] as? String ?? ""
            seen.append("\(base) \(own) \(other)")
            try super.resolve(optimisticLockingConflicts: [conflict])
            object.setValue(own.count > other.count ? own : other, forKey: "title")
        }
    }
}

/// Sets what it likes.
private final class Marking: NSMergePolicy, @unchecked Sendable {
    // @unchecked: it has no state.
    init() { super.init(merge: .mergeByPropertyStoreTrumpMergePolicyType) }

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        for conflict in list {
            conflict.sourceObject.setValue("merged", forKey: "title")
            conflict.sourceObject.setValue(9.0, forKey: "rating")
        }
    }
}

private final class Refusing: NSMergePolicy, @unchecked Sendable {
    // @unchecked: it has no state.
    override func resolve(mergeConflicts list: [Any]) throws { throw NotMine() }

    private struct NotMine: Error {}
}
