import Foundation
import RecordService
import RecordWire

/// Short words for what tests do with assets.
extension ServiceFixture {
    static let picture = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    /// The key in an address of `assets/upload` for this caller.
    func uploadKey() throws -> String {
        let request = UploadAssets(
            tokens: [.init(recordName: "r", recordType: "Note", fieldName: "picture")],
            zoneID: Self.zone)
        guard case .assetUploads(let addresses) = try send(.uploadAssets(request)) else {
            throw WrongAnswer()
        }
        return try Self.key(in: addresses[0].url)
    }

    static func key(in address: String?) throws -> String {
        guard let address, let query = address.split(separator: "=", maxSplits: 1).last else {
            throw WrongAnswer()
        }
        return String(query)
    }

    /// Uploads `data` in pieces, and returns what a record may name it by.
    func upload(_ data: Data = ServiceFixture.picture) throws -> RecordAsset {
        let upload = try service.beginUpload(key: try uploadKey(), announced: Int64(data.count))
        try Self.send(data, to: upload)
        return try upload.finish()
    }

    static func send(_ bytes: Data, to upload: AssetUpload) throws {
        // A slice counts on from where it was cut.
        let data = Data(bytes)
        for start in stride(from: 0, to: data.count, by: 7_000) {
            try data[start..<min(data.count, start + 7_000)].withUnsafeBytes {
                try upload.take($0)
            }
        }
    }

    /// A record that names an asset.
    func note(_ name: String, _ asset: RecordAsset?) -> Record {
        Record(
            recordName: name, recordType: "Note",
            fields: ["picture": asset.map { .asset($0) }, "title": .string("x")])
    }

    func asset(of name: String) throws -> RecordAsset {
        guard let record = try lookup([name])[0].record,
            case .asset(let asset)?? = record.fields["picture"]
        else { throw WrongAnswer() }
        return asset
    }

    /// The bytes behind an asset's address.
    func content(of asset: RecordAsset) throws -> Data {
        let file = try service.openAsset(key: try Self.key(in: asset.downloadURL)).file
        return try FileHandle(fileDescriptor: file.descriptor).readToEnd() ?? Data()
    }

    func code(_ body: () throws -> Void) -> RecordError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? RecordError)?.code
        }
    }
}

/// A folder with a service's database, and the files of its assets.
final class AssetFolder {
    let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("diptych-assets-test-\(UUID().uuidString)")

    /// The rows, in the folder or beside it.
    let storage: ServiceStorage

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let place = try StoragePlace.current.make()
        guard case .postgres(let address, _) = place else {
            storage = .file(url.appendingPathComponent("records.sqlite").path)
            return
        }
        storage = .postgres(
            address, assets: url.appendingPathComponent("records.sqlite-assets").path)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var database: String { url.appendingPathComponent("records.sqlite").path }
    var assets: URL { url.appendingPathComponent("records.sqlite-assets") }

    /// Paths of kept files, below the folder of assets.
    func kept() -> [String] { files().filter { !$0.hasPrefix("incoming/") } }
    func incoming() -> [String] { files().filter { $0.hasPrefix("incoming/") } }

    private func files() -> [String] {
        (FileManager.default.enumerator(atPath: assets.path)?.allObjects as? [String] ?? [])
            .filter { path in
                var isFolder: ObjCBool = false
                _ = FileManager.default.fileExists(
                    atPath: assets.appendingPathComponent(path).path, isDirectory: &isFolder)
                return !isFolder.boolValue
            }
    }
}
