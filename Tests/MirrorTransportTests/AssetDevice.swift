import Foundation
import MirrorEngine
import MirrorTestKit
import MirrorTransport
import ObjectModel
import Platform
import RecordWire
import SQLiteStore
import Stores

/// A store of notes with pictures in files of their own.
final class AssetDevice {
    let rows: SQLiteRowStore
    let mirrored: MirroredStore
    private let world: AssetWorld
    private let file: URL

    struct Note: Equatable {
        var picture: Data?
        var text: String?
    }

    init(_ name: String, _ world: AssetWorld) throws {
        self.world = world
        file = world.folder.appendingPathComponent("\(name).sqlite")
        rows = try SQLiteRowStore(url: file, model: Self.model(), platform: .system)
        mirrored = try MirroredStore(store: rows, platform: .system)
    }

    private static func model() -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "Note"
        let picture = SampleModel.attribute("picture", .binaryDataAttributeType)
        picture.allowsExternalBinaryDataStorage = true
        entity.properties = [
            SampleModel.attribute("title", .stringAttributeType), picture,
            SampleModel.attribute("text", .stringAttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    @discardableResult
    func sync(through channel: (any RecordChannel)? = nil) async throws -> SyncSummary {
        let session = MirrorSession(
            mirrored: mirrored, container: "service one",
            channel: try channel ?? world.channel())
        return try await session.sync()
    }

    /// Downloads that were not applied.
    func waitingFiles() throws -> [String] {
        let name = file.deletingPathExtension().lastPathComponent
        let folder = file.deletingLastPathComponent()
            .appendingPathComponent(".\(name)_SUPPORT/DiptychAssets")
        return (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    }

    // MARK: Rows

    private var layout: EntityLayout { rows.layout.entities[0] }

    private func slot(_ name: String) -> Int { layout.attributeSlot(name) ?? 0 }

    func insert(_ title: String, picture: Data?, text: String) throws {
        let key = try rows.reserveKeys(entity: layout.number, count: 1)[0]
        var row = Row(id: RowID(entity: layout.number, key: key), layout: layout)
        row.attributes[slot("title")] = .text(title)
        row.attributes[slot("picture")] = picture.map { .data($0) } ?? .null
        row.attributes[slot("text")] = .text(text)
        var changes = ChangeSet()
        changes.inserts = [row]
        _ = try rows.save(changes)
    }

    func set(picture: Data?, of title: String) throws {
        try set(slot("picture"), picture.map { .data($0) } ?? .null, of: title)
    }

    func set(text: String, of title: String) throws {
        try set(slot("text"), .text(text), of: title)
    }

    private func set(_ slot: Int, _ value: AttributeValue, of title: String) throws {
        var update = RowUpdate(id: try row(title).id)
        update.attributes = [(slot, value)]
        var changes = ChangeSet()
        changes.updates = [update]
        _ = try rows.save(changes)
    }

    func delete(_ title: String) throws {
        var changes = ChangeSet()
        changes.deletes = [RowDelete(id: try row(title).id)]
        _ = try rows.save(changes)
    }

    func note(_ title: String) throws -> Note {
        let row = try row(title)
        var note = Note()
        if case .data(let data) = row.attributes[slot("picture")] { note.picture = data }
        if case .text(let text) = row.attributes[slot("text")] { note.text = text }
        return note
    }

    func titles() throws -> [String] {
        try all().compactMap {
            if case .text(let text) = $0.attributes[slot("title")] { text } else { nil }
        }.sorted()
    }

    private func all() throws -> [Row] {
        try rows.rows(rows.ids(matching: RowQuery(entity: layout.number)))
    }

    private func row(_ title: String) throws -> Row {
        guard let row = try all().first(where: { $0.attributes[slot("title")] == .text(title) })
        else { throw RecordError(.notFound, "no such note") }
        return row
    }
}

/// A channel that fails where a test wants it to, and counts uploads.
final class BrokenChannel: RecordChannel {
    private let channel: CurlChannel
    private let intercept: @Sendable (RecordRequest) throws -> Void
    let uploads = Lock(0)
    /// The files of which the bytes of uploads are mappings; "" for bytes in memory.
    let sources = Lock<[String]>([])
    let refusesDownloads = Lock(false)
    let keepsAssets = Lock(true)

    init(
        _ channel: CurlChannel,
        intercept: @escaping @Sendable (RecordRequest) throws -> Void = { _ in }
    ) {
        self.channel = channel
        self.intercept = intercept
    }

    func send(_ request: RecordRequest) async throws -> RecordResponse {
        try intercept(request)
        return try await channel.send(request)
    }

    func operationsMax() async throws -> Int? { try await channel.operationsMax() }

    func assetBytesMax() async throws -> Int64? {
        keepsAssets.withLock { $0 } ? try await channel.assetBytesMax() : nil
    }

    func upload(_ bytes: Data, to address: String) async throws -> RecordAsset {
        uploads.withLock { $0 += 1 }
        let source = Self.file(behind: bytes)
        sources.withLock { $0.append(source) }
        return try await channel.upload(bytes, to: address)
    }

    /// The file that the process has mapped where some bytes are; "" where it has none.
    static func file(behind bytes: Data) -> String {
        // Until the end they are mapped.
        defer { withExtendedLifetime(bytes) {} }
        let place = bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        guard let maps = fopen("/proc/self/maps", "r") else { return "" }
        defer { fclose(maps) }
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        defer { free(line) }
        while getline(&line, &room, maps) > 0, let text = line.map({ String(cString: $0) }) {
            let words = text.split(whereSeparator: \.isWhitespace)
            let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard ends.count == 2, ends[0] <= place, place < ends[1] else { continue }
            return words.count > 5 ? String(words[5]) : ""
        }
        return ""
    }

    func download(_ asset: RecordAsset, to file: URL) async throws {
        guard !refusesDownloads.withLock({ $0 }) else {
            throw RecordError(.assetNotFound, "The test has none.")
        }
        try await channel.download(asset, to: file)
    }
}
