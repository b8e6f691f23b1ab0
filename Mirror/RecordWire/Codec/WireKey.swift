/// A member name of the protocol.
struct WireKey: ExpressibleByStringLiteral {
    private let name: StaticString

    init(stringLiteral value: StaticString) { name = value }

    var text: String { name.description }

    /// Whether a key without escapes is this name.
    @inline(__always)
    func matches(_ key: UnsafeRawBufferPointer) -> Bool {
        guard key.count == name.utf8CodeUnitCount else { return false }
        for index in 0..<key.count where key[index] != name.utf8Start[index] { return false }
        return true
    }
}
