import Foundation

/// The symbols' part of docs/COMPATIBILITY.md.
struct CompatibilityPage {
    static let path = "docs/COMPATIBILITY.md"
    /// What stands above this heading is written by hand.
    static let heading = "## Symbol by symbol"

    let table: SymbolTable

    /// From the heading to the end of the page.
    var text: String {
        var lines = [Self.heading, "", totals, ""]
        lines += ["| area | there | different | absent | of |", "|---|---|---|---|---|"]
        lines += table.areas.map(row) + [""]
        for area in table.areas { lines += section(area) }
        return lines.dropLast().joined(separator: "\n") + "\n"
    }

    private func count(_ standing: SymbolTable.Standing, in area: String? = nil) -> Int {
        table.symbols.count { $0.standing == standing && (area == nil || $0.area == area) }
    }

    private var totals: String {
        let declared = table.symbols.count - count(.absent)
        let percent = Double(declared * 1000 / table.symbols.count) / 10
        return "\(declared) of Apple's \(table.symbols.count) current symbols are declared "
            + "(\(percent) %), \(count(.different)) of them behave differently."
    }

    private func row(of area: String) -> String {
        let all = table.symbols.count { $0.area == area }
        return "| \(area) | \(count(.there, in: area)) | \(count(.different, in: area)) "
            + "| \(count(.absent, in: area)) | \(all) |"
    }

    private func section(_ area: String) -> [String] {
        let symbols = table.symbols.filter { $0.area == area }
        var lines = ["### \(area.prefix(1).uppercased() + area.dropFirst())", ""]
        let apart = symbols.filter { $0.standing != .there }
        if !apart.isEmpty {
            lines += ["| symbol | | why |", "|---|---|---|"]
            lines += apart.map { "| `\($0.name)` | \($0.standing.rawValue) | \($0.reason) |" }
            lines.append("")
        }
        lines += owners(of: symbols.filter { $0.standing == .there })
        return lines
    }

    /// A line for each type, with its members.
    private func owners(of symbols: [SymbolTable.Symbol]) -> [String] {
        var order: [String] = []
        var members: [String: [String]] = [:]
        for symbol in symbols {
            if members[symbol.owner] == nil { order.append(symbol.owner) }
            members[symbol.owner, default: []].append(symbol.member)
        }
        let lines = order.map { owner in
            let inside = (members[owner] ?? []).filter { $0 != owner }.map { "`\($0)`" }
            return "- `\(owner)`" + (inside.isEmpty ? "" : ": " + inside.joined(separator: ", "))
        }
        return lines.isEmpty ? [] : ["There:", ""] + lines + [""]
    }
}
