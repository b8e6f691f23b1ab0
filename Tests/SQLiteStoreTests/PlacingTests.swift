import Dispatch
import Foundation
import Platform
import Stores
import Testing

@testable import SQLiteStore

/// Finished stores that are given one place, by two programs at the same moment.
@Suite struct PlacingTests {
    private let scratch: Scratch
    private var place: URL { scratch.url("store.sqlite") }

    init() throws { scratch = try Scratch() }

    /// A finished store with one large value of `bytes` at a place of its own.
    private func draft(_ name: String, _ byte: UInt8, isLarge: Bool = true) throws -> URL {
        let url = scratch.url(name)
        let fixture = try StoreFixture(TestModel.kinds(), url: url)
        let bytes = Data(repeating: byte, count: isLarge ? 200_000 : 10)
        try fixture.insert("Kinds", ["large": .data(bytes)])
        return url
    }

    /// The first bytes of what the placed store holds; nil for a value whose file is gone.
    private func found() throws -> [UInt8?] {
        let fixture = try StoreFixture(TestModel.kinds(), url: place)
        let layout = try fixture.layout("Kinds")
        let slot = try #require(layout.attributes.firstIndex { $0.name == "large" })
        return try fixture.store.rows(matching: RowQuery(entity: layout.number)).map { row in
            guard case .data(let data) = row.attributes[slot], row.missing.isEmpty else {
                return nil
            }
            return data.first
        }
    }

    @Test(arguments: ["migrate.valuesPlaced", "migrate.placed"])
    func whatIsBeingPlacedIsNobodysRemains(point: String) throws {
        let draft = try draft("draft", 1)
        let place = place
        let other = Bystander(at: point) { try? SQLiteRowStore.clearRemains(at: place) }
        var platform = Environment.system
        platform.faults = other
        try SQLiteRowStore.place(draft, at: place, platform: platform)
        other.finish()
        #expect(try found() == [1])
    }

    @Test(arguments: [(true, true), (true, false), (false, true)])
    func whoComesSecondIsToldAndHarmsNothing(first: Bool, second: Bool) throws {
        let winner = try draft("winner", 1, isLarge: first)
        let loser = try draft("loser", 2, isLarge: second)
        try SQLiteRowStore.place(winner, at: place)
        let error = #expect(throws: StoreError.self) {
            try SQLiteRowStore.place(loser, at: place)
        }
        #expect(error?.fields["taken"] == "yes")
        #expect(try found() == [1])
        let values = scratch.url(".store_SUPPORT")
        #expect(FileManager.default.fileExists(atPath: values.path) == first)
    }

    /// Two that place at the same moment: one wins whole.
    @Test func oneOfTwoWinsWhole() throws {
        let drafts = try (0..<2).map { try draft("draft\($0)", UInt8($0 + 1)) }
        let place = place
        let errors = Lock<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { turn in
            do {
                try SQLiteRowStore.place(drafts[turn], at: place)
            } catch {
                errors.withLock { $0.append(error) }
            }
        }
        #expect(errors.withLock { $0.count } == 1)
        #expect(errors.withLock { ($0.first as? StoreError)?.fields["taken"] } == "yes")
        let values = try found()
        #expect(values == [1] || values == [2])
    }
}

/// Somebody else who does something when the point is passed: before it goes on, or, where they are
/// kept waiting, after.
private final class Bystander: FaultPoints {
    private let point: String
    private let act: @Sendable () -> Void
    private let done = DispatchGroup()

    init(at point: String, _ act: @escaping @Sendable () -> Void) {
        self.point = point
        self.act = act
    }

    func reach(_ name: String) throws {
        guard name == point else { return }
        DispatchQueue.global().async(group: done) { self.act() }
        _ = done.wait(timeout: .now() + 1)
    }

    func finish() { done.wait() }
}
