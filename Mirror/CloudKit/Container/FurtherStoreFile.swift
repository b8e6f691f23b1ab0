internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import RecordWire

/// Where the container puts a store beside another one: `Shared.sqlite` has
/// `Shared-0123456789abcdef.sqlite` beside it, whose digits are of a digest of its zone.
enum FurtherStoreFile {
    static func place(of zone: ZoneID, beside first: URL) -> URL {
        let name = [zone.ownerRecordName ?? "", zone.zoneName].joined(separator: "\0")
        let digits = Data(SHA2.sha256(Array(name.utf8))).hexadecimal.prefix(digitsCount)
        let base = first.deletingPathExtension().lastPathComponent
        let suffix = first.pathExtension.isEmpty ? "" : "." + first.pathExtension
        return first.deletingLastPathComponent()
            .appendingPathComponent("\(base)-\(digits)\(suffix)")
    }

    /// Whether a file has such a name; not whether it is there.
    static func isBeside(_ url: URL, _ first: URL) -> Bool {
        guard url.deletingLastPathComponent().path == first.deletingLastPathComponent().path,
            url.pathExtension == first.pathExtension
        else { return false }
        let base = first.deletingPathExtension().lastPathComponent + "-"
        let name = url.deletingPathExtension().lastPathComponent
        let rest = name.dropFirst(base.count)
        return name.hasPrefix(base) && rest.utf8.count == digitsCount
            && rest.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static let digitsCount = 16
}
