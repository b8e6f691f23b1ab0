import Foundation
import MirrorEngine
import MirrorTestKit
import Platform
import Predicates
import RecordWire
import SQLiteStore
import Stores
import Testing

/// What is to be sent, chosen by one process while another keeps the store in sync.
@Suite struct LastChoiceTests {
    private let service: SimulatedService
    private let other: Device

    init() throws {
        service = try Device.service()
        other = try Device(2, service)
    }

    private func openNotes() -> SyncSelection {
        var selection = SyncSelection()
        selection.include(entity: "Note", where: NSPredicate(format: "title != 'private'"))
        return selection
    }

    /// A round of another process begins on the store, by a choice of its own.
    private func choose(_ selection: SyncSelection?, for device: Device) throws -> MirroredStore {
        let chooser = try MirroredStore(
            store: device.store,
            platform: Environment(
                clock: device.clock, randomness: SeededRandomness(seed: 99), faults: NoFaults()),
            selecting: .given(selection))
        _ = try chooser.prepare(container: "test")
        try chooser.noteRound(error: nil, retryAt: nil)
        return chooser
    }

    private func titles() throws -> Set<String> {
        Set(
            try other.rows("Note").compactMap {
                guard case .text(let title) = try other.value($0.id, "title") else { return nil }
                return title
            })
    }

    @Test(arguments: [SelectionSource.remembered, .given(nil)])
    func whoHasTheStoreOpenSendsByTheLastChoice(_ source: SelectionSource) throws {
        let watcher = try Device(7, service, selecting: source)
        try watcher.insert("Note", ["title": .text("first")])
        try watcher.sync()
        let chooser = try choose(openNotes(), for: watcher)
        try watcher.insert("Note", ["title": .text("private")])
        try watcher.insert("Note", ["title": .text("open")])
        for _ in 0..<2 {
            try watcher.sync()
            try other.sync()
            #expect(try titles() == ["first", "open"])
        }
        for store in [watcher.mirrored, chooser] {
            let status = try store.status()
            #expect(status?.keptHere == 1 && status?.selected.parts.isEmpty == false)
        }
        // Everything again, and a new choice of one's own with the next opening.
        _ = try choose(nil, for: watcher)
        try watcher.sync()
        try other.sync()
        #expect(try titles() == ["first", "open", "private"])
    }

    @Test func onesOwnChoiceGoesBeforeAnEarlierOne() throws {
        let watcher = try Device(7, service, selecting: .given(openNotes()))
        _ = try choose(nil, for: watcher)
        try watcher.insert("Note", ["title": .text("private")])
        try watcher.sync()
        try other.sync()
        #expect(try titles().isEmpty)
        #expect(try watcher.mirrored.status()?.keptHere == 1)
    }
}
