/// The version of a client's app or model: numbers with dots between, such as `7` or `2.10.1`, by
/// which a service knows what the client still needs. (SERVICE §4)
public struct ClientVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Without zeros at the end, so that 2 and 2.0 are one.
    private let numbers: [UInt32]

    /// In requests.
    public static let header = "X-Diptych-Client-Version"
    private static let numbersMax = 4
    private static let digitsMax = 9

    /// nil for what is no version: more than four numbers, or one of more than nine digits.
    public init?(_ text: some StringProtocol) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...Self.numbersMax).contains(parts.count) else { return nil }
        var numbers: [UInt32] = []
        for part in parts {
            let isNumber = part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard isNumber, part.count <= Self.digitsMax,
                let number = UInt32(String(decoding: part, as: UTF8.self))
            else { return nil }
            numbers.append(number)
        }
        while numbers.count > 1, numbers.last == 0 { numbers.removeLast() }
        self.numbers = numbers
    }

    public static func < (one: Self, other: Self) -> Bool {
        one.numbers.lexicographicallyPrecedes(other.numbers)
    }

    public var description: String { numbers.map(String.init).joined(separator: ".") }
}
