internal import Foundation
internal import Platform
internal import Stores

/// The folder beside a store in which assets wait that were downloaded and not yet applied, each
/// called by its checksum. A store in memory has one among the temporary files.
struct AssetFolder: Sendable {
    let url: URL

    private static let staleSeconds = 7.0 * 86_400

    init(besides store: URL?) {
        guard let store else {
            let word = String(Environment.system.randomness.next(), radix: 36)
            url = FileManager.default.temporaryDirectory
                .appendingPathComponent("diptych-assets-\(word)")
            return
        }
        url = SupportFolder.beside(store)
            .appendingPathComponent("DiptychAssets", isDirectory: true)
    }

    func file(of standIn: AssetStandIn) -> URL { url.appendingPathComponent(standIn.fileName) }

    /// The content, mapped; nil where it is not here, or was damaged since it came: it would count
    /// as an edit, and go to all devices. Cost: one pass over it.
    func bytes(of standIn: AssetStandIn) -> Data? {
        guard let bytes = try? Data(contentsOf: file(of: standIn), options: .alwaysMapped),
            Int64(bytes.count) == standIn.size, AssetStandIn(of: bytes) == standIn
        else { return nil }
        return bytes
    }

    func make() throws {
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Lets go of contents that were applied.
    func remove(_ standIns: some Sequence<AssetStandIn>) {
        for standIn in standIns { try? FileManager.default.removeItem(at: file(of: standIn)) }
        // Goes where nothing is left in it.
        rmdir(url.path)
    }

    /// Lets go of what nobody has asked for in a while.
    func removeStale(at now: Date) {
        let files =
            (try? FileManager.default.contentsOfDirectory(
                at: url, includingPropertiesForKeys: [.contentModificationDateKey])) ?? []
        for file in files {
            let written = try? file.resourceValues(forKeys: [.contentModificationDateKey])
                .contentModificationDate
            guard let written, now.timeIntervalSince(written) > Self.staleSeconds else { continue }
            try? FileManager.default.removeItem(at: file)
        }
    }
}
