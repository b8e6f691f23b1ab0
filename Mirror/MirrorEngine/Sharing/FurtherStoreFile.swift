package import Foundation
internal import ObjectModel
package import RecordWire

/// Where a store stands for what a further owner shares: `Shared.sqlite` has
/// `Shared-0123456789abcdef.sqlite` beside it, whose digits are of a digest of its zone. The
/// container and the command name them alike.
package enum FurtherStoreFile {
    package static func place(of zone: ZoneID, beside first: URL) -> URL {
        let name = [zone.ownerRecordName ?? "", zone.zoneName].joined(separator: "\0")
        let digits = Data(SHA2.sha256(Array(name.utf8))).hexadecimal.prefix(digitsCount)
        let base = first.deletingPathExtension().lastPathComponent
        let suffix = first.pathExtension.isEmpty ? "" : "." + first.pathExtension
        return first.deletingLastPathComponent()
            .appendingPathComponent("\(base)-\(digits)\(suffix)")
    }

    /// Whether a file has such a name; not whether it is there.
    package static func isBeside(_ url: URL, _ first: URL) -> Bool {
        guard url.deletingLastPathComponent().path == first.deletingLastPathComponent().path,
            url.pathExtension == first.pathExtension
        else { return false }
        let base = first.deletingPathExtension().lastPathComponent + "-"
        let name = url.deletingPathExtension().lastPathComponent
        let rest = name.dropFirst(base.count)
        return name.hasPrefix(base) && rest.utf8.count == digitsCount
            && rest.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// The files of such names that are there, by name. Throws what reading the folder throws.
    package static func all(beside first: URL) throws -> [URL] {
        let folder = first.deletingLastPathComponent()
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .map(folder.appendingPathComponent).filter { isBeside($0, first) }
    }

    /// The store beside which a file stands by its name; nil for any other name.
    package static func first(of url: URL) -> URL? {
        let name = url.deletingPathExtension().lastPathComponent.dropLast(digitsCount + 1)
        let suffix = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
        let first = url.deletingLastPathComponent().appendingPathComponent("\(name)\(suffix)")
        return !name.isEmpty && isBeside(url, first) ? first : nil
    }

    private static let digitsCount = 16
}
