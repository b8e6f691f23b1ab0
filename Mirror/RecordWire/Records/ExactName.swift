internal import Foundation

/// A name compared by its bytes, as files and tables compare it.
///
/// Swift takes an accented letter as one scalar and the same as two for equal text. They are two
/// records and two zones, so names are kept in sets and dictionaries under this.
public struct ExactName: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let text: String

    public init(_ text: String) { self.text = text }
    public init(stringLiteral value: String) { text = value }

    public static func == (one: ExactName, other: ExactName) -> Bool {
        one.text.isExactly(other.text)
    }

    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }

    public var description: String { text }
}

extension String {
    /// Whether both are spelled by the same bytes.
    public func isExactly(_ other: String) -> Bool {
        let isEqual = utf8.withContiguousStorageIfAvailable { own in
            other.utf8.withContiguousStorageIfAvailable { other in
                guard own.count == other.count else { return false }
                guard let first = own.baseAddress, let second = other.baseAddress else {
                    return own.isEmpty
                }
                return memcmp(first, second, own.count) == 0
            }
        }
        return (isEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
