/// Numbers that travel as strings.
enum WireNumber {
    static let wanted = "is no whole number of 64 bits"
    static let tooLarge = "is past the range of DOUBLE"
    static let brokenText = "is text with an escape that is no character of Unicode"
    static let misspelled = "is text that spells no number of this type"

    /// The doubles JSON cannot spell, or any number as text; nil for other text.
    static func double(_ text: String) -> Double? {
        switch text {
        case "NaN": .nan
        case "Infinity": .infinity
        case "-Infinity": -.infinity
        default: finite(text)
        }
    }

    private static func finite(_ text: String) -> Double? {
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }
}

/// Numbers that may be spelled as text. `problem` makes the error of what is wrong with one.
extension JSONValue {
    func wholeNumber(or problem: (String) -> RecordError) throws -> Int64 {
        if kind == .text {
            guard let number = Int64(try string()) else { throw problem(WireNumber.misspelled) }
            return number
        }
        guard let number = try wholeNumber() else { throw problem(WireNumber.wanted) }
        return number
    }

    func double(or problem: (String) -> RecordError) throws -> Double {
        if kind == .text {
            guard let number = WireNumber.double(try string()) else {
                throw problem(WireNumber.misspelled)
            }
            return number
        }
        guard let number = try double() else { throw problem(WireNumber.tooLarge) }
        return number
    }
}
