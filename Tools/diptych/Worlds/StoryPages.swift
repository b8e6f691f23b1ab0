internal import MirrorTestKit

/// A story that was played, on paper: each step, who held what after it, and what was expected.
struct StoryPages {
    let report: StoryReport
    let width: Int

    /// A table where the holders have room beside the steps, else a block for each step.
    func text(isWide: Bool) -> String {
        let total = isWide ? max(width, Self.wideColumns) : width
        let room = (total - Self.stepColumns) / max(report.holders.count, 1)
        return room >= Self.holderColumns ? table(columns: room) : blocks()
    }

    private static let stepColumns = 38
    private static let holderColumns = 24
    private static let wideColumns = 160

    /// What came of a step: in words, with a mark where something was expected.
    private func outcome(_ step: StoryStepReport) -> [String] {
        let verdict = step.failure.map { "FAILED: \($0)" }
        return step.notes + (verdict.map { [$0] } ?? (step.isExpectation ? ["holds"] : []))
    }

    private func title(_ step: StoryStepReport) -> String {
        guard step.line > 0 else { return step.text }
        let number = String(step.line)
        return String(repeating: " ", count: max(3 - number.count, 0)) + number + "  " + step.text
    }

    // MARK: Blocks

    private func blocks() -> String {
        report.steps.map { step in
            var lines = [PlainText.line(title(step))]
            let indent = 6
            for note in outcome(step) {
                lines += Self.noted(note, to: width, indent: indent)
            }
            let names = report.holders.map { TextWidth.columns(of: $0) }.max() ?? 0
            for change in step.changes {
                let name =
                    change.holder
                    + String(
                        repeating: " ", count: names - TextWidth.columns(of: change.holder))
                let objects = change.objects.map(\.text)
                for (index, text) in (objects.isEmpty ? ["nothing"] : objects).enumerated() {
                    let head = index == 0 ? name : String(repeating: " ", count: names)
                    let rows = Self.wrapped(text, to: width, indent: indent + names + 2)
                    lines.append(
                        String(repeating: " ", count: indent) + head + "  "
                            + (rows.first ?? "").drop { $0 == " " })
                    lines += rows.dropFirst()
                }
            }
            return lines.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    // MARK: A table

    private func table(columns: Int) -> String {
        var lines = [row([["STEP"]] + report.holders.map { [$0.uppercased()] }, columns)]
        for step in report.steps {
            let first =
                Self.wrapped(title(step), to: Self.stepColumns - 2, indent: 0)
                + outcome(step).flatMap {
                    Self.noted($0, to: Self.stepColumns - 2, indent: 3)
                }
            let cells = report.holders.map { holder -> [String] in
                guard let change = step.changes.first(where: { $0.holder == holder }) else {
                    return step.isExpectation ? [""] : ["·"]
                }
                let objects = change.objects.map(\.text)
                return (objects.isEmpty ? ["nothing"] : objects).flatMap {
                    Self.wrapped($0, to: columns - 2, indent: 0)
                }
            }
            lines.append(row([first] + cells, columns))
        }
        return lines.joined(separator: "\n")
    }

    private func row(_ cells: [[String]], _ columns: Int) -> String {
        let height = cells.map(\.count).max() ?? 0
        return (0..<height).map { index in
            cells.enumerated().map { column, lines in
                let text = index < lines.count ? lines[index] : ""
                let width = column == 0 ? Self.stepColumns : columns
                let padding = max(width - TextWidth.columns(of: text), 0)
                return text + String(repeating: " ", count: padding)
            }.joined().trimmingTrailingSpaces
        }.joined(separator: "\n")
    }

    /// A note behind a dot, its further lines below its words.
    private static func noted(_ text: String, to columns: Int, indent: Int) -> [String] {
        let lines = wrapped(text, to: columns, indent: indent + 2)
        let margin = String(repeating: " ", count: indent)
        return lines.enumerated().map { $0 == 0 ? margin + "· " + $1.dropFirst(indent + 2) : $1 }
    }

    /// Lines of at most so many columns, broken at spaces where there are some.
    private static func wrapped(_ text: String, to columns: Int, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        let room = max(columns - indent, 12)
        var lines: [String] = []
        var line = ""
        for word in PlainText.line(text).split(separator: " ", omittingEmptySubsequences: false) {
            let next = line.isEmpty ? String(word) : line + " " + word
            if TextWidth.columns(of: next) <= room || line.isEmpty {
                line = next
            } else {
                lines.append(line)
                line = String(word)
            }
        }
        lines.append(line)
        return lines.map { margin + PlainText.cut($0, to: max(room, 60)) }
    }
}

extension String {
    fileprivate var trimmingTrailingSpaces: String {
        guard let last = lastIndex(where: { $0 != " " }) else { return "" }
        return String(self[...last])
    }
}

extension StoryReport {
    /// For programs.
    func json(file: String) -> JSON {
        [
            "file": .string(file), "title": .string(title), "rule": JSON(rule),
            "holds": .bool(holds), "holders": .array(holders.map(JSON.string)),
            "steps": .array(steps.map(\.json)),
        ]
    }
}

extension StoryStepReport {
    fileprivate var json: JSON {
        [
            "line": JSON(line), "step": .string(text), "isExpectation": .bool(isExpectation),
            "failure": JSON(failure), "notes": .array(notes.map(JSON.string)),
            "changes": .array(
                changes.map { change in
                    [
                        "holder": .string(change.holder),
                        "objects": .array(change.objects.map(\.json)),
                    ]
                }),
        ]
    }
}

extension StoryHeldObject {
    fileprivate var json: JSON {
        [
            "handles": .array(handles.map(JSON.string)), "entity": .string(entity),
            "values": .object(values.map { ($0.property, .string($0.text)) }),
        ]
    }
}
