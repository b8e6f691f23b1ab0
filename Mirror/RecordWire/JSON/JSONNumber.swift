/// Values of numbers whose grammar is sound.
struct JSONNumber {
    private var isNegative = false
    /// The digits of the number without the zeros before them, as one whole number; nil where they
    /// are too many.
    private var digits: UInt64? = 0
    /// The power of ten by which `digits` is to be multiplied.
    private var exponent = 0
    private var isFraction = false
    private static let exponentMax = 1 << 40

    /// Exact: nil for a number with a fraction, and for one past 64 bits.
    static func wholeNumber(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        JSONNumber(bytes).wholeNumber
    }

    /// The nearest double; nil for a number past the range.
    static func double(_ bytes: UnsafeRawBufferPointer) -> Double? {
        if let exact = JSONNumber(bytes).exactDouble { return exact }
        guard let double = Double(String(decoding: bytes, as: UTF8.self)), double.isFinite else {
            return nil
        }
        return double
    }

    private init(_ bytes: UnsafeRawBufferPointer) {
        /// Zeros at the end that may be no part of the number's value.
        var zeros = 0
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "0"):
                zeros += 1
                if isFraction { exponent -= 1 }
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                exponent += Self.exponent(UnsafeRawBufferPointer(rebasing: bytes[(index + 1)...]))
                index = bytes.count
            default:
                take(bytes[index] - UInt8(ascii: "0"), after: zeros)
                zeros = 0
                if isFraction { exponent -= 1 }
            }
            index += 1
        }
        exponent += zeros
    }

    /// Adds a digit that is not zero and stands behind `zeros` others.
    private mutating func take(_ digit: UInt8, after zeros: Int) {
        for next in repeatElement(0, count: zeros) { append(UInt8(next)) }
        append(digit)
    }

    private mutating func append(_ digit: UInt8) {
        guard let present = digits else { return }
        let (shifted, isTooLarge) = present.multipliedReportingOverflow(by: 10)
        let (sum, hasCarry) = shifted.addingReportingOverflow(UInt64(digit))
        digits = isTooLarge || hasCarry ? nil : sum
    }

    private static func exponent(_ bytes: UnsafeRawBufferPointer) -> Int {
        var exponent = 0
        for byte in bytes where byte != UInt8(ascii: "-") && byte != UInt8(ascii: "+") {
            exponent = min(exponent * 10 + Int(byte - UInt8(ascii: "0")), exponentMax)
        }
        return bytes.first == UInt8(ascii: "-") ? -exponent : exponent
    }

    private var wholeNumber: Int64? {
        guard var size = digits else { return nil }
        if size == 0 { return 0 }
        guard (0...18).contains(exponent) else { return nil }
        for _ in 0..<exponent {
            let (product, isTooLarge) = size.multipliedReportingOverflow(by: 10)
            guard !isTooLarge else { return nil }
            size = product
        }
        if isNegative, size == Int64.min.magnitude { return .min }
        guard let number = Int64(exactly: size) else { return nil }
        return isNegative ? -number : number
    }

    /// Ten to these powers is exact as a double, and so is a whole number of 53 bits; one
    /// operation with the two is rounded as it should be.
    private static let powers: [Double] = {
        var powers = [1.0]
        while powers.count <= 22 { powers.append((powers.last ?? 1) * 10) }
        return powers
    }()

    private var exactDouble: Double? {
        guard let digits, digits < 1 << 53, exponent.magnitude < Self.powers.count else {
            return nil
        }
        let power = Self.powers[Int(exponent.magnitude)]
        let size = exponent < 0 ? Double(digits) / power : Double(digits) * power
        return isNegative ? -size : size
    }
}
