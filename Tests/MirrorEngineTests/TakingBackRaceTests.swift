import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteStore
import Stores
import Testing

/// Two processes over one store: what one sends is taken back in the other while it is under way.
@Suite final class TakingBackRaceTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("taking-back-\(UUID().uuidString)")
    private let service: SimulatedService
    private let app: Device
    private let program: Device
    private let other: Device
    private let note: RowID
    private let name: String

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let service = try Device.service()
        let file = folder.appendingPathComponent("store.sqlite")
        app = try Device(1, service, file: file)
        program = try Device(2, service, file: file)
        other = try Device(3, service)
        note = try app.insert("Note", ["title": .text("old")])
        let tag = try app.insert("Tag", ["label": .text("t")])
        try app.insert("Tag", ["label": .text("u")])
        try app.pair(note, "tags", with: tag)
        self.service = service
        try settle([app, program, other])
        name = try #require(try app.mirrored.recordName(of: note))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    enum Answer: CaseIterable {
        case taken, refused, lost
    }

    /// What the app sends next is answered after `body`.
    private func whileSending(_ answer: Answer, _ body: @escaping () throws -> Void) throws {
        var isFirst = true
        app.refuseAll()
        let refusing = app.intercept
        app.intercept = { [service, app] request in
            guard case .modifyRecords = request, isFirst else { return nil }
            isFirst = false
            try body()
            guard answer == .lost else { return answer == .refused ? try refusing(request) : nil }
            _ = try service.handle(request, from: app.mirrored.deviceID())
            throw Missing(name: "answer")
        }
        _ = try? app.sync()
        #expect(!isFirst)
    }

    /// The program is refused what the app has under way, and its user takes that back.
    private func refusingProgram(_ takeBack: @escaping (MirroredStore) throws -> Void) throws {
        program.refuseAll()
        try program.sync()
        program.intercept = { _ in nil }
        try takeBack(program.mirrored)
    }

    private func expectRest() throws {
        try settle([app, program, other])
        for device in [app, program, other] {
            let status = try #require(try device.mirrored.status())
            #expect(status.isInSync && status.refusals.isEmpty)
        }
    }

    @Test(arguments: Answer.allCases) func anEdit(answer: Answer) throws {
        try app.set(note, "title", .text("mine"))
        try whileSending(answer) { [self] in
            try refusingProgram { try $0.restore(refusedEditOf: self.name) }
        }
        try expectRest()
        for device in [app, other] {
            #expect(try device.value(device.only("Note"), "title") == .text("old"))
        }
    }

    @Test(arguments: Answer.allCases) func anEditThatItsUserTakesBack(answer: Answer) throws {
        try app.set(note, "title", .text("mine"))
        try whileSending(answer) { [self] in
            try program.set(note, "title", .text("old"))
            try program.sync()
        }
        try expectRest()
        for device in [app, other] {
            #expect(try device.value(device.only("Note"), "title") == .text("old"))
        }
    }

    @Test(arguments: [Answer.taken, .refused]) func aDeletion(answer: Answer) throws {
        try app.delete(note)
        try whileSending(answer) { [self] in
            try refusingProgram { try $0.restore(refusedDeletionOf: self.name) }
        }
        try expectRest()
        for device in [app, other] {
            let note = try device.only("Note")
            #expect(try device.rows("Note").count == 1)
            #expect(try device.value(note, "title") == .text("old"))
        }
        #expect(try app.members(app.only("Note"), "tags").count == 1)
        #expect(try other.members(other.only("Note"), "tags").count == 1)
    }

    @Test(arguments: Answer.allCases, [true, false])
    func aPair(answer: Answer, isAdded: Bool) throws {
        let tag = try #require(
            try app.rows("Tag").first {
                try app.value($0.id, "label") == .text(isAdded ? "u" : "t")
            })
        try app.pair(note, "tags", with: tag.id, adding: isAdded)
        try whileSending(answer) { [self] in
            try refusingProgram { _ = try $0.restoreRefusedEdits() }
        }
        try expectRest()
        let counts = try [app, other].map { try $0.members($0.only("Note"), "tags").count }
        #expect(counts[0] == counts[1])
        if answer == .refused { #expect(counts == [1, 1]) }
    }

    @Test(arguments: Answer.allCases, [true, false])
    func aPairThatItsUserTakesBack(answer: Answer, isAdded: Bool) throws {
        let tag = try #require(
            try app.rows("Tag").first {
                try app.value($0.id, "label") == .text(isAdded ? "u" : "t")
            })
        try app.pair(note, "tags", with: tag.id, adding: isAdded)
        try whileSending(answer) { [self] in
            try program.pair(note, "tags", with: tag.id, adding: !isAdded)
            try program.sync()
        }
        try expectRest()
        for device in [app, other] {
            #expect(try device.members(device.only("Note"), "tags").count == 1)
        }
    }

    @Test(arguments: Answer.allCases) func aDeletionThatItsUserUndoes(answer: Answer) throws {
        let row = try #require(try app.rows("Note").first)
        try app.delete(note)
        try whileSending(answer) { [self] in
            var changes = ChangeSet()
            changes.inserts = [row]
            _ = try program.store.save(changes)
            try program.sync()
        }
        try expectRest()
        for device in [app, other] {
            #expect(try device.rows("Note").count == 1)
            #expect(try device.value(device.only("Note"), "title") == .text("old"))
        }
    }
}
