/// Rows whose columns stand under each other.
struct TextTable {
    private var rows: [[String]] = []
    private let rightAligned: Set<Int>
    private let indent: String

    /// Columns of `rightAligned` are for numbers.
    init(rightAligned: Set<Int> = [], indent: Int = 0) {
        self.rightAligned = rightAligned
        self.indent = String(repeating: " ", count: indent)
    }

    var isEmpty: Bool { rows.isEmpty }

    mutating func add(_ cells: String...) { rows.append(cells) }
    mutating func add(cells: [String]) { rows.append(cells) }

    private var widths: [Int] {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return widths
    }

    /// How many characters the longest line has.
    var width: Int { indent.count + widths.reduce(0, +) + 2 * max(widths.count - 1, 0) }

    /// The rows with two spaces between columns.
    var text: String {
        let widths = widths
        return rows.map { row in
            var line = indent
            let row = row.prefix((row.lastIndex { !$0.isEmpty } ?? 0) + 1)
            for (column, cell) in row.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                let isLast = column == row.count - 1
                if rightAligned.contains(column) {
                    line += padding + cell
                } else {
                    line += isLast ? cell : cell + padding
                }
                if !isLast { line += "  " }
            }
            return line
        }.joined(separator: "\n")
    }
}

/// Numbers as people read them.
enum Figure {
    /// "1 record", "2 records".
    static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(number) \(number == 1 ? one : many ?? one + "s")"
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

    static func seconds(_ value: Double) -> String {
        value < 10 ? "\(Int((value * 1000).rounded())) ms" : "\((value * 10).rounded() / 10) s"
    }
}
