internal import Foundation

/// What a text begins with, read as `NSString` reads numbers and flags: the leading part counts,
/// and where there is none, zero or NO. Apple's model compiler reads a model file's values so.
struct LeadingValue {
    private let scalars: [Unicode.Scalar]

    init(_ text: String) {
        scalars = Array(text.trimmingCharacters(in: .whitespacesAndNewlines).unicodeScalars)
    }

    /// Whether all of the text is a number, so that nothing of it is passed over.
    var isNumber: Bool { numberEnd == scalars.count && numberEnd > 0 }

    /// The leading decimal number as text; nil where there is none. `0x10`, `inf` and `nan` are
    /// none.
    var number: String? { numberEnd == 0 ? nil : text(upTo: numberEnd) }

    /// The leading digits with their sign, bounded by the type; nil where there are none.
    func integer<Number: FixedWidthInteger>(as _: Number.Type = Number.self) -> Number? {
        let end = digits(from: signEnd)
        guard end > signEnd else { return nil }
        if let number = Number(text(upTo: end)) { return number }
        return scalars[0] == "-" ? .min : .max
    }

    /// Whether the text begins with Y, T or a digit other than 0, after a sign and zeros.
    var flag: Bool {
        guard let first = scalars[signEnd...].first(where: { $0 != "0" }) else { return false }
        return "YyTt123456789".unicodeScalars.contains(first)
    }

    private var signEnd: Int {
        guard let first = scalars.first, first == "-" || first == "+" else { return 0 }
        return 1
    }

    /// Where the leading number ends; 0 where there is none.
    private var numberEnd: Int {
        let whole = digits(from: signEnd)
        var end = whole
        var count = whole - signEnd
        if whole < scalars.count, scalars[whole] == "." {
            end = digits(from: whole + 1)
            count += end - whole - 1
        }
        guard count > 0 else { return 0 }
        guard end < scalars.count, scalars[end] == "e" || scalars[end] == "E" else { return end }
        var power = end + 1
        if power < scalars.count, scalars[power] == "-" || scalars[power] == "+" { power += 1 }
        let powerEnd = digits(from: power)
        return powerEnd > power ? powerEnd : end
    }

    private func digits(from start: Int) -> Int {
        var end = start
        while end < scalars.count, ("0"..."9").contains(scalars[end]) { end += 1 }
        return end
    }

    private func text(upTo end: Int) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[..<end].drop { $0 == "+" })
        return String(text)
    }
}
