import Dispatch
import Foundation
import Platform
import RecordService
import RecordWire
import Testing

/// Writers of two services that contend for the records of one zone. Their answers and the feed
/// have to tell one order of writes, in which each edit follows the version that it names, and
/// which contradicts no clock: what was answered before another was asked comes before it.
@Suite struct ContestTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let operations =
        environment["DIPTYCH_OPERATIONS"].flatMap { Int($0) } ?? 400
    private static let firstSeed =
        environment["DIPTYCH_SEED"].flatMap { UInt64($0) } ?? 1
    private static let writers = 4
    private static let names = 5

    /// One request of one record, and when it was asked and answered by a common count.
    private struct Deed: Sendable {
        var operation: RecordOperation
        var record: Record?
        var error: RecordError?
        var asked: Int
        var answered: Int
        var change: Int64 { record?.recordChangeTag.flatMap(ChangeTag.init)?.change ?? -1 }
    }

    /// A lookup: what was found, if anything.
    private struct Look: Sendable {
        var name: String
        var record: Record?
        var asked: Int
        var answered: Int
    }

    private final class Course: Sendable {
        private let count = Lock(0)
        let deeds = Lock<[Deed]>([])
        let looks = Lock<[Look]>([])

        func tick() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    private func write(
        _ fixture: ServiceFixture, _ random: SeededRandomness, _ known: inout [String: Record],
        _ course: Course
    ) throws {
        let name = "r\(random.below(Self.names))"
        let kinds: [RecordOperation.Kind] = [
            .create, .update, .update, .update, .replace, .forceUpdate, .delete, .forceDelete,
        ]
        var record = Record(recordName: name, recordType: "Note")
        record.recordChangeTag = known[name]?.recordChangeTag
        record.fields = ["f\(random.below(3))": .int64(Int64(random.below(1_000_000)))]
        let operation = RecordOperation(kinds[random.below(kinds.count)], record)
        let asked = course.tick()
        let result = try fixture.modify([operation])[0]
        let answered = course.tick()
        let now = result.record ?? result.error?.serverRecord
        if let now { known[name] = now }
        course.deeds.withLock {
            $0.append(
                Deed(
                    operation: operation, record: result.record, error: result.error,
                    asked: asked, answered: answered))
        }
    }

    private func look(
        _ fixture: ServiceFixture, _ random: SeededRandomness, _ course: Course
    ) throws {
        let name = "r\(random.below(Self.names))"
        let asked = course.tick()
        let record = try fixture.lookup([name])[0].record
        let answered = course.tick()
        course.looks.withLock {
            $0.append(Look(name: name, record: record, asked: asked, answered: answered))
        }
    }

    @Test(arguments: StoragePlace.present)
    func contendingWritersAgreeOnOneOrder(place: StoragePlace) throws {
        let shared = try BackendContractTests.Shared(place)
        defer { shared.remove() }
        let services = try shared.services()
        let course = Course()
        DispatchQueue.concurrentPerform(iterations: Self.writers) { writer in
            let random = SeededRandomness(seed: Self.firstSeed &* 31 &+ UInt64(writer))
            var known: [String: Record] = [:]
            do {
                for _ in 0..<Self.operations / Self.writers {
                    let fixture = services[random.below(services.count)]
                    if random.below(4) == 0 {
                        try look(fixture, random, course)
                    } else {
                        try write(fixture, random, &known, course)
                    }
                }
            } catch {
                Issue.record("writer \(writer) of seed \(Self.firstSeed): \(error)")
            }
        }
        let deeds = course.deeds.withLock { $0 }
        let written = deeds.filter { $0.record != nil }.sorted { $0.change < $1.change }
        checkOrder(deeds, written)
        checkClock(written)
        checkLooks(course.looks.withLock { $0 }, written)
        try checkEnd(written, services)
        let conflicts = deeds.count { $0.error?.code == .conflict }
        print(
            "seed \(Self.firstSeed) on \(place.rawValue): \(written.count) writes, "
                + "\(conflicts) conflicts")
    }

    /// Each version follows the one that its request named, and holds what is to be kept of it.
    private func checkOrder(_ deeds: [Deed], _ written: [Deed]) {
        var states: [String: Record] = [:]
        let repeated = Set(
            Dictionary(grouping: written, by: \.change).filter { $0.value.count > 1 }.keys)
        for deed in written {
            guard let record = deed.record else { continue }
            let name = record.recordName
            let before = states[name]
            // Who deletes what is deleted is answered the deletion again.
            if record.deleted, before?.recordChangeTag == record.recordChangeTag { continue }
            let tag = deed.operation.record.recordChangeTag
            switch deed.operation.kind {
            case .update, .replace:
                #expect(tag == before?.recordChangeTag && before?.deleted == false)
            case .create:
                #expect(before == nil || before?.deleted == true && tag == before?.recordChangeTag)
            case .delete:
                #expect(
                    tag == nil || tag == before?.recordChangeTag || repeated.contains(deed.change))
            case .forceUpdate, .forceReplace, .forceDelete: break
            }
            let keeps = deed.operation.kind == .update || deed.operation.kind == .forceUpdate
            var fields = keeps && before?.deleted == false ? before?.fields ?? [:] : [:]
            for (name, value) in deed.operation.record.fields { fields[name] = value }
            #expect(record.fields == (record.deleted ? [:] : fields), "\(deed)")
            states[name] = record
        }
        for deed in deeds where deed.error?.code == .conflict {
            let server = deed.error?.serverRecord
            let shown = server?.recordChangeTag
            // What was deleted is not edited, whoever knows of it.
            #expect(
                server?.deleted == true || shown != deed.operation.record.recordChangeTag)
            #expect(written.contains { $0.record?.recordChangeTag == shown })
        }
    }

    /// A deletion may be answered more than once, as it was the first time.
    private func checkClock(_ written: [Deed]) {
        let changes = Dictionary(grouping: written, by: \.change).sorted { $0.key < $1.key }
        var latestQuestion = 0
        for (change, deeds) in changes {
            #expect(
                deeds.map(\.answered).max() ?? 0 > latestQuestion,
                "change \(change) was answered before an earlier one was asked for")
            latestQuestion = max(latestQuestion, deeds.map(\.asked).min() ?? 0)
        }
    }

    /// A look finds no older version than one that was answered before it, and none that was asked
    /// for after it.
    private func checkLooks(_ looks: [Look], _ written: [Deed]) {
        for look in looks {
            let of = written.filter { $0.record?.recordName == look.name }
            let before = of.last { $0.answered < look.asked }
            guard let record = look.record else {
                // Nothing was there: at the start, or after a deletion that may be in time.
                let mayBeGone = of.contains {
                    $0.record?.deleted == true && $0.change >= before?.change ?? 0
                        && $0.asked < look.answered
                }
                #expect(before == nil || mayBeGone, "\(look) after \(before as Any)")
                continue
            }
            let found = of.first { $0.record?.recordChangeTag == record.recordChangeTag }
            #expect(found?.record?.fields == record.fields)
            #expect(found.map { $0.asked < look.answered } == true)
            #expect((found?.change ?? -1) >= before?.change ?? 0, "\(look) after \(before as Any)")
        }
    }

    private func checkEnd(_ written: [Deed], _ services: [ServiceFixture]) throws {
        var last: [String: Record] = [:]
        for deed in written { last[deed.record?.recordName ?? ""] = deed.record }
        for fixture in services {
            var token: String?
            var found: [String: Record] = [:]
            var more = true
            while more {
                let page = try fixture.changes(since: token, limit: 2)
                #expect(page.failure == nil)
                for record in page.records { found[record.recordName] = record }
                (token, more) = (page.syncToken, page.moreComing)
            }
            #expect(found.mapValues(\.recordChangeTag) == last.mapValues(\.recordChangeTag))
            #expect(found.mapValues(\.fields) == last.mapValues(\.fields))
        }
    }
}
