internal import Foundation

/// The Swift sources at a path: one file, or all below a folder.
struct SourceFolder {
    /// One source after porting.
    struct Ported: Sendable {
        let file: URL
        let port: SourcePort
        let isChanged: Bool
    }

    private let url: URL

    init(at url: URL) { self.url = url }

    /// Folders that hold what others wrote.
    private static let foreign: Set<String> = ["Pods", "Carthage", "DerivedData", "checkouts"]

    /// The files, in order of their paths. Hidden folders are left out. Throws where nothing is
    /// there.
    func files() throws -> [URL] {
        switch FileKind(of: url) {
        case .absent:
            throw CommandError(
                "missing", "\(url.path) is not there.", hint: "Name a Swift file or a folder.")
        case .folder: break
        default: return [url]
        }
        let below = FileManager.default.enumerator(
            at: url, includingPropertiesForKeys: [.isRegularFileKey],
            options: [.skipsHiddenFiles])
        var found: [URL] = []
        while let file = below?.nextObject() as? URL {
            if Self.foreign.contains(file.lastPathComponent) { below?.skipDescendants() }
            guard file.pathExtension == "swift" else { continue }
            let values = try? file.resourceValues(forKeys: [.isRegularFileKey])
            if values?.isRegularFile == true { found.append(file) }
        }
        return found.sorted { $0.path < $1.path }
    }

    /// Ports every file; writes those that change, each at once or not at all, unless `isTrial`.
    func port(isTrial: Bool) throws -> [Ported] {
        try files().map { file in
            let bytes = [UInt8](try Data(contentsOf: file))
            let port = SourcePort(bytes)
            let isChanged = port.text != bytes
            if isChanged, !isTrial { try Self.replace(file, by: port.text) }
            return Ported(file: file, port: port, isChanged: isChanged)
        }
    }

    /// A link leads to the new text, too, and who may read or run the file may so still.
    private static func replace(_ file: URL, by text: [UInt8]) throws {
        let place = file.resolvingSymlinksInPath()
        let facts = try FileManager.default.attributesOfItem(atPath: place.path)
        try Data(text).write(to: place, options: .atomic)
        guard let rights = facts[.posixPermissions] else { return }
        try FileManager.default.setAttributes(
            [.posixPermissions: rights], ofItemAtPath: place.path)
    }
}
