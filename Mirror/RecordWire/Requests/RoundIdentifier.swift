/// Names the sync round that a request belongs to, so that the logs of a device and of its service
/// can be laid side by side. A channel sends it as the header `X-Diptych-Round`.
public enum RoundIdentifier {
    /// Of the round that the current task runs; nil outside of rounds.
    @TaskLocal public static var current: String?

    /// The header's name.
    public static let header = "X-Diptych-Round"

    /// The most bytes that a service keeps of one.
    public static let bytesMax = 64

    /// What a log may hold of a header's value: letters, digits and dashes; nil for anything else.
    public static func taken(from text: String?) -> String? {
        guard let text, (1...bytesMax).contains(text.utf8.count),
            text.utf8.allSatisfy({ isLegal($0) })
        else { return nil }
        return text
    }

    private static func isLegal(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x2D, 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
