/// Numbers as texts spell them in exports: in tens, or one of a few words. `Double` takes more,
/// such as `0x1p3`.
enum PlainNumber {
    private static let infinities = ["inf", "-inf"]
    private static let words = infinities + ["nan", "-nan"]

    /// Nil for a text that an export does not spell so, and for a number larger than any.
    static func double(_ text: String) -> Double? {
        guard let number = Double(text) else { return nil }
        let isPlain = text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0)
        }
        return isPlain && number.isFinite || words.contains(text) ? number : nil
    }

    /// Whether a number that is larger than any is meant so.
    static func isInfinity(_ text: String) -> Bool {
        let text = text.lowercased()
        return infinities.contains(text) || ["infinity", "-infinity", "+inf"].contains(text)
    }
}
