internal import Foundation

/// Prints lines of figures: what was measured, its floor in the same run, and the ratio.
struct Report {
    private static let columns = [34, 13, 13, 8, 13, 8]

    /// `secondFloor` names the floor of the last two columns, where there are two.
    static func title(
        _ text: String, _ unit: String = "per second", secondFloor: String? = nil
    ) {
        print("\n\(text)")
        line(["", unit, "floor", "ratio"] + (secondFloor.map { [$0, "ratio"] } ?? []))
    }

    /// The title of lines that have no floor.
    static func facts(_ text: String) { print("\n\(text)") }

    /// One line: `count` things in `seconds`, and in `floor` seconds by the floor's way.
    static func rate(
        _ name: String, _ count: Int, seconds: Double, floor: Double, secondFloor: Double? = nil
    ) {
        let own = Double(count) / seconds
        var cells = [name, grouped(own)]
        for seconds in [floor] + (secondFloor.map { [$0] } ?? []) {
            let raw = Double(count) / seconds
            cells += [grouped(raw), String(format: "%.2f", own / raw)]
        }
        line(cells)
    }

    /// One line of seconds, where less is better.
    static func time(_ name: String, seconds: Double, floor: Double) {
        line([
            name, String(format: "%.4f s", seconds), String(format: "%.4f s", floor),
            String(format: "%.2f", floor / seconds),
        ])
    }

    /// `width` is that of the name's column, where names are long.
    static func fact(_ name: String, width: Int = columns[0], _ value: String) {
        print("  " + pad(name, width) + padLeft(value, columns[1]))
        flush()
    }

    static func note(_ text: String) {
        print("  " + text)
        flush()
    }

    static func megabytes(_ bytes: Double) -> String { String(format: "%.1f MB", bytes / 1e6) }

    static func grouped(_ number: Double) -> String {
        let digits = Array(String(Int(number.rounded())))
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }

    private static func line(_ cells: [String]) {
        let texts = cells.enumerated().map { index, cell in
            index == 0 ? pad(cell, columns[0]) : padLeft(cell, columns[index])
        }
        print("  " + texts.joined())
        flush()
    }

    private static func flush() { fflush(nil) }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    private static func padLeft(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(1, width - text.count)) + text
    }
}
