/// Numbers as people read them.
enum Figure {
    /// "1 record", "2 records", "1,200 records".
    static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(grouped(number)) \(number == 1 ? one : many ?? one + "s")"
    }

    /// With a comma after each three digits.
    static func grouped(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }

    /// Bytes in units of 1000.
    static func bytes(_ count: Int64) -> String {
        guard count >= 1000 else { return "\(count) B" }
        let units = ["kB", "MB", "GB", "TB"]
        var value = Double(count) / 1000
        var unit = 0
        while value >= 999.95, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        return "\((value * 10).rounded() / 10) \(units[unit])"
    }

    /// How long something took.
    static func seconds(_ value: Double) -> String {
        if value < 1 { return "\(Int((value * 1000).rounded())) ms" }
        return value < 120 ? "\((value * 10).rounded() / 10) s" : wait(value)
    }

    /// How long something will take: no finer than a second.
    static func wait(_ value: Double) -> String {
        let seconds = max(1, Int(value.rounded(.up)))
        if seconds < 120 { return "\(seconds) s" }
        return seconds < 7200 ? "\((seconds + 30) / 60) min" : "\((seconds + 1800) / 3600) h"
    }
}
