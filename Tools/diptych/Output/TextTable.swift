/// Rows whose columns stand under each other. What a cell says is shown on one line and acts on
/// nothing, wherever it came from.
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

    mutating func add(_ cells: String...) { add(cells: cells) }
    mutating func add(cells: [String]) { rows.append(cells.map(PlainText.line)) }

    private var widths: [Int] {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], TextWidth.columns(of: cell))
            }
        }
        return widths
    }

    /// How many columns of a terminal the longest line takes.
    var width: Int { indent.count + widths.reduce(0, +) + 2 * max(widths.count - 1, 0) }

    /// The rows with two spaces between columns.
    var text: String {
        let widths = widths
        return rows.map { row in
            var line = indent
            let row = row.prefix((row.lastIndex { !$0.isEmpty } ?? 0) + 1)
            for (column, cell) in row.enumerated() {
                let padding = String(
                    repeating: " ", count: widths[column] - TextWidth.columns(of: cell))
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
