internal import Foundation

/// The text of a statement as a key: equal byte by byte, and hashed by some of its bytes, as texts
/// are long, few are alike, and one is looked up with every statement that is run.
struct StatementText: Hashable {
    private let text: String

    init(_ text: String) { self.text = text }

    static func == (left: StatementText, right: StatementText) -> Bool {
        var (left, right) = (left.text, right.text)
        return left.withUTF8 { bytes in
            right.withUTF8 { others in
                guard bytes.count == others.count else { return false }
                guard let one = bytes.baseAddress, let other = others.baseAddress else {
                    return true
                }
                return one == other || memcmp(one, other, bytes.count) == 0
            }
        }
    }

    private static let samples = 24

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { bytes in
            let step = max(1, bytes.count / Self.samples)
            var sum = UInt64(bytes.count)
            var place = 0
            while place < bytes.count {
                sum = sum &* 31 &+ UInt64(bytes[place])
                place += step
            }
            hasher.combine(sum)
        }
    }
}
