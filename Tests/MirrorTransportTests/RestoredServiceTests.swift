import Foundation
import MirrorEngine
import MirrorTestKit
import MirrorTransport
import Platform
import RecordServer
import RecordService
import RecordWire
import SQLiteStore
import Stores
import Testing

/// Stores on disk, sessions, TLS and a service on disk that goes back to an older state.
@Suite struct RestoredServiceTests {
    @Test(arguments: [true, false])
    func editsOfTheLostTimeComeBackOverTheWire(aFirst: Bool) async throws {
        let world = try World()
        let (a, b) = (try world.store("a"), try world.store("b"))
        try await world.sync(a)
        try a.insert("first")
        try await world.sync(a)
        try await world.sync(b)
        try world.stop()
        let backup = try world.backup()
        try world.start()
        try a.insert("lost of a")
        try await world.sync(a)
        try b.insert("lost of b")
        try await world.sync(b)
        try world.stop()
        try world.restore(backup)
        try world.start()
        var notices: [String] = []
        for store in aFirst ? [a, b, a] : [b, a, b] { notices += try await world.sync(store) }
        #expect(try a.titles() == ["first", "lost of a", "lost of b"])
        #expect(try b.titles() == a.titles())
        #expect(notices.count == 2)
    }

    @Test func aServiceMadeAnewIsFilledAgainOverTheWire() async throws {
        let world = try World()
        let (a, b) = (try world.store("a"), try world.store("b"))
        try a.insert("of a")
        try await world.sync(a)
        try world.stop()
        try world.clear()
        try world.start()
        try b.insert("of b")
        try await world.sync(b)
        try await world.sync(a)
        try await world.sync(b)
        #expect(try a.titles() == ["of a", "of b"])
        #expect(try b.titles() == ["of a", "of b"])
    }

    @Test func aMistypedZoneIsRefusedAndTheEditStays() async throws {
        let world = try World()
        let a = try world.store("a")
        try await world.sync(a)
        try a.insert("edit")
        let error = await #expect(throws: MirrorError.self) {
            try await world.sync(a, zone: "tpyo")
        }
        #expect(error?.code == .otherContainer && error?.message.contains("tpyo") == true)
        let other = await #expect(throws: MirrorError.self) {
            try await world.sync(a, container: "other")
        }
        #expect(other?.code == .otherContainer)
        try await world.sync(a)
        let b = try world.store("b")
        try await world.sync(b)
        #expect(try b.titles() == ["edit"])
    }
}

/// A service over a file, started and stopped, and stores beside it.
private final class World {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("restored-\(UUID().uuidString)")
    private static let container = "iCloud.org.example"
    private var server: RecordServer?
    private var url = URL(fileURLWithPath: "/")
    private var credentials = Credentials(apiToken: "", userToken: "")
    private var backups = 0

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try start()
    }

    deinit {
        server?.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    private var file: String { folder.appendingPathComponent("records.sqlite").path }

    func start() throws {
        let service = try RecordService(path: file, platform: .system)
        let accounts = service.accounts
        if try accounts.containers().isEmpty { try accounts.createContainer(Self.container) }
        let user =
            try accounts.users().first?.userRecordName
            ?? accounts.createUser(label: "me").userRecordName
        credentials = Credentials(
            apiToken: try accounts.issueAPIToken(container: Self.container, label: "t").secret,
            userToken: try accounts.issueUserToken(userRecordName: user, label: "t").secret)
        var configuration = ServerConfiguration(
            tls: .automatic(folder: folder.appendingPathComponent("tls"), hosts: []))
        configuration.port = 0
        let server = RecordServer(service: service, configuration: configuration)
        url = try server.start()
        self.server = server
    }

    func stop() throws {
        server?.stop()
        server = nil
    }

    func backup() throws -> String {
        backups += 1
        let copy = folder.appendingPathComponent("backup\(backups)").path
        try copyFile(file, copy)
        return copy
    }

    func restore(_ backup: String) throws {
        try clear()
        try copyFile(backup, file)
    }

    func clear() throws {
        for suffix in ["", "-wal", "-shm", ".containers"] {
            try? FileManager.default.removeItem(atPath: file + suffix)
        }
    }

    private func copyFile(_ one: String, _ other: String) throws {
        for suffix in ["", "-wal", ".containers"]
        where FileManager.default.fileExists(atPath: one + suffix) {
            try FileManager.default.copyItem(atPath: one + suffix, toPath: other + suffix)
        }
    }

    func store(_ name: String) throws -> NoteStore {
        try NoteStore(folder.appendingPathComponent("\(name).sqlite"))
    }

    @discardableResult
    func sync(
        _ store: NoteStore, zone: String? = nil, container: String = "service one"
    ) async throws -> [String] {
        var configuration = ChannelConfiguration(
            serviceURL: url,
            target: RecordTarget(container: Self.container, deviceID: "device"),
            credentials: credentials)
        configuration.authorityFile = server?.authorityFile
        let session = MirrorSession(
            mirrored: try MirroredStore(store: store.rows, zoneName: zone, platform: .system),
            container: container, channel: try CurlChannel(configuration: configuration))
        return try await session.sync().notices
    }
}

/// A store of notes.
private struct NoteStore {
    let rows: SQLiteRowStore

    init(_ file: URL) throws {
        rows = try SQLiteRowStore(url: file, model: SampleModel.make(), platform: .system)
    }

    func insert(_ title: String) throws {
        guard let layout = rows.layout.entity(named: "Note"),
            let slot = layout.attributeSlot("title")
        else { throw RecordError(.badRequest, "model") }
        let key = try rows.reserveKeys(entity: layout.number, count: 1)[0]
        var row = Row(id: RowID(entity: layout.number, key: key), layout: layout)
        row.attributes[slot] = .text(title)
        var changes = ChangeSet()
        changes.inserts = [row]
        _ = try rows.save(changes)
    }

    func titles() throws -> Set<String> {
        guard let layout = rows.layout.entity(named: "Note"),
            let slot = layout.attributeSlot("title")
        else { return [] }
        return Set(
            try rows.rows(rows.ids(matching: RowQuery(entity: layout.number))).compactMap {
                if case .text(let text) = $0.attributes[slot] { text } else { nil }
            })
    }
}
