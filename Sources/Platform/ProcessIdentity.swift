internal import Foundation

/// A process of this machine, told from all others: also from a later one that has its number.
public struct ProcessIdentity: Hashable, Sendable, Codable {
    /// The number the system knows it by.
    public let number: Int32
    /// When it began, in the kernel's ticks since the machine started.
    public let began: UInt64
    /// Names the machine's start.
    public let boot: String

    /// The process this runs in.
    public static let current = ProcessIdentity(of: getpid()) ?? ProcessIdentity(unknown: getpid())

    /// The process that has a number now; nil where there is none, or none can be seen.
    public init?(of number: Int32) {
        guard let began = Self.began(number), let boot = Self.boot() else { return nil }
        (self.number, self.began, self.boot) = (number, began, boot)
    }

    private init(unknown number: Int32) { (self.number, began, boot) = (number, 0, "") }

    /// Whether it still runs. Cost: two small files of the kernel's.
    public var isAlive: Bool { ProcessIdentity(of: number) == self }

    /// The 22nd word of the kernel's line; the second is a name that may hold anything.
    private static func began(_ number: Int32) -> UInt64? {
        guard let line = read("/proc/\(number)/stat"), let end = line.lastIndex(of: ")") else {
            return nil
        }
        let words = line[line.index(after: end)...].split(separator: " ")
        return words.count > 19 ? UInt64(words[19]) : nil
    }

    private static func boot() -> String? {
        read("/proc/sys/kernel/random/boot_id")?.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func read(_ path: String) -> String? {
        try? String(contentsOfFile: path, encoding: .utf8)
    }
}
