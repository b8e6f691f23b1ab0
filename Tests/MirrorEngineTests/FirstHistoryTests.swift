import Foundation
import MirrorEngine
import MirrorTestKit
import Platform
import RecordWire
import SQLiteStore
import Stores
import Testing

/// A store that had objects before it had a history: its first edit is an edit, also where the
/// objects are under way for the first time meanwhile.
@Suite struct FirstHistoryTests {
    private let service: SimulatedService
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("first-history-\(UUID().uuidString)")

    init() throws {
        service = try Device.service()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// A device over a file that was never mirrored, with one note.
    private func device() throws -> Device {
        let file = folder.appendingPathComponent("a.sqlite")
        let model = SampleModel.make()
        do {
            var options = SQLiteStoreOptions()
            options.tracksHistory = false
            let store = try SQLiteRowStore(
                url: file, model: model, options: options, platform: .system)
            let note = try #require(store.layout.entity(named: "Note"))
            let keys = try store.reserveKeys(entity: note.number, count: 1)
            var row = Row(
                id: RowID(entity: note.number, key: try #require(keys.first)), layout: note)
            row.attributes[try #require(note.attributeSlot("title"))] = .text("old")
            var changes = ChangeSet()
            changes.inserts = [row]
            _ = try store.save(changes)
        }
        return try Device(1, service, model: model, file: file)
    }

    /// Edits the note once, while the first request of the kind is under way.
    private func edit(_ device: Device, during isRight: @escaping (RecordRequest) -> Bool) {
        var isDone = false
        device.intercept = { [unowned device] request in
            guard isRight(request), !isDone else { return nil }
            isDone = true
            try device.set(device.only("Note"), "title", .text("new"))
            return nil
        }
    }

    private func isWrite(_ request: RecordRequest) -> Bool {
        if case .modifyRecords = request { true } else { false }
    }

    private func isReading(_ request: RecordRequest) -> Bool {
        if case .zoneChanges = request { true } else { false }
    }

    @Test(arguments: [true, false])
    func theFirstEditIsSentAlsoWhereItMeetsTheFirstExport(whileWriting: Bool) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (a, b) = (try device(), try Device(2, service))
        edit(a) { whileWriting ? isWrite($0) : isReading($0) }
        try settle([a, b])
        #expect(try a.value(a.only("Note"), "title") == .text("new"))
        #expect(try b.value(b.only("Note"), "title") == .text("new"))
    }

    /// Looking at every object again would cost as much as the store is large.
    @Test func theFirstEditIsNoReasonToLookAtAllObjects() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let a = try device()
        try settle([a])
        try a.set(a.only("Note"), "title", .text("new"))
        try a.insert("Tag")
        #expect(try a.mirrored.analyse().waiting == 2)
        #expect(try a.sync().exported == 2)
    }
}
