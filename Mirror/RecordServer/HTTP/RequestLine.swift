internal import Foundation

/// The first line of a request where the library keeps it, each word of which it ends with a NUL in
/// the place of the space behind.
struct RequestLine {
    let method: UnsafePointer<CChar>
    /// Percent-decoded in its place, and so perhaps shorter than it came.
    let target: UnsafePointer<CChar>
    let version: UnsafePointer<CChar>

    private static let bytesMax = 64 << 10

    /// Whether bytes stand behind the end of a word as the library reads it: after a NUL of the
    /// sender's. `targetBytes`: how many the target had when it came.
    func hidesBytes(targetBytes: Int) -> Bool {
        Self.hidesBytes(UnsafeRawPointer(method) + strlen(method), target)
            || Self.hidesBytes(UnsafeRawPointer(target) + targetBytes, version)
    }

    private static func hidesBytes(_ end: UnsafeRawPointer, _ next: UnsafePointer<CChar>) -> Bool {
        let count = UnsafeRawPointer(next) - end
        guard (1...bytesMax).contains(count) else { return false }
        let gap = UnsafeRawBufferPointer(start: end, count: count)
        return gap.contains { $0 > 0x20 } || gap.count { $0 == 0 } > 1
    }
}
